package kubelet

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
)

// pod is a pod of one of the nodes, with the processes of its containers.
type pod struct {
	object     *v1.Pod
	address    netip.Addr
	dir        string
	containers []*container
	changed    chan struct{} // something to report
	ended      chan struct{} // closed when no container will run again
	context    context.Context
	stop       context.CancelFunc // ends probes and restarts

	mu       sync.Mutex
	pause    *exec.Cmd // the process that keeps the network namespace
	deadline time.Time // when containers are killed; zero while the pod is wanted
	gone     bool
}

func newPod(ctx context.Context, object *v1.Pod, dir string) *pod {
	ctx, stop := context.WithCancel(ctx)
	p := &pod{object: object, dir: filepath.Join(dir, string(object.UID)), changed: make(chan struct{}, 1), ended: make(chan struct{}),
		context: ctx, stop: stop}
	for i := range object.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &object.Spec.Containers[i]))
	}
	return p
}

// touch asks for a report of the pod's state.
func (p *pod) touch() {
	select {
	case p.changed <- struct{}{}:
	default: // one is due already
	}
}

// terminate ends the containers: SIGTERM now, SIGKILL after the grace. It returns when all have ended. A second, shorter grace counts.
func (p *pod) terminate(grace time.Duration) {
	deadline := time.Now().Add(grace)
	p.mu.Lock()
	first := p.deadline.IsZero()
	if first || deadline.Before(p.deadline) {
		p.deadline = deadline
	}
	p.mu.Unlock()
	p.stop()
	if first {
		p.signal(syscall.SIGTERM)
	}
	for !p.over() && time.Now().Before(p.killTime()) {
		time.Sleep(20 * time.Millisecond)
	}
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// discard ends the pod at once and removes its files.
func (p *pod) discard() {
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.terminate(0)
	_ = os.RemoveAll(p.dir)
}

func (p *pod) signal(s syscall.Signal) {
	for _, c := range p.containers {
		c.signal(s)
	}
}

func (p *pod) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *pod) killTime() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deadline
}

func (p *pod) discarded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// networkProcess returns the id of the process whose network namespace the pod uses, or 0.
func (p *pod) networkProcess() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pause == nil {
		return 0
	}
	return p.pause.Process.Pid
}

// container returns the container with a name; "" means the first.
func (p *pod) container(name string) *container {
	for _, c := range p.containers {
		if name == "" || c.spec.Name == name {
			return c
		}
	}
	return nil
}
