package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/metric"
)

// generator names the trials of a series, one by one. It sees what came of those before, so that a search may choose by it. It keeps no
// state of its own: the same results give the same trial.
type generator interface {
	// Next is the trial that follows the results; false = the series is over.
	Next(results []trial) (trial, bool)
	// Count is how many trials there will be at most; 0 = that depends on what comes of them.
	Count() int
}

// runner makes one run of a benchmark: run.Run, or what stands for it in a test.
type runner func(ctx context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error)

// generatorOf chooses the generator of a series.
func generatorOf(r *config.Run, cells []config.Cell) generator {
	again := repeats{
		base: r.Artifacts.Dir, runs: max(1, r.MultiRun.NumRuns), cooldown: r.MultiRun.Cooldown.Duration(), until: newConvergence(r),
	}
	if r.Sweep == nil {
		return again
	}
	return grid{repeats: again, cells: cells, byCell: r.Sweep.IterationOrder == "independent", between: r.Sweep.Cooldown.Duration()}
}

// runLabel is the name of a run of a cell, counted from 0.
func runLabel(n int) string { return fmt.Sprintf("run_%04d", n+1) }

// trialLabel is the name of a run of a cell among cells.
func trialLabel(n int) string { return fmt.Sprintf("trial_%04d", n+1) }

// repeats is the generator of the same run several times.
type repeats struct {
	base     string        // artifact directory of the series
	runs     int           // 1 or more
	cooldown time.Duration // between two runs
	until    *convergence  // ends them early; nil: nothing does
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

// ofCell are the trials of one cell.
func ofCell(results []trial, cell int) (list []*trial) {
	for i := range results {
		if results[i].cell == cell {
			list = append(list, &results[i])
		}
	}
	return list
}
