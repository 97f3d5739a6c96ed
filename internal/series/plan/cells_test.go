package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// measured is a run of some valid answers, each of 8 tokens from 50 ms to 1,500 ms, and failures.
func measured(t *testing.T, valid, failures int) *metric.Run {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	r := set.NewReducer()
	const ms = 1_000_000
	for i := range valid + failures {
		rec := &record.Record{Start: 100 * ms, End: 2000 * ms, WallOffset: 1e18}
		if i >= valid {
			rec.Error = &record.Error{Code: 500, Type: "x"}
		}
		r.Add(set.Row(rec, &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 150 * ms, Text: "a"}, {At: 1600 * ms, Text: "b"}}}, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
	}
	return &metric.Run{Profiling: r.Summary(metric.Window{})}
}

// TestBrief: a run of several is one line that fits 80 columns, and says what is wrong with it.
func TestBrief(t *testing.T) {
	if got, want := brief("concurrency_16", measured(t, 3, 0)), "concurrency_16: 16.0 tok/s, 2.00 req/s, p50 TTFT 50.0 ms, latency 1,500 ms"; got != want || len(got) > 80 {
		t.Errorf("%q, want %q", got, want)
	}
	r := measured(t, 3, 2)
	r.IncompleteReason, r.Validity = "cut", &metric.Validity{Verdict: metric.VerdictClientLimited}
	if got := brief("a", r); !strings.HasSuffix(got, ", 2 of 5 failed, incomplete, client limited") {
		t.Errorf("%q", got)
	}
	r.IncompleteReason, r.Validity = "", &metric.Validity{Verdict: metric.VerdictRateNotReached}
	if got, want := brief("trial_0001/concurrency_128", r), "trial_0001/…urrency_128: 16.0 tok/s, 2.00 req/s, 2 of 5 failed, rate not reached"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := brief("a", measured(t, 0, 0)); got != "a: no request finished" {
		t.Errorf("%q", got)
	}
	long := "profile_runs/trial_0001/datasets.main.prompts.isl.mean_2048__phases.profiling.concurrency_128"
	if got := brief(long, measured(t, 3, 0)); len([]rune(got)) > lineWidth || !strings.HasPrefix(got, "profile") || !strings.Contains(got, "rency_128: 16.0 tok/s") {
		t.Errorf("%d columns: %q", len([]rune(got)), got)
	}
	var told strings.Builder
	i := invocation{Streams: Streams{Err: &told}}
	i.announce(&trial{label: long}, []config.Cell{{Label: long}}, 2, 12)
	if got := strings.TrimSuffix(told.String(), "\n"); len([]rune(got)) > lineWidth || !strings.HasPrefix(got, "aiperf: run 3 of 12: profile_runs/") {
		t.Errorf("%d columns: %q", len([]rune(got)), got)
	}
}

