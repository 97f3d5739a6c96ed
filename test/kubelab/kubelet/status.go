package kubelet

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// reportChanges writes the pod's status after every change, until the last container has ended and that is written. It tries again while the
// API server is away.
func (k *Kubelet) reportChanges(ctx context.Context, p *pod) {
	for !p.discarded() {
		select {
		case <-p.changed:
		case <-p.ended:
		}
		last := p.over()
		for k.report(ctx, p) != nil && !p.discarded() {
			time.Sleep(200 * time.Millisecond)
		}
		if last {
			return
		}
	}
}

// report writes the status of a pod. It returns nil for a pod that is gone.
func (k *Kubelet) report(ctx context.Context, p *pod) error {
	pods := k.client.CoreV1().Pods(p.object.Namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := pods.Get(ctx, p.object.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && current.UID != p.object.UID {
			return nil
		}
		if err != nil {
			return err
		}
		k.fillStatus(p, &current.Status)
		_, err = pods.UpdateStatus(ctx, current, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// fillStatus writes the pod's state into its status.
func (k *Kubelet) fillStatus(p *pod, s *v1.PodStatus) {
	states := make([]containerState, len(p.containers))
	s.ContainerStatuses = make([]v1.ContainerStatus, len(p.containers))
	ready := true
	for i, c := range p.containers {
		states[i] = c.snapshot()
		s.ContainerStatuses[i] = containerStatus(c.spec, states[i])
		ready = ready && states[i].ready
	}
	if s.StartTime == nil {
		now := metav1.Now()
		s.StartTime = &now
	}
	p.mu.Lock()
	if p.address.IsValid() {
		s.PodIP = p.address.String()
		s.PodIPs = []v1.PodIP{{IP: s.PodIP}}
	}
	p.mu.Unlock()
	s.HostIP = k.network.Gateway().String()
	s.HostIPs = []v1.HostIP{{IP: s.HostIP}}
	s.Phase = phase(states)
	setCondition(s, v1.PodInitialized, true)
	setCondition(s, v1.ContainersReady, ready)
	setCondition(s, v1.PodReady, ready)
}

func containerStatus(c *v1.Container, s containerState) v1.ContainerStatus {
	started := s.started && s.now.Running != nil
	return v1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, State: s.now, LastTerminationState: s.before, Ready: s.ready,
		Started: &started, RestartCount: int32(s.restarts)}
}

// phase returns the phase of a pod by the states of its containers.
func phase(states []containerState) v1.PodPhase {
	ran, final, failed := false, true, false
	for _, s := range states {
		ran = ran || s.now.Waiting == nil || s.restarts > 0
		final = final && s.final
		failed = failed || s.now.Terminated == nil || s.now.Terminated.ExitCode != 0
	}
	switch {
	case final && failed:
		return v1.PodFailed
	case final:
		return v1.PodSucceeded
	case ran:
		return v1.PodRunning
	default:
		return v1.PodPending
	}
}

// setCondition sets a condition and keeps the time of its last change.
func setCondition(s *v1.PodStatus, kind v1.PodConditionType, value bool) {
	status := v1.ConditionFalse
	if value {
		status = v1.ConditionTrue
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status != status {
			c.Status, c.LastTransitionTime = status, metav1.Now()
		}
		return
	}
	s.Conditions = append(s.Conditions, v1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()})
}
