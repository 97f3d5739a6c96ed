package cli

import (
	"context"

	"aiperf/internal/config"
	"aiperf/internal/run/kube"
)

// addMetricsPages adds the metrics pages of the server's pods and of their GPUs to a run, unless the user switched them off. The pods of the run have no
// rights with which to find them.
func (p *Program) addMetricsPages(ctx context.Context, cluster kube.Cluster, c *clusterRun) error {
	m, g, d := &c.run.ServerMetrics, &c.run.GPUTelemetry, &c.discovery
	wanted := kube.PagesWanted{
		Servers: c.run.Endpoint.URLs, Selector: d.LabelSelector, Namespace: d.Namespace, Metrics: m.Enabled && d.Mode != "disabled", GPUs: g.Enabled && g.Collector == "dcgm", GPUSetting: "--gpu-telemetry",
	}
	if !wanted.Metrics && !wanted.GPUs {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout.Duration())
	defer cancel()
	found := kube.FindPages(ctx, cluster, wanted)
	if found.Note != "" {
		p.printErr("note: %s", found.Note)
	}
	m.Discovery = config.Discovery{Mode: "disabled", Timeout: d.Timeout, Pages: found.Metrics, Services: found.Services}
	if len(found.GPUs) > 0 {
		g.URLs, g.Pods = append(append([]string{}, g.URLs...), found.GPUs...), found.Pods
	}
	return c.writeConfig()
}
