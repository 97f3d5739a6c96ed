package kubeclient

import (
	"errors"
	"fmt"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeconfig"
)

// Options say which cluster to use.
type Options struct {
	Kubeconfig string // file; "" = the usual places
	Context    string // of the file; "" = the current one
	Namespace  string // "" = that of the context
	Agent      string // name of this program for the log of the cluster
}

// Open returns the cluster that a kubeconfig names. It sends nothing.
func Open(o Options) (*Client, error) {
	access, err := kubeconfig.System().Load(kubeconfig.Options{Path: o.Kubeconfig, Context: o.Context, Namespace: o.Namespace})
	if err != nil {
		return nil, unusable(err)
	}
	c, err := New(access, o.Agent)
	if err != nil {
		return nil, unusable(err)
	}
	return c, nil
}

// New returns a cluster. agent is the name of this program for the log of the cluster.
func New(access *kubeconfig.Access, agent string) (*Client, error) {
	l, err := newLink(access, agent)
	if err != nil {
		return nil, err
	}
	return &Client{l, access.Namespace}, nil
}

// unusable says that the kubeconfig is the cause.
func unusable(err error) error {
	if errors.Is(err, kubeconfig.ErrNoCluster) {
		return err
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

var _ kube.Cluster = (*Client)(nil)
