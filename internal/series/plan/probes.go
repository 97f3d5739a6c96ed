package plan

import (
	"fmt"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
)

// warmedUp adds a warm-up of length before the first measured phase, with the same load; it replaces the user's warm-up. The first requests of a
// server are not in the figures of a search.
func warmedUp(phases []config.Phase, length config.Seconds) []config.Phase {
	first := slices.IndexFunc(phases, func(p config.Phase) bool { return p.Kind != config.KindWarmup })
	if first < 0 {
		return phases
	}
	p := phases[first]
	p.Name, p.Kind, p.ExcludeFromResults = "warmup", config.KindWarmup, true
	p.Duration, p.Requests, p.Sessions, p.GracePeriod = &length, nil, nil, nil
	p.Cancellation, p.FailedRequestThreshold, p.Seamless = nil, nil, false
	return append([]config.Phase{p}, withoutWarmup(phases)...)
}

// value returns the objective of a cell: the mean of its runs' statistics, or with pooling a percentile over the requests of all runs.
func (q *search) value(swept *metric.SweepCell, trials []*trial) float64 {
	o := q.run.Sweep.Objectives[0]
	level, ok := percentileOf(q.objective)
	if q.run.Sweep.ObjectivePooling != "pooled" || !ok {
		return swept.Mean(o.Metric, q.objective)
	}
	pooled, err := q.pooled(o.Metric, level, trials)
	if err != nil {
		fmt.Fprintf(q.Err, "warning: the percentile over all runs is unknown; using the mean of the runs' percentiles: %s\n", terminal.Text(err.Error()))
		return swept.Mean(o.Metric, q.objective)
	}
	return pooled
}

// percentileOf returns the level of a percentile statistic, 0 to 100.
func percentileOf(s metric.Stat) (level float64, ok bool) {
	k := int(s - metric.P1)
	if s < metric.P1 || k >= len(stats.Levels) {
		return 0, false
	}
	return float64(stats.Levels[k]), true
}

// pooled returns a percentile of a metric over the requests of all runs of a cell, in the unit of the records.
func (q *search) pooled(tag string, level float64, trials []*trial) (float64, error) {
	var all []float64
	for _, t := range trials {
		if !t.ok() {
			continue
		}
		list, err := requestValues(artifact.NewLayout(t.dir, q.run.Artifacts.Prefix).Records(), tag)
		if err != nil {
			return 0, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("no record has a %s", tag)
	}
	slices.Sort(all)
	return stats.Percentile(all, level), nil
}
