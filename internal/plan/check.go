package plan

import (
	"context"
	"fmt"
	"math"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/run"
)

// Check tries what the runs of an invocation would refuse before their first request, without writing or sending anything, and says in one
// line what they would do.
func Check(ctx context.Context, r *config.Run, s Streams) (string, error) {
	cells, err := r.Cells()
	if err != nil {
		return "", err
	}
	var first *run.Forecast
	total, requests := time.Duration(0), 0
	for k := range cells {
		c := cells[k].Run
		f, err := run.Check(ctx, &c.Benchmark, c.RandomSeed, run.Options{Version: s.Version, Err: s.Err})
		switch {
		case err != nil && len(cells) > 1:
			return "", fmt.Errorf("%s: %w", cells[k].Label, err)
		case err != nil:
			return "", err
		}
		if first == nil {
			first = f
		}
		if total += f.Time; f.Time == 0 {
			total = -1 << 62 // unknown once, unknown for all
		}
		if requests += f.Requests; f.Requests == 0 {
			requests = math.MinInt32
		}
	}
	n := max(1, r.MultiRun.NumRuns)
	if s := r.Sweep; s != nil && s.Type == config.SweepSearch {
		n = max(n, 1+s.SLAReplicates)
		text := fmt.Sprintf("a search of at most %d cells, %d runs", s.MaxIterations, n*s.MaxIterations)
		if total > 0 {
			text += ", " + run.About(time.Duration(n*s.MaxIterations)*total) + " in all"
		}
		return text + "; a run of the first: " + first.String(), nil
	}
	if len(cells) == 1 && n == 1 {
		return first.String(), nil
	}
	text := fmt.Sprintf("%d runs", n*len(cells))
	if r.Sweep != nil {
		text = fmt.Sprintf("%d cells, %d runs", len(cells), n*len(cells))
	}
	if requests > 0 {
		text += fmt.Sprintf(", %d requests", n*requests)
	}
	pauses := pausesOf(r, len(cells), n)
	switch {
	case total > 0:
		text += ", " + run.About(time.Duration(n)*total+pauses) + " in all"
	case pauses > 0:
		text += ", pauses of " + run.About(pauses)
	}
	return text + "; the first: " + first.String(), nil
}

// pausesOf is the time between the runs of a series.
func pausesOf(r *config.Run, cells, runs int) time.Duration {
	g := generatorOf(r, make([]config.Cell, cells))
	total := time.Duration(0)
	var results []trial
	for len(results) < cells*runs {
		t, more := g.Next(results)
		if !more {
			break
		}
		total += t.pause
		results = append(results, t)
	}
	return total
}
