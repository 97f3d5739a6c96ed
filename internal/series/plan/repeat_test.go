package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// sweep is a run over two concurrencies, with a warm-up, several times each.
func sweep(runs int, order string) *config.Run {
	r := config.Default()
	r.Artifacts.Dir = "base"
	r.MultiRun.NumRuns, r.MultiRun.Cooldown = runs, 5
	r.Phases = []config.Phase{
		{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency},
		{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency},
	}
	if order != "" {
		r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: order, Cooldown: 2,
			Parameters: config.Axes{{Path: "phases.profiling.concurrency", Values: []any{2, 4}}}}
	}
	return r
}

func TestTrialsStandInTheContractsOrderAndPlaces(t *testing.T) {
	two := []config.Cell{{Dir: "concurrency_2"}, {Dir: "concurrency_4"}}
	tests := []struct {
		name  string
		runs  int
		order string
		cells []config.Cell
		want  string // "pause dir" of every trial
	}{
		{"repeats", 3, "", []config.Cell{{}}, "0s profile_runs/run_0001, 5s profile_runs/run_0002, 5s profile_runs/run_0003"},
		{"a sweep", 1, "repeated", two, "0s concurrency_2, 2s concurrency_4"},
		{"a sweep, repeated", 2, "repeated", two,
			"0s profile_runs/trial_0001/concurrency_2, 2s profile_runs/trial_0001/concurrency_4, 5s profile_runs/trial_0002/concurrency_2, 2s profile_runs/trial_0002/concurrency_4"},
		{"a sweep, independent", 2, "independent", two,
			"0s concurrency_2/profile_runs/trial_0001, 5s concurrency_2/profile_runs/trial_0002, 5s concurrency_4/profile_runs/trial_0001, 5s concurrency_4/profile_runs/trial_0002"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := generatorOf(sweep(tt.runs, tt.order), tt.cells)
			var got []string
			var results []trial
			for one, more := g.Next(nil); more; one, more = g.Next(results) {
				dir, err := filepath.Rel("base", one.dir)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(one.pause, " ", filepath.ToSlash(dir)))
				results = append(results, one)
			}
			if g.Count() != len(results) {
				t.Errorf("%d trials, %d promised", len(results), g.Count())
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("\n got %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestOnlyTheFirstTrialOfACellWarmsUp(t *testing.T) {
	kept := withoutWarmup(sweep(2, "").Phases)
	if len(kept) != 1 || kept[0].Name != "profiling" {
		t.Errorf("%+v", kept)
	}
}

func TestAPauseEndsWithTheInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		i := invocation{ctx: ctx}
		begin := time.Now()
		if !i.pause(time.Minute) || time.Since(begin) != time.Minute {
			t.Errorf("an undisturbed pause took %v", time.Since(begin))
		}
		time.AfterFunc(time.Second, cancel)
		begin = time.Now()
		if i.pause(time.Minute) || time.Since(begin) != time.Second {
			t.Errorf("an interrupted pause took %v", time.Since(begin))
		}
	})
}

func TestVariationKeepsTheOrderOfTheAxes(t *testing.T) {
	got, err := variation([]config.Axis{{Path: "b", Values: []any{2}}, {Path: "a", Values: []any{0.5}}})
	if err != nil || string(got) != `{"b":2,"a":0.5}` || !json.Valid(got) {
		t.Errorf("%s, %v", got, err)
	}
}

// finished returns a trial with a number of valid requests and a verdict.
func finished(cell, n int, valid int64, v metric.Verdict) trial {
	return trial{cell: cell, n: n, run: &metric.Run{Profiling: &metric.Summary{Valid: valid}, Validity: &metric.Validity{Verdict: v}}}
}

func TestConclusion(t *testing.T) {
	var out strings.Builder
	i := invocation{Streams: Streams{Out: &out, Err: io.Discard}, run: sweep(1, "repeated")}
	i.run.Artifacts.Dir = t.TempDir()
	cells := []config.Cell{
		{Dir: "concurrency_2", Values: []config.Axis{{Path: "phases.profiling.concurrency", Values: []any{2}}}},
		{Dir: "concurrency_4", Values: []config.Axis{{Path: "phases.profiling.concurrency", Values: []any{4}}}},
	}
	failed := trial{cell: 1, err: fmt.Errorf("the server is gone")}
	status, err := i.conclude(cells, []trial{finished(0, 0, 5, metric.VerdictServerLimited), failed})
	if status != 0 || err != nil {
		t.Errorf("status %d, %v: one cell succeeded", status, err)
	}
	for _, want := range []string{"Sweep: 2 cells", "server limited", "failed: the server is gone"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if status, err = i.conclude(cells, []trial{finished(0, 0, 0, metric.VerdictValid), failed}); status != 1 || err == nil {
		t.Errorf("status %d, %v: nothing succeeded", status, err)
	}
	cut := finished(0, 0, 3, metric.VerdictValid)
	cut.run.Cancelled, cut.run.IncompleteReason = true, "cancelled"
	if status, err = i.conclude(cells, []trial{cut}); status != 0 || err != nil {
		t.Errorf("status %d, %v: the user cut the first run, whose results are there", status, err)
	}
}

// doubling is a generator that chooses by what came before: it asks for the double of the last run's requests until one fails.
type doubling struct{ base string }

func (g doubling) Count() int { return 0 }

func (g doubling) Next(results []trial) (trial, bool) {
	if n := len(results); n > 0 && !results[n-1].ok() {
		return trial{}, false
	}
	return trial{n: len(results), label: runLabel(len(results)), dir: filepath.Join(g.base, runLabel(len(results)))}, true
}

// TestAGeneratorSeesResults: the runner is injected, the generator ends the series by what it sees, and every run gets what it is about.
func TestAGeneratorSeesResults(t *testing.T) {
	var out, told strings.Builder
	base := t.TempDir()
	var infos []metric.RunInfo
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := invocation{Streams: Streams{Out: &out, Err: &told}, ctx: t.Context(), run: sweep(1, "")}
	i.runner = func(_ context.Context, b *config.Benchmark, _ *config.Seed, info metric.RunInfo, id string) (*metric.Run, error) {
		infos = append(infos, info)
		if len(id) != 32 || !strings.HasPrefix(b.Artifacts.Dir, base) {
			t.Errorf("id %q, directory %s", id, b.Artifacts.Dir)
		}
		if len(infos) == 3 {
			return nil, fmt.Errorf("the server is gone")
		}
		s := set.NewReducer().Summary(metric.Window{})
		s.Valid = 1
		return &metric.Run{Profiling: s}, nil
	}
	results, err := i.carryOut(doubling{base}, []config.Cell{{Run: i.run}})
	if err != nil || len(results) != 3 || results[2].err == nil || results[1].run == nil {
		t.Errorf("%d results: %+v, %v", len(results), results, err)
	}
	for n, info := range infos {
		if info.Trial != n || len(info.SweepID) != 36 || info.SweepID != infos[0].SweepID {
			t.Errorf("run %d: %+v", n, info)
		}
	}
	if !strings.Contains(told.String(), "run 1 run_0001") || !strings.Contains(told.String(), "error: run_0003: the server is gone") {
		t.Errorf("told:\n%s", told.String())
	}
}
