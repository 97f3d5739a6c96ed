package plan

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/capacity"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/record"
)

// TestParseObjective: what is no share of requests below a limit is refused in words.
func TestParseObjective(t *testing.T) {
	o, err := parseObjective("time_to_first_token:p99<200")
	if err != nil || o.Limit != 200 || math.Abs(o.Allowed-.01) > 1e-12 || o.at != atLimit {
		t.Errorf("%+v %v", o, err)
	}
	if o, err = parseObjective(" error_rate < 2% "); err != nil || o.Allowed != .02 || o.tag != errorRate {
		t.Errorf("%+v %v", o, err)
	}
	for text, want := range map[string]string{
		"time_to_first_token:avg<200": "averages and throughputs are not taken", "request_throughput:p99<2": "no latency of single requests",
		"request_latency:p30<2": "percentile is 50 or more", "error_rate<0": "above 0", "nonsense": "is no objective", "request_latency:p99<-1": "limit is above 0",
	} {
		if _, err := parseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestJudge: what a request says of an objective, finished, failed or cut.
func TestJudge(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	o, err := parseObjective("time_to_first_token:p99<200")
	if err != nil {
		t.Fatal(err)
	}
	const ms = 1_000_000
	answer := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 150 * ms, Text: "a"}, {At: 900 * ms, Text: "b"}}}
	row := func(cut string, e *record.Error, reply *record.Reply) *metric.Row {
		return set.Row(&record.Record{Start: 100 * ms, End: 900 * ms, WallOffset: 1e18, Cut: cut, Error: e}, reply, record.Counts{Input: 5, Output: 2, Reasoning: -1})
	}
	if v, at := o.judge(row("", nil, answer), .8); v != 50 || at != .2 {
		t.Errorf("finished: %v at %v", v, at)
	}
	if v, at := o.judge(row("", &record.Error{Type: "x"}, nil), .8); !math.IsInf(v, 1) || !math.IsInf(at, 1) {
		t.Errorf("failed: %v at %v", v, at)
	}
	late := row("deadline", &record.Error{Type: "cut"}, nil)
	late.Class = metric.Cut
	if v, at := o.judge(late, .8); !math.IsInf(v, 1) || at != .2 {
		t.Errorf("cut after the limit: %v at %v", v, at)
	}
	if v, _ := o.judge(late, .1); !math.IsNaN(v) {
		t.Errorf("cut before the limit: %v", v)
	}
}

// queue plays a server of one place that takes 10 ms for each request: Poisson arrivals wait in order. Its latency is below 100 ms for 90 % of
// requests 50 ms for 90 % of requests up to 76/s.
func queue(set *metric.Selection, seen *rowList) runner {
	seed := uint64(0)
	return func(_ context.Context, b *config.Benchmark, _ *config.Seed, _ metric.RunInfo, _ string) (*metric.Run, error) {
		p := b.Profiling()
		seed++
		r := rand.New(rand.NewPCG(seed, 1))
		reducer := set.NewReducer()
		now, free, n := 0.0, 0.0, 0
		for {
			if p.Rate != nil {
				now += r.ExpFloat64() / *p.Rate
			} else {
				now = free
			}
			if p.Duration != nil && now > float64(*p.Duration) || p.Requests != nil && n >= *p.Requests {
				break
			}
			n++
			free = max(now, free) + .010
			rec := &record.Record{Start: int64(now*1e9) + 1, End: int64(free * 1e9), WallOffset: 1e18}
			row := set.Row(rec, &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: rec.End, Text: "a"}}}, record.Counts{Input: 5, Output: 1, Reasoning: -1})
			seen.Observe(row)
			reducer.Add(row)
		}
		return &metric.Run{Profiling: reducer.Summary(metric.Window{})}, nil
	}
}

// TestFindCapacity: a queue with a known service rate; the answer, its sentence and its file.
func TestFindCapacity(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	run := config.Default()
	run.Artifacts.Dir = t.TempDir()
	run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	one, err := parseObjective("request_latency:p90<50")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	tg := &target{invocation: invocation{Streams: Streams{Out: &out, Err: io.Discard}, ctx: t.Context(), run: run}, objectives: []objective{one}}
	tg.runner = queue(set, &tg.rows)
	a, err := capacity.Find(t.Context(), tg, capacity.Options{Objectives: []capacity.Objective{one.Objective}, Precision: .07, Seconds: 900, Cells: 30, Size: 20, Looks: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Latency of a long simulation of this queue is below 50 ms for 90 % of requests up to 76/s.
	if a.Why != capacity.Settled || a.Capacity < 0.9*76 || a.Capacity > 1.1*76 || a.Low > 76 || a.High < 76 {
		t.Errorf("%+v", a)
	}
	status, err := tg.report(a, &CapacityOptions{})
	if err != nil || status != 0 || !strings.Contains(out.String(), "requests/s keep request_latency p90 < 50 ms (90 % interval") {
		t.Errorf("%d %v %s", status, err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(run.Artifacts.Dir, "capacity.json"))
	if err != nil || !strings.Contains(string(text), `"why": "settled"`) {
		t.Errorf("%s %v", text, err)
	}
}
