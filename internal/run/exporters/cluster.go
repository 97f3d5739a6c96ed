package exporters

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"

	"aiperf/internal/telemetry/pods"
)

// metricsServers returns the servers whose own metrics pages are read. It leaves out a Service whose pods are read: its page is the page of an arbitrary pod.
func (w *Collection) metricsServers() (list []string) {
	d := &w.Config.ServerMetrics.Discovery
	for _, server := range w.httpServers() {
		u, err := url.Parse(server)
		if len(d.Pages) == 0 || err != nil || !slices.Contains(d.Services, u.Host) {
			list = append(list, server)
		}
	}
	return list
}

// inCluster returns the metrics pages that were found before the run, or else looks for some in the Kubernetes cluster that the run is in. An error only means that these pages are not collected.
func (w *Collection) inCluster(ctx context.Context) []string {
	d := &w.Config.ServerMetrics.Discovery
	if len(d.Pages) > 0 {
		return d.Pages
	}
	inside := pods.Inside(os.Getenv)
	switch {
	case d.Mode == "disabled" || d.Mode == "auto" && !inside:
		return nil
	case !inside:
		w.Say.Warn(w.Config.As("server_metrics.discovery") + ": this run is not in a Kubernetes cluster; there is nothing to discover")
		return nil
	}
	found, err := pods.Find(ctx, pods.Options{Namespace: d.Namespace, Selector: d.LabelSelector, Timeout: d.Timeout.Duration(), Getenv: os.Getenv})
	if err != nil {
		w.Say.Warn("server metrics: looking for servers in the Kubernetes cluster: " + err.Error())
		return nil
	}
	w.Say.Log.Info(fmt.Sprintf("server metrics: found %d metrics pages of servers in the cluster", len(found)), "urls", found)
	return found
}
