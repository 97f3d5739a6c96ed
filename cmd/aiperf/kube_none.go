//go:build nocluster

package main

import "aiperf/internal/cli"

// kubeTools connect the commands for clusters with nothing: this program was built without them.
func kubeTools() cli.KubeTools { return cli.KubeTools{} }
