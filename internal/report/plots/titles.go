package plots

import (
	"slices"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/report/chart"
)

// inBrackets matches the unit and the statistic at the end of an axis title.
var inBrackets = lazyregexp.New(`( \([^()]*\))+$`)

// times lists the columns along which a chart shows a development over time.
var times = []string{"", requestNumber, timestamp, timestampS, startNS, endNS, sliceColumn}

// generated returns the title of a chart whose preset has none, in the words of the Python tool. Units and statistics are left to the axes.
func (p *Preset) generated(c *chart.Chart) string {
	x, y := inBrackets.ReplaceAllString(c.X.Title, ""), inBrackets.ReplaceAllString(c.Y.Title, "")
	server := p.Y.Source == "server_metrics" || p.Y.Source == "server_metrics_aggregated"
	switch {
	case p.Type == "pareto":
		return "Pareto Curve: " + y + " vs " + x
	case p.Type == "latency_throughput_uncertainty":
		return y + " vs " + x + " (Joint Uncertainty)"
	case p.Type == "dual_axis":
		return y + " with " + inBrackets.ReplaceAllString(c.Y2.Title, "")
	case p.Type == "scatter_with_percentiles":
		return y + " Over Time with Percentiles"
	case p.Type == "request_timeline":
		return "Request Timeline: " + y
	case p.Type == "percentile_bands":
		return y + " Percentile Bands Over Time"
	case p.Type == "box":
		return y
	case p.Type == "histogram" && p.Y.Source != "timeslices" && server:
		return x + " Distribution (Histogram Buckets)"
	case p.Type == "histogram" && p.Y.Source != "timeslices":
		return x + " Distribution"
	case slices.Contains(times, p.X.Metric) || server:
		return y + " Over Time"
	}
	return y + " vs " + x
}
