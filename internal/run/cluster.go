package run

import (
	"context"
	"fmt"
	"os"

	"aiperf/internal/telemetry/pods"
)

// inCluster looks for pages of metrics in the Kubernetes cluster that the run is in. What goes wrong costs those pages and nothing else.
func (w *watched) inCluster(ctx context.Context) []string {
	d := &w.cfg.ServerMetrics.Discovery
	inside := pods.Inside(os.Getenv)
	switch {
	case d.Mode == "disabled" || d.Mode == "auto" && !inside:
		return nil
	case !inside:
		w.say.warn(w.cfg.As("server_metrics.discovery") + ": this run is in no Kubernetes cluster; nothing is looked for there")
		return nil
	}
	found, err := pods.Find(ctx, pods.Options{Namespace: d.Namespace, Selector: d.LabelSelector, Timeout: d.Timeout.Duration(), Getenv: os.Getenv})
	if err != nil {
		w.say.warn("server metrics: looking for servers in the Kubernetes cluster: " + err.Error())
		return nil
	}
	w.say.log.Info(fmt.Sprintf("server metrics: %d pages of servers found in the cluster", len(found)), "urls", found)
	return found
}
