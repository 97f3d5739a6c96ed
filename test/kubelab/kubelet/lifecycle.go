package kubelet

// runContainer runs a container and restarts it by the pod's policy, until it ends for good or the pod is stopped.
func (k *Kubelet) runContainer(p *pod, c *container, volumes map[string]string) {
	defer c.change(func(s *containerState) { s.final = true })
	if !k.pullImage(p, c) {
		return
	}
	for {
		process := k.startRetrying(p, c, volumes)
		if process == nil {
			return
		}
		status := k.follow(p, c, process)
		if p.context.Err() != nil || !restarts(p.object.Spec.RestartPolicy, status) {
			return
		}
		if !k.waitForRestart(p, c) {
			return
		}
	}
}

// pullImage returns true when the image is here. An image that cannot be pulled is tried until the pod is stopped.
func (k *Kubelet) pullImage(p *pod, c *container) bool {
	for attempt := 0; ; attempt++ {
		err := pull(c.spec.Image)
		if err == nil {
			k.normal(p, "Pulled", "Container image %q already present on machine", c.spec.Image)
			return true
		}
		k.warning(p, "Failed", "Failed to pull image %q: %v", c.spec.Image, err)
		c.wait("ErrImagePull", err.Error())
		if !pause(p.context, firstBackOff) {
			return false
		}
		k.normal(p, "BackOff", "Back-off pulling image %q", c.spec.Image)
		c.wait("ImagePullBackOff", "Back-off pulling image \""+c.spec.Image+"\": ErrImagePull: "+err.Error())
		if !pause(p.context, backOff(attempt)) {
			return false
		}
	}
}

// startRetrying returns the started process, or nil if the pod was stopped first.
func (k *Kubelet) startRetrying(p *pod, c *container, volumes map[string]string) *process {
	for {
		started, err := k.start(p, c, volumes)
		if err == nil {
			c.running(started)
			k.normal(p, "Started", "Container started")
			if p.context.Err() != nil { // stopped while it started, so that it missed the signal
				_ = started.command.Process.Kill()
			}
			return started
		}
		if p.context.Err() != nil {
			return nil
		}
		reason := "CreateContainerError"
		if isConfig(err) {
			reason = "CreateContainerConfigError"
		}
		k.warning(p, "Failed", "Error: %v", err)
		c.wait(reason, err.Error())
		if !pause(p.context, retryPause) {
			return nil
		}
	}
}

// follow probes a process until it ends and returns its exit status.
func (k *Kubelet) follow(p *pod, c *container, process *process) int {
	go k.probeAll(p, c, process)
	status := process.wait()
	c.terminated(status)
	return status
}

// waitForRestart returns true when a container may start again.
func (k *Kubelet) waitForRestart(p *pod, c *container) bool {
	restarts := c.restart()
	k.warning(p, "BackOff", "Back-off restarting failed container %s", c.spec.Name)
	c.wait("CrashLoopBackOff", "back-off restarting failed container="+c.spec.Name)
	return pause(p.context, backOff(restarts-1))
}
