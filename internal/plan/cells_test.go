package plan

import (
	"io"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/record"
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
		cells = append(cells, config.Cell{Values: []config.Axis{{Path: "phases.profiling.concurrency", Values: []any{n}}}})
		trials = append(trials, trial{cell: k, run: measured(t, 3, 1)})
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
		"latencies in ms concurrency req/s latency latency TTFT TTFT ITL tok/s verdict avg p99 avg p99 avg",
		"1024 2.00 1,500 1,500 50.0 50.0 207 16.0 valid",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
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
