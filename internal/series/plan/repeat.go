package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run"
	"aiperf/internal/run/preflight"
)

// trial is one run of a cell.
type trial struct {
	cell   int // index into the cells
	n      int // number within the cell, from 0
	label  string
	dir    string
	pause  time.Duration // before it
	run    *metric.Run   // nil = it was not executed
	err    error
	reused bool // reused from an earlier series, not executed again
}

// ok reports whether the trial counts among the results.
func (t *trial) ok() bool {
	return t.err == nil && t.run != nil && t.run.Profiling.Valid > 0 && t.run.IncompleteReason == ""
}

// several executes all trials of all cells, then computes the statistics over them. A failed trial is recorded, and the others continue.
func (i *invocation) several(cells []config.Cell) (int, error) {
	release, err := i.claim()
	if err != nil {
		return 1, fmt.Errorf("%s: %w", i.run.As("artifacts.dir"), err)
	}
	defer release()
	g := generatorOf(i.run, cells)
	i.showSeries(g.Count(), false, nil)
	trials, err := i.carryOut(g, cells)
	if err != nil {
		return 1, err
	}
	return i.conclude(cells, trials)
}

// claim locks the directory of the series for this process. Files of an earlier series stay until a run of this one begins.
func (i *invocation) claim() (release func(), err error) {
	base := i.run.Artifacts.Dir
	if release, err = artifact.Claim(base); err != nil {
		return nil, err
	}
	if i.run.Resume { // finished runs are kept, and each new run clears its own directory
		if err := artifact.RemoveUnfinished(base); err != nil {
			release()
			return nil, err
		}
		return release, nil
	}
	i.clear = sync.OnceValue(func() error { return i.clearSeries(base) })
	return release, nil
}

// clearSeries removes the files of an earlier series from a directory.
func (i *invocation) clearSeries(base string) error {
	n, err := artifact.ClearSeries(base, i.run.Artifacts.Prefix, i.reads)
	if err == nil && n > 0 {
		fmt.Fprintf(i.Err, "aiperf: removed the files of earlier runs from %s (%d)\n", terminal.Line(base), n)
	}
	return err
}

// reads reports whether the series reads a file.
func (i *invocation) reads(path string) bool { return run.Reads(&i.run.Benchmark, path) }

// begins is called when a run of a directory is certain to begin: it removes what was there.
func (i *invocation) begins(dir string) error {
	if err := i.previous(); err != nil {
		return err
	}
	if i.clear != nil {
		if err := i.clear(); err != nil {
			return err
		}
	}
	return artifact.RemoveCell(dir)
}

// carryOut executes the trials of a generator until there are no more or the user interrupts. If a place holds a run with other settings, it returns
// an error.
func (i *invocation) carryOut(g generator, cells []config.Cell) (results []trial, err error) {
	sweepID := rng.UUID()
	for {
		t, more := g.Next(results)
		if !more || i.ctx.Err() != nil {
			return results, nil //nolint:nilerr // an interrupt ends a series; what was measured counts
		}
		if err := i.reuse(&t, &cells[t.cell]); err != nil {
			return results, err
		}
		if t.reused {
			i.showReused(t.dir)
			results = append(results, t)
			continue
		}
		if !i.pause(t.pause) {
			return results, nil
		}
		i.announce(&t, cells, len(results), g.Count())
		t.run, t.err = i.trial(&t, &cells[t.cell], sweepID)
		if t.run != nil {
			if err := i.showOne(&t); t.err == nil {
				t.err = err
			}
		}
		if t.err != nil {
			fmt.Fprintf(i.Err, "error: %s: %s\n", terminal.Text(t.label), terminal.Text(i.Secrets.Text(t.err.Error())))
		}
		results = append(results, t)
		if errors.As(t.err, new(preflight.HopelessError)) { // if no server answers, no other trial can succeed
			return results, nil
		}
	}
}

// showOne prints a run in one line, or its whole report if all tables are requested.
func (i *invocation) showOne(t *trial) error {
	if i.run.Tables == config.TablesAll {
		return i.show(t.run, &config.Benchmark{Artifacts: config.Artifacts{Dir: t.dir, Prefix: i.run.Artifacts.Prefix}})
	}
	_, err := fmt.Fprintln(i.Out, brief(t.label, t.run))
	return ignoreGone(err)
}

// pause waits between two runs; false = the user interrupted.
func (i *invocation) pause(d time.Duration) bool {
	if i.ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-i.ctx.Done():
		return false
	}
}

