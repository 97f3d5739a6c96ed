package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// generator chooses the trials of a series, one by one. It gets the earlier results, so that a search can use them. It has no state: the same results
// give the same trial.
type generator interface {
	// Next returns the next trial; false = the series is over.
	Next(results []trial) (trial, bool)
	// Count returns the largest number of trials; 0 = it depends on their results.
	Count() int
}

// runner executes a benchmark: run.Run, or a replacement in tests.
type runner func(ctx context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error)

// generatorOf returns the generator of a series.
func generatorOf(r *config.Run, cells []config.Cell) generator {
	again := repeats{
		base: r.Artifacts.Dir, runs: max(1, r.MultiRun.NumRuns), cooldown: r.MultiRun.Cooldown.Duration(), until: newConvergence(r),
	}
	if r.Sweep == nil {
		return again
	}
	return grid{repeats: again, cells: cells, byCell: r.Sweep.IterationOrder == "independent", between: r.Sweep.Cooldown.Duration()}
}

// runLabel returns the name of a run of a cell; n counts from 0.
func runLabel(n int) string { return fmt.Sprintf("run_%04d", n+1) }

// trialLabel returns the name of a run of a cell in a sweep.
func trialLabel(n int) string { return fmt.Sprintf("trial_%04d", n+1) }

// repeats is the generator that repeats one run.
type repeats struct {
	base     string        // artifact directory of the series
	runs     int           // 1 or more
	cooldown time.Duration // between two runs
	until    *convergence  // ends the series early; nil: it does not end early
}

// Count implements generator.
func (g repeats) Count() int { return g.runs }

// Next implements generator.
func (g repeats) Next(results []trial) (trial, bool) {
	n := len(results)
	if n >= g.runs || g.until.converged(ofCell(results, 0)) {
		return trial{}, false
	}
	t := trial{n: n, label: runLabel(n), dir: filepath.Join(g.base, "profile_runs", runLabel(n))}
	if n > 0 {
		t.pause = g.cooldown
	}
	return t, true
}

// ofCell returns the trials of one cell.
func ofCell(results []trial, cell int) (list []*trial) {
	for i := range results {
		if results[i].cell == cell {
			list = append(list, &results[i])
		}
	}
	return list
}