// TestSweepTable fits 80 columns, and has no column for what no cell has.
func TestSweepTable(t *testing.T) {
	var out strings.Builder
	i := invocation{Streams: Streams{Out: &out, Err: io.Discard}, run: sweep(1, "repeated")}
	i.run.Artifacts.Dir = t.TempDir()
	var cells []config.Cell
	var trials []trial
	for k, n := range []int{1, 1024} {
		cells = append(cells, config.Cell{Label: fmt.Sprintf("phases.profiling.concurrency=%d", n), Values: []config.Axis{{Path: "phases.profiling.concurrency", Values: []any{n}}}})
		trials = append(trials, trial{cell: k, run: measured(t, 3, 1)})
		trials[k].run.Validity = &metric.Validity{Verdict: metric.VerdictValid}
	}
	if _, err := i.conclude(cells, trials); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"latencies in ms concurrency Requests Latency Latency TTFT TTFT ITL Tokens verdict /s avg p99 avg p99 avg /s",
		"1024 2.00 1,500 1,500 50.0 50.0 207 16.0 25 % failed",
		"Highest throughput: concurrency 1, 16.0 tokens/s As high within the noise between runs (1 % assumed): concurrency 1024 Knee: after concurrency 1: 1,024 times the load gives 1.00 times the tokens/s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}

	out.Reset()
	i.Colour, i.Terminal = true, true
	if err := i.sweep(cells, [][]*trial{{&trials[0]}, {&trials[1]}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n") // a blank line, the title, two lines of heads, two cells
	if len(lines) < 6 || !strings.Contains(lines[4], "\x1b[32m") || !strings.Contains(lines[5], "\x1b[33m") {
		t.Errorf("the best cell is not green, or the knee not yellow: %q", lines)
	}
}

// TestUnfinishedSeries: cells that did not run say so and never count as valid; the line below the table says how to run the rest.
func TestUnfinishedSeries(t *testing.T) {
	judged := func(v metric.Verdict, failures int) *metric.Run {
		r := measured(t, 300, failures)
		r.Validity = &metric.Validity{Verdict: v}
		return r
	}
	cut := judged(metric.VerdictValid, 0)
	cut.Cancelled, cut.IncompleteReason = true, "Run cancelled."
	interruptedCtx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		runs   int
		trials []trial
		want   []string // verdicts of the cells
		line   string
	}{
		"interrupted": {interruptedCtx, 1, []trial{{cell: 0, run: judged("valid", 0)}, {cell: 1, run: cut}}, []string{"valid", "interrupted", "not run"},
			"Interrupted: 1 of 3 cells ran to the end. To run the rest, give the same command with --resume 'my runs' instead of --artifact-dir."},
		"between cells": {interruptedCtx, 1, []trial{{cell: 0, run: judged("valid", 0)}}, []string{"valid", "not run", "not run"}, "Interrupted: 1 of 3 cells ran to the end."},
		"ended early":   {t.Context(), 1, []trial{{cell: 0, run: judged("valid", 0)}, {cell: 1, err: errors.New("no server")}}, []string{"valid", "failed: no server", "not run"}, "Ended early: 2 of 3 cells"},
		"gravest of repeats": {t.Context(), 2, []trial{{cell: 0, run: judged("client limited", 0)}, {cell: 0, run: judged("valid", 0)}, {cell: 1, run: judged("uncertain", 0)}, {cell: 1, run: judged("server limited", 0)},
			{cell: 2, run: judged("valid", 0)}, {cell: 2, run: judged("valid", 100)}}, []string{"client limited", "uncertain", "14.3 % failed"}, ""},
		"repeats left out": {interruptedCtx, 2, []trial{{cell: 0, run: judged("valid", 0)}, {cell: 0, run: judged("valid", 0)}, {cell: 1, run: judged("valid", 0)}}, []string{"valid", "valid, 1 of 2 runs", "not run"}, "Interrupted: 1 of 3 cells"},
		"no verdict":       {t.Context(), 1, []trial{{cell: 0, run: measured(t, 3, 0)}, {cell: 1, run: judged("a new word", 0)}, {cell: 2, run: judged("valid", 0)}}, []string{"no verdict", "a new word", "valid"}, ""},
	} {
		var out strings.Builder
		i := invocation{Streams: Streams{Out: &out, Err: io.Discard}, run: sweep(c.runs, "repeated"), ctx: c.ctx}
		i.run.Artifacts.Dir = "my runs"
		cells := make([]config.Cell, 3)
		byCell := make([][]*trial, 3)
		for k := range c.trials {
			byCell[c.trials[k].cell] = append(byCell[c.trials[k].cell], &c.trials[k])
		}
		for k := range cells {
			if got := i.cellVerdict(byCell[k]); got != c.want[k] {
				t.Errorf("%s, cell %d: %q, want %q", name, k, got, c.want[k])
			}
		}
		if err := i.sayUnfinished(cells, byCell); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); (c.line == "") != (got == "") || !strings.Contains(got, c.line) {
			t.Errorf("%s: %q, want %q", name, got, c.line)
		}
	}
}

func TestAxisName(t *testing.T) {
	for path, want := range map[string]string{
		"phases.profiling.concurrency": "concurrency", "datasets.main.prompts.isl.mean": "isl", "datasets.main.prompts.isl.stddev": "stddev", "seed": "seed",
	} {
		if got := axisName(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestKneeOfTheClient: cells in which this client was the limit do not count for the knee, and their output is a lower limit.
func TestKneeOfTheClient(t *testing.T) {
	const tie = "As high within the noise between runs (1 % assumed): concurrency 64\n"
	for _, c := range []struct {
		limited int // index of the cell that the client limited; -1 = none
		want    string
	}{
		{-1, "Highest throughput: concurrency 1, 16.0 tokens/s\n" + tie + "Knee: after concurrency 1: 64.0 times the load gives 1.00 times the tokens/s\n"},
		{1, "Highest throughput: concurrency 1, 16.0 tokens/s\n" + tie},
		{0, "Highest throughput: concurrency 1, 16.0 tokens/s; this client was the limit there, so the server may give more\n" + tie},
	} {
		var cells []config.Cell
		var byCell [][]*trial
		for k, n := range []int{1, 64} {
			cells = append(cells, config.Cell{Label: fmt.Sprintf("phases.profiling.concurrency=%d", n), Values: []config.Axis{{Path: "phases.profiling.concurrency", Values: []any{n}}}})
			run := measured(t, 3, 1)
			run.Validity = &metric.Validity{Verdict: metric.VerdictValid}
			if k == c.limited {
				run.Validity.Verdict = metric.VerdictClientLimited
			}
			byCell = append(byCell, []*trial{{cell: k, run: run}})
		}
		if _, _, said := new(invocation).bestCells(cells, byCell); said != c.want {
			t.Errorf("%d: %q, want %q", c.limited, said, c.want)
		}
	}
}
