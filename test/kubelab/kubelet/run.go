package kubelet

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// retryPause is the time between attempts at what another party must make possible first.
const retryPause = 500 * time.Millisecond

// run runs a pod from its network to the end of its last container.
func (k *Kubelet) run(ctx context.Context, p *pod) {
	defer close(p.ended)
	go k.reportChanges(ctx, p)
	defer p.touch()
	volumes, err := k.prepare(p)
	if err != nil {
		return // the pod was deleted first
	}
	defer k.leaveNetwork(p)
	var all sync.WaitGroup
	for _, c := range p.containers {
		all.Go(func() { k.runContainer(p, c, volumes) })
	}
	all.Wait()
}

// prepare fills the volumes, retrying what is missing, and connects the network.
func (k *Kubelet) prepare(p *pod) (map[string]string, error) {
	for {
		volumes, err := k.fillVolumes(p)
		if err == nil {
			err = k.enterNetwork(p)
		}
		if err == nil {
			if err = k.writeHosts(p); err == nil {
				go k.keepHosts(p)
				return volumes, nil
			}
			k.leaveNetwork(p)
		}
		k.warning(p, "FailedMount", "%v", err)
		if !pause(p.context, retryPause) {
			return nil, p.context.Err()
		}
	}
}

// enterNetwork starts the process that keeps the pod's network namespace and gives it an address.
func (k *Kubelet) enterNetwork(p *pod) error {
	address, err := k.addresses.Take()
	if err != nil {
		return err
	}
	c := exec.Command("sleep", "infinity")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return fmt.Errorf("network of pods: %w", err)
	}
	p.mu.Lock()
	p.pause, p.address = c, address
	p.mu.Unlock()
	if err := k.network.Attach(c.Process.Pid, address); err != nil {
		k.leaveNetwork(p)
		return err
	}
	return nil
}

func (k *Kubelet) leaveNetwork(p *pod) {
	p.mu.Lock()
	c := p.pause
	p.pause = nil
	p.mu.Unlock()
	_ = c.Process.Kill()
	_ = c.Wait()
	k.addresses.Free(p.address)
}

// remove ends a pod that is being deleted and then removes it from the API server, trying until it hears.
func (k *Kubelet) remove(ctx context.Context, object *v1.Pod, p *pod) {
	if p != nil {
		grace := int64(v1.DefaultTerminationGracePeriodSeconds)
		if object.DeletionGracePeriodSeconds != nil {
			grace = *object.DeletionGracePeriodSeconds
		}
		p.terminate(time.Duration(grace) * time.Second)
		_ = k.report(ctx, p)
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &object.UID}}
	for {
		err := k.client.CoreV1().Pods(object.Namespace).Delete(ctx, object.Name, now)
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || !pause(ctx, retryPause) {
			return
		}
	}
}

// pause waits and returns false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
