package kubelet

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// newRecorder returns a recorder of events about pods, as kubectl describe shows them.
func newRecorder(ctx context.Context, client kubernetes.Interface) record.EventRecorder {
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(&typed.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet"})
}

// normal and warning record one event about a pod.
func (k *Kubelet) normal(p *pod, reason, format string, args ...any) {
	k.events.Eventf(p.object, v1.EventTypeNormal, reason, format, args...)
}

func (k *Kubelet) warning(p *pod, reason, format string, args ...any) {
	k.events.Eventf(p.object, v1.EventTypeWarning, reason, format, args...)
}
