package plan

import (
	"context"
	"fmt"
	"math"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/run"
)

// Check tests everything that can make a run fail before its first request, without writing or sending anything. It returns one line that describes
// what the runs would do.
func Check(ctx context.Context, r *config.Run, s Streams) (string, error) {
	cells, err := r.Cells()
	if err != nil {
		return "", err
	}
	of, together := 0, false
	if list, err := r.Machines.List(); err == nil && list != nil {
		of, together = list.Count, list.Local
	}
	var first *run.Forecast
	total, open, requests := time.Duration(0), false, 0
	for k := range cells {
		c := cells[k].Run
		f, err := run.Check(ctx, &c.Benchmark, c.RandomSeed, run.Options{Version: s.Version, Err: s.Err, Of: of, Together: together})
		switch {
		case err != nil && len(cells) > 1:
			return "", fmt.Errorf("%s: %w", cells[k].Label, err)
		case err != nil:
			return "", err
		}
		if first == nil {
			first = f
		}
		total, open = total+f.Time, open || f.Open
		if requests += f.Requests; f.Requests == 0 {
			requests = math.MinInt32
		}
	}
	n := max(1, r.MultiRun.NumRuns)
	if s := r.Sweep; s != nil && s.Type == config.SweepSearch {
		n = max(n, 1+s.SLAReplicates)
		return searchWords(r, n, requests, total, open) + "; a run of the first: " + first.String(), nil
	}
	if len(cells) == 1 && n == 1 {
		return first.String(), nil
	}
	most := ""
	if r.MultiRun.Convergence != nil {
		most = "at most "
	}
	text := most + terminal.Plural(n*len(cells), "run")
	if r.Sweep != nil {
		text = terminal.Plural(len(cells), "cell") + ", " + most + terminal.Plural(n*len(cells), "run")
	}
	if requests > 0 {
		text += ", " + terminal.Plural(n*requests, "request")
	}
	pauses := pausesOf(r, len(cells), n)
	switch {
	case total > 0:
		text += ", " + run.About(time.Duration(n)*total+pauses, open) + " in all"
	case pauses > 0:
		text += ", pauses of " + run.About(pauses, false)
	}
	return text + "; the first: " + first.String(), nil
}

// searchWords describes how long a search with n runs per cell may take. requests (not positive = unknown), total and open are those of one run.
func searchWords(r *config.Run, n, requests int, total time.Duration, open bool) string {
	s := r.Sweep
	runs := n * s.MaxIterations
	text := "a search of at most " + terminal.Plural(s.MaxIterations, "cell") + ", " + terminal.Plural(runs, "run")
	if requests > 0 {
		text += ", " + terminal.Plural(runs*requests, "request")
	}
	pauses := time.Duration(s.MaxIterations-1)*s.Cooldown.Duration() + time.Duration(s.MaxIterations*(n-1))*r.MultiRun.Cooldown.Duration()
	if s.SLAWarmup != nil {
		pauses += time.Duration(runs) * s.SLAWarmup.Duration()
	}
	switch {
	case total > 0:
		text += ", " + run.About(time.Duration(runs)*total+pauses, open) + " in all"
	case pauses > 0:
		text += ", pauses and warm-ups of " + run.About(pauses, false)
	}
	return text
}

// pausesOf returns the total of the pauses between the runs of a series.
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
