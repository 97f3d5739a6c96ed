package kubelet

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is one container of a pod, over all its restarts.
type container struct {
	pod  *pod
	spec *v1.Container

	mu      sync.Mutex
	state   containerState
	process *process // the running or last one
}

// containerState is what a pod's status says about a container.
type containerState struct {
	now      v1.ContainerState
	before   v1.ContainerState // how the run before the last restart ended
	restarts int
	ready    bool
	started  bool // its startup probe succeeded
	final    bool // it has ended and will not run again
}

func newContainer(p *pod, spec *v1.Container) *container {
	c := &container{pod: p, spec: spec}
	c.state.now.Waiting = &v1.ContainerStateWaiting{Reason: "ContainerCreating"}
	return c
}

// snapshot returns the state of a container.
func (c *container) snapshot() containerState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// change changes the state and asks for a report.
func (c *container) change(f func(*containerState)) {
	c.mu.Lock()
	f(&c.state)
	c.mu.Unlock()
	c.pod.touch()
}

// wait says why a container does not run.
func (c *container) wait(reason, message string) {
	c.change(func(s *containerState) {
		s.now = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
		s.ready = false
	})
}

// running takes over a process that has started.
func (c *container) running(p *process) {
	c.mu.Lock()
	c.process = p
	c.mu.Unlock()
	c.change(func(s *containerState) {
		s.now = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Now()}}
		s.started = c.spec.StartupProbe == nil
		s.ready = s.started && c.spec.ReadinessProbe == nil
	})
}

// terminated says how a run ended.
func (c *container) terminated(status int) {
	c.change(func(s *containerState) {
		t := &v1.ContainerStateTerminated{ExitCode: int32(status), Reason: "Completed", FinishedAt: metav1.Now()}
		if status != 0 {
			t.Reason = "Error"
		}
		if s.now.Running != nil {
			t.StartedAt = s.now.Running.StartedAt
		}
		s.now, s.ready = v1.ContainerState{Terminated: t}, false
	})
}

// restart counts a restart and keeps how the last run ended.
func (c *container) restart() int {
	c.change(func(s *containerState) {
		s.before = s.now
		s.restarts++
	})
	return c.snapshot().restarts
}

// live returns the running process, or nil.
func (c *container) live() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil || c.process.over() {
		return nil
	}
	return c.process
}

func (c *container) signal(s syscall.Signal) {
	if p := c.live(); p != nil {
		_ = p.command.Process.Signal(s) // it may just have ended
	}
}

// logPath returns the file with the output of the run after the given number of restarts.
func (c *container) logPath(restarts int) string {
	return filepath.Join(c.pod.dir, fmt.Sprintf("%s.%d.log", c.spec.Name, restarts))
}
