package plan

import (
	"fmt"
	"slices"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/stats"
	"aiperf/internal/terminal"
)

// warmedUp puts a warm-up of some seconds under the load of the first measured phase before it, in the place of a warm-up of the user's: what a
// server does first is in no figure of a search.
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

// value is the objective of a cell: the mean of its runs' statistics, or with pooling a percentile over the requests of all of them.
func (q *search) value(swept *metric.SweptCell, trials []*trial) float64 {
	o := q.run.Sweep.Objectives[0]
	level, ok := percentileOf(q.objective)
	if q.run.Sweep.ObjectivePooling != "pooled" || !ok {
		return swept.Mean(o.Metric, q.objective)
	}
	pooled, err := q.pooled(o.Metric, level, trials)
	if err != nil {
		fmt.Fprintf(q.Err, "warning: the percentile over all runs is not known, the mean of theirs is taken: %s\n", terminal.Text(err.Error()))
		return swept.Mean(o.Metric, q.objective)
	}
	return pooled
}

// percentileOf is the percentile that a statistic is, 0 to 100.
func percentileOf(s metric.Stat) (level float64, ok bool) {
	k := int(s - metric.P1)
	if s < metric.P1 || k >= len(stats.Levels) {
		return 0, false
	}
	return float64(stats.Levels[k]), true
}

// pooled is a percentile of a metric over the requests of all runs of a cell, in the unit of the records.
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
