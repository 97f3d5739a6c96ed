//go:build !nocluster

package main

import (
	"aiperf/internal/cli"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeclient"
	"aiperf/internal/wire/bus"
)

// kubeTools connect the commands for clusters with them.
func kubeTools() cli.KubeTools { return cli.KubeTools{Open: openCluster, Keys: newKeys} }

// openCluster opens the cluster that a kubeconfig names.
func openCluster(kubeconfig, context, namespace string) (kube.Cluster, error) {
	return kubeclient.Open(kubeclient.Options{Kubeconfig: kubeconfig, Context: context, Namespace: namespace, Agent: "aiperf/" + cli.Version()})
}

// newKeys makes the keys of a run in pods.
func newKeys(host string, port int) (files map[string][]byte, join string, err error) {
	keys, err := bus.NewKeys()
	if err != nil {
		return nil, "", err
	}
	files, err = keys.Files()
	return files, keys.Join(host, port).String(), err
}
