package kubelet

import (
	"context"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// register creates a node that is ready.
func (k *Kubelet) register(ctx context.Context, name string) error {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		v1.LabelHostname: name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64"}}}
	nodes := k.client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, n, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	n, err := nodes.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	n.Status = k.nodeStatus(name)
	if _, err = nodes.UpdateStatus(ctx, n, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return k.renew(ctx, name)
}

func (k *Kubelet) nodeStatus(name string) v1.NodeStatus {
	now := metav1.Now()
	size := v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("16Gi"),
		v1.ResourcePods: resource.MustParse("110"), v1.ResourceEphemeralStorage: resource.MustParse("100Gi")}
	return v1.NodeStatus{
		Capacity: size, Allocatable: size,
		Addresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: k.network.Gateway().String()}, {Type: v1.NodeHostName, Address: name}},
		DaemonEndpoints: v1.NodeDaemonEndpoints{
			KubeletEndpoint: v1.DaemonEndpoint{Port: int32(k.config.Port + 5)}},
		NodeInfo: v1.NodeSystemInfo{KubeletVersion: "v1.37.2-kubelab", OperatingSystem: "linux", Architecture: "amd64"},
		Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now}},
	}
}

// renewLeases tells the control plane every 5 s that the nodes are alive.
func (k *Kubelet) renewLeases(ctx context.Context) {
	for range time.Tick(5 * time.Second) {
		for name := range k.nodes {
			_ = k.renew(ctx, name) // an API server that is away hears it next time
		}
	}
}

func (k *Kubelet) renew(ctx context.Context, name string) error {
	leases, now, seconds := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease), metav1.NowMicro(), int32(40)
	l, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: coordination.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &now}}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	l.Spec.RenewTime = &now
	_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	return err
}