func (i *invocation) announce(t *trial, cells []config.Cell, k, of int) {
	what := t.label
	if l := cells[t.cell].Label; l != "" {
		what += " (" + l + ")"
	}
	if of > 0 {
		what = fmt.Sprintf("of %d: %s", of, what)
	}
	fmt.Fprintln(i.Err, terminal.Shorten(fmt.Sprintf("aiperf: run %d %s", k+1, terminal.Line(what)), lineWidth))
}

// prepared returns the benchmark of a trial and its seed.
func (i *invocation) prepared(t *trial, cell *config.Cell) (config.Benchmark, *config.Seed) {
	b := cell.Run.Benchmark
	b.Artifacts.Dir = t.dir
	if t.n > 0 && i.run.MultiRun.DisableWarmupAfterFirst {
		b.Phases = withoutWarmup(b.Phases)
	}
	if s := i.run.Sweep; s != nil && s.Type == config.SweepSearch && s.SLAWarmup != nil && *s.SLAWarmup > 0 {
		b.Phases = warmedUp(b.Phases, *s.SLAWarmup)
	}
	seed := cell.Run.RandomSeed
	if i.run.MultiRun.VarySeedPerTrial {
		seed = trialSeed(i.run.RandomSeed, cell, t.n)
		b.Datasets = slices.Clone(b.Datasets)
		if d := b.Dataset(); d.RandomSeed != nil {
			d.RandomSeed = seed
		}
	}
	return b, seed
}

// trial executes one trial, writes its report to a file, and then marks it as finished.
func (i *invocation) trial(t *trial, cell *config.Cell, sweepID string) (*metric.Run, error) {
	b, seed := i.prepared(t, cell)
	info, err := t.info(cell, sweepID, seed)
	if err != nil {
		return nil, err
	}
	layout := artifact.NewLayout(t.dir, b.Artifacts.Prefix)
	done, err := i.runner(i.ctx, &b, seed, info, id())
	if done != nil {
		err = errors.Join(err, i.writeReport(done, layout))
	}
	if err != nil || done == nil || done.Cancelled {
		return done, err
	}
	digest, text, err := cellDigest(&b, seed)
	if err == nil {
		err = artifact.WriteCell(layout, digest, text)
	}
	return done, err
}

// info describes which run of the series a trial is; without a sweep the variation is "base".
func (t *trial) info(cell *config.Cell, sweepID string, seed *config.Seed) (metric.RunInfo, error) {
	values, err := variation(cell.Values)
	return metric.RunInfo{
		SweepID: sweepID, RandomSeed: digits(seed), Trial: t.n, RunLabel: runLabel(t.n),
		VariationLabel: variationLabel(cell), VariationIndex: &t.cell, Variation: values,
	}, err
}

// variationLabel returns the name of a cell.
func variationLabel(cell *config.Cell) string {
	switch {
	case cell.Variation != "":
		return cell.Variation
	case cell.Label == "":
		return "base"
	}
	return cell.Label
}

// trialSeed returns the seed of one trial of a cell, different for each; nil = there is no seed to derive it from.
func trialSeed(base *config.Seed, cell *config.Cell, n int) *config.Seed {
	if base == nil {
		return nil
	}
	child := rng.NewDecimal(string(*base)).Child(fmt.Sprintf("variation:%s:trial:%d", variationLabel(cell), n)) & math.MaxInt64
	seed := config.Seed(strconv.FormatUint(child, 10))
	return &seed
}

// digits returns a seed for the summary, with all its digits; "" = none.
func digits(seed *config.Seed) json.Number {
	if seed == nil {
		return ""
	}
	return json.Number(*seed)
}

// withoutWarmup returns the measured phases.
func withoutWarmup(phases []config.Phase) []config.Phase {
	var kept []config.Phase
	for _, p := range phases {
		if p.Kind != config.KindWarmup {
			kept = append(kept, p)
		}
	}
	return kept
}

// variation returns the values of a cell as a JSON object, in the order of the axes.
func variation(values []config.Axis) (json.RawMessage, error) {
	out := []byte{'{'}
	for k, a := range values {
		if k > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(a.Path)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(a.Values[0])
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), v...)
	}
	return append(out, '}'), nil
}

// id returns 32 random hex digits.
func id() string {
	u := rng.UUID()
	return u[:8] + u[9:13] + u[14:18] + u[19:23] + u[24:]
}

// errNothing means that no run gave a result.
var errNothing = errors.New("no run succeeded")
