// Package kubelet is a small kubelet that plays several nodes and runs containers as processes of this machine. It covers what tests of
// batch jobs need: volumes of ConfigMaps, Secrets and tokens, probes, restarts, image pull errors, logs, exec and port-forward.
package kubelet

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"

	"kubelab/network"
)

// Kubelet runs the pods of its nodes.
type Kubelet struct {
	config    Config
	client    kubernetes.Interface
	events    record.EventRecorder
	network   network.Network
	addresses *network.Addresses
	nodes     map[string]bool

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// Run registers the nodes and runs their pods until the process ends.
func Run(c Config) error {
	rest, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	rest.QPS, rest.Burst = 200, 400
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	k := newKubelet(c, client)
	ctx := context.Background()
	k.events = newRecorder(ctx, client)
	for name := range k.nodes {
		if err := k.register(ctx, name); err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
	}
	go k.renewLeases(ctx)
	if err := k.watch(ctx); err != nil {
		return err
	}
	return k.serve()
}

func newKubelet(c Config, client kubernetes.Interface) *Kubelet {
	n := network.At(c.Port)
	k := &Kubelet{config: c, client: client, network: n, addresses: network.NewAddresses(n), nodes: map[string]bool{},
		pods: map[types.UID]*pod{}, events: &record.FakeRecorder{}}
	for i := range c.Nodes {
		k.nodes[fmt.Sprintf("node-%d", i)] = true
	}
	return k
}

// watch starts and stops pods as the API server says.
func (k *Kubelet) watch(ctx context.Context) error {
	f := informers.NewSharedInformerFactory(k.client, 0)
	_, err := f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.sync(ctx, o) },
		UpdateFunc: func(_, o any) { k.sync(ctx, o) },
		DeleteFunc: func(o any) {
			if missed, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = missed.Obj
			}
			k.deleted(o)
		},
	})
	f.Start(ctx.Done())
	return err
}

// sync starts a new pod of this kubelet, or stops one that is being deleted.
func (k *Kubelet) sync(ctx context.Context, o any) {
	object, ok := o.(*v1.Pod)
	if !ok || !k.nodes[object.Spec.NodeName] {
		return
	}
	k.mu.Lock()
	p := k.pods[object.UID]
	fresh := p == nil && object.DeletionTimestamp == nil && object.Status.Phase == v1.PodPending
	if fresh {
		p = newPod(ctx, object, k.config.Dir)
		k.pods[object.UID] = p
	}
	k.mu.Unlock()
	switch {
	case fresh:
		go k.run(ctx, p)
	case object.DeletionTimestamp != nil:
		go k.remove(ctx, object, p)
	}
}

// deleted ends a pod that the API server no longer has.
func (k *Kubelet) deleted(o any) {
	object, ok := o.(*v1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	p := k.pods[object.UID]
	delete(k.pods, object.UID)
	k.mu.Unlock()
	if p != nil {
		go p.discard()
	}
}

// find returns the running or ended pod with a name, or nil.
func (k *Kubelet) find(namespace, name string) *pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		if p.object.Namespace == namespace && p.object.Name == name && !p.discarded() {
			return p
		}
	}
	return nil
}
