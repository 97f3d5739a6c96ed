package kubeclient

import (
	"errors"
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"aiperf/internal/run/kube"
)

// Options say which cluster to use.
type Options struct {
	Kubeconfig string // file; "" = the usual places
	Context    string // of the file; "" = the current one
	Namespace  string // "" = that of the context
	Agent      string // name of this program for the log of the cluster
}

// Requests a second that this program may send to the API server.
const (
	requestRate  = 50
	requestBurst = 100
)

// Open returns the cluster that a kubeconfig names. It sends nothing.
func Open(o Options) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	over := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	over.Context.Namespace = o.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, over)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, unusable(err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, unusable(err)
	}
	config.UserAgent, config.QPS, config.Burst = o.Agent, requestRate, requestBurst
	config.WarningHandler = rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, unusable(err)
	}
	return New(objects, &kubelets{config}, namespace), nil
}

// unusable says how to name a cluster.
func unusable(err error) error {
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, rest.ErrNotInCluster) {
		return errors.New("no cluster is known: set KUBECONFIG, or log in to a cluster so that kubectl works")
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

var _ kube.Cluster = (*Client)(nil)
