package kubelet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"

	"kubelab/sandbox"
)

// process is one run of a container.
type process struct {
	command *exec.Cmd
	spec    sandbox.Spec
	log     *logFile
	ended   chan struct{}
}

// start starts a container. Its environment may name what is missing: see isConfig.
func (k *Kubelet) start(p *pod, c *container, volumes map[string]string) (*process, error) {
	env, err := k.env(p.context, p, c.spec)
	if err != nil {
		return nil, configError{err}
	}
	s := sandbox.Spec{Root: filepath.Join(p.dir, "root", c.spec.Name), Env: env, Dir: c.spec.WorkingDir, Hostname: p.object.Name}
	if p.object.Spec.Hostname != "" {
		s.Hostname = p.object.Spec.Hostname
	}
	for _, a := range arguments(c.spec) {
		s.Args = append(s.Args, expand(a, env))
	}
	s.Mounts = k.mounts(p, c.spec, volumes)
	setUser(&s, p.object.Spec.SecurityContext, c.spec.SecurityContext)
	return launch(s, p.networkProcess(), c.logPath(c.snapshot().restarts))
}

// launch starts the process of a container with its output in a log.
func launch(s sandbox.Spec, network int, logPath string) (*process, error) {
	if err := os.RemoveAll(s.Root); err != nil {
		return nil, err
	}
	log, err := newLog(logPath)
	if err != nil {
		return nil, err
	}
	c, err := sandbox.Command(s, network)
	if err != nil {
		return nil, err
	}
	c.Stdout, c.Stderr, c.WaitDelay = log, log, time.Second
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &process{command: c, spec: s, log: log, ended: make(chan struct{})}, nil
}

// wait returns the exit status when the process has ended and its output is written.
func (p *process) wait() int {
	_ = p.command.Wait() // the status says it
	_ = p.log.Close()
	close(p.ended)
	return sandbox.Status(p.command.ProcessState)
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// mounts returns the mounts of a container: programs, its /etc/hosts and its volumes.
func (k *Kubelet) mounts(p *pod, c *v1.Container, volumes map[string]string) []sandbox.Mount {
	all := []sandbox.Mount{{From: p.hostsFile(), To: "/etc/hosts", ReadOnly: true}}
	for name, path := range k.config.Programs {
		all = append(all, sandbox.Mount{From: path, To: "/usr/local/bin/" + name, ReadOnly: true})
	}
	written := map[string]bool{}
	for _, v := range p.object.Spec.Volumes {
		written[v.Name] = v.EmptyDir != nil || v.HostPath != nil
	}
	for _, m := range c.VolumeMounts {
		from := filepath.Join(volumes[m.Name], m.SubPath)
		all = append(all, sandbox.Mount{From: from, To: m.MountPath, ReadOnly: m.ReadOnly || !written[m.Name]})
	}
	return all
}

// imageUser is the user where root is refused and no other user is named.
const imageUser = 65532

// setUser sets user, groups and the rights to the root file system by the security contexts.
func setUser(s *sandbox.Spec, p *v1.PodSecurityContext, c *v1.SecurityContext) {
	if p == nil {
		p = &v1.PodSecurityContext{}
	}
	if c == nil {
		c = &v1.SecurityContext{}
	}
	s.ReadOnly = isTrue(c.ReadOnlyRootFilesystem)
	if isTrue(p.RunAsNonRoot) || isTrue(c.RunAsNonRoot) {
		s.User, s.Group = imageUser, imageUser
	}
	for _, id := range []*int64{p.RunAsUser, c.RunAsUser} {
		if id != nil {
			s.User = int(*id)
		}
	}
	for _, id := range []*int64{p.RunAsGroup, c.RunAsGroup} {
		if id != nil {
			s.Group = int(*id)
		}
	}
	if p.FSGroup != nil {
		s.Groups = append(s.Groups, int(*p.FSGroup))
	}
	for _, id := range p.SupplementalGroups {
		s.Groups = append(s.Groups, int(id))
	}
}

// configError is an error in what a container needs from the cluster: a ConfigMap or Secret.
type configError struct{ error }

func (e configError) Unwrap() error { return e.error }

// isConfig reports whether the container's configuration is at fault.
func isConfig(err error) bool {
	var c configError
	return errors.As(err, &c)
}
