package plan

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/series/capacity"
)

// TestParseObjective: an objective that is not a share of requests below a limit is refused with a sentence.
func TestParseObjective(t *testing.T) {
	o, err := ParseObjective("time_to_first_token:p99<200")
	if err != nil || o.Limit != 200 || math.Abs(o.Allowed-.01) > 1e-12 || o.at != atLimit {
		t.Errorf("%+v %v", o, err)
	}
	if o, err = ParseObjective(" error_rate < 2% "); err != nil || o.Allowed != .02 || o.tag != errorRate {
		t.Errorf("%+v %v", o, err)
	}
	for text, want := range map[string]float64{"time_to_first_token:p99<200ms": 200, "time_to_first_token:p99 < 0.2 s": 200, "request_latency:p95<1m": 60_000, "request_latency:p95<2e3": 2000, "p99(ttft)<0.2s": 200, "P99.9(E2E) <= 1m": 60_000, "tpot:median<20": 20} {
		if o, err := ParseObjective(text); err != nil || math.Abs(o.Limit-want) > 1e-9 {
			t.Errorf("%s: %+v %v", text, o, err)
		}
	}
	for text, want := range map[string]string{
		"time_to_first_token:p99<200 parsecs": "are in ms, not in parsecs",
		"time_to_first_token:avg<200":         "avg cannot be used; write a percentile: time_to_first_token:p99<200", "request_throughput:p99<2": "not a latency of single requests",
		"request_latency:p30<2": "percentile is 50 or more", "error_rate<0": "above 0", "nonsense": "is not a limit; write METRIC:STAT<VALUE", "ttft<200": "names no percentile; write time_to_first_token:p99<200", "ttft:p99>200": "write time_to_first_token:p99<=200", "request_latency:p99<-1": "limit is above 0",
	} {
		if _, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestLooksWithin: a cell ends with the time that is left; its first look must fall into it.
func TestLooksWithin(t *testing.T) {
	looks := []float64{5, 7, 10, 14}
	for left, want := range map[float64][]float64{20: {5, 7, 10, 14}, 14: {5, 7, 10, 14}, 12: {5, 7, 10, 12}, 7: {5, 7}, 5.5: {5, 5.5}, 4: nil, -1: nil} {
		if got := looksWithin(looks, left); !slices.Equal(got, want) {
			t.Errorf("%g s left: %v, want %v", left, got, want)
		}
	}
}

// TestUnclearCell: a cell says nothing where the limit of an objective lies within a wide range of its quantile, and something where the range is narrow, lies on
// one side, or is of another metric.
func TestUnclearCell(t *testing.T) {
	objective := func(text string) *target {
		o, err := ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		return &target{objectives: []Objective{o}}
	}
	bounds := func(tag string, stat metric.Stat, low, high float64) metric.Bounds {
		return metric.Bounds{tag: {stat: {Low: low, High: high}}}
	}
	run := func(b metric.Bounds) *metric.Run {
		var values [metric.Stats]float64
		for i := range values {
			values[i] = 180
		}
		all := map[string][metric.Stats]float64{"time_to_first_token": values, "request_latency": values}
		s := metric.SummaryOf(all, 100, 0)
		s.Bounds = b
		cutOff := metric.Bounds{"request_latency": {metric.P99: {Low: 180, High: math.Inf(1)}}} // of the verdict alone: it makes nothing unclear
		return &metric.Run{Validity: &metric.Validity{Bounds: cutOff}, Profiling: s}
	}
	for name, c := range map[string]struct {
		t    *target
		v    metric.Bounds
		want bool
	}{
		"no ranges":        {objective("time_to_first_token:p99<200"), nil, false},
		"around the limit": {objective("time_to_first_token:p99<200"), bounds("time_to_first_token", metric.P99, 150, 260), true},
		"above it":         {objective("time_to_first_token:p99<200"), bounds("time_to_first_token", metric.P99, 210, 260), false},
		"below it":         {objective("time_to_first_token:p99<200"), bounds("time_to_first_token", metric.P99, 100, 190), false},
		"narrow":           {objective("time_to_first_token:p99<200"), bounds("time_to_first_token", metric.P99, 197, 203), false},
		"another metric":   {objective("request_latency:p99<200"), bounds("time_to_first_token", metric.P99, 150, 260), false},
		"the error rate":   {objective("error_rate<1"), bounds("time_to_first_token", metric.P99, 150, 260), false},
	} {
		if got := c.t.unclear(run(c.v)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	between := objective("time_to_first_token:p97.5<200")
	if v := bounds("time_to_first_token", metric.P99, 190, 260); !between.unclear(run(v)) {
		t.Error("a quantile between two percentiles lies between the lower limit of one and the upper of the other")
	}
	for q, want := range map[float64][2]metric.Stat{99: {metric.P99, metric.P99}, 97.5: {metric.P95, metric.P99}, 95: {metric.P95, metric.P95}, 99.9: {metric.P99, metric.Max}, 0.5: {metric.Min, metric.P1}} {
		if a, b := around(q); a != want[0] || b != want[1] {
			t.Errorf("p%g lies between %s and %s", q, a, b)
		}
	}
}

// TestJudge: what a request says of an objective, finished, failed or cut.
func TestJudge(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ParseObjective("time_to_first_token:p99<200")
	if err != nil {
		t.Fatal(err)
	}
	const ms = 1_000_000
	answer := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 150 * ms, Text: "a"}, {At: 900 * ms, Text: "b"}}}
	row := func(cut string, e *record.Error, reply *record.Reply) *metric.Row {
		return set.Row(&record.Record{Start: 100 * ms, End: 900 * ms, WallOffset: 1e18, Cut: cut, Error: e}, reply, record.Counts{Input: 5, Output: 2, Reasoning: -1})
	}
	const begun = int64(1e18 + 100*ms)
	after := func(d int64, row *metric.Row, first int64) (requestState, int64) {
		one := requestState{start: begun, row: row}
		if row != nil {
			one.end = begun + d
		}
		if first > 0 {
			one.first = begun + first
		}
		return one, begun + d
	}
	cut := row("deadline", &record.Error{Type: "incomplete"}, nil)
	cut.Class = metric.Cut
	for name, c := range map[string]struct {
		row         *metric.Row
		first, now  int64
		value, from float64
	}{
		"finished":                             {row("", nil, answer), 50 * ms, 800 * ms, 50, .2},
		"failed":                               {row("", &record.Error{Type: "x"}, nil), 0, 800 * ms, math.Inf(1), math.Inf(1)},
		"cut after the limit, without content": {cut, 0, 800 * ms, math.Inf(1), .2},
		"cut after the limit, the content in time": {cut, 50 * ms, 800 * ms, 50, .2},
		"cut before the limit":                     {cut, 0, 100 * ms, math.NaN(), math.Inf(1)},
		"under way, the limit past":                {nil, 0, 300 * ms, math.Inf(1), .2},
		"under way, the content late":              {nil, 250 * ms, 300 * ms, 250, .2},
		"under way, the limit still to come":       {nil, 0, 100 * ms, math.NaN(), math.Inf(1)},
		"under way, the content before the limit":  {nil, 50 * ms, 300 * ms, 50, .2},
	} {
		one, now := after(c.now, c.row, c.first)
		v, at := o.judge(&one, now)
		if same := v == c.value || math.IsNaN(v) && math.IsNaN(c.value); !same || at != c.from {
			t.Errorf("%s: %v from %v on, want %v from %v", name, v, at, c.value, c.from)
		}
	}
}

// queue plays a server of one place that takes 10 ms for each request: Poisson arrivals wait in order. Its latency is below 100 ms for 90 % of
// requests 50 ms for 90 % of requests up to 76/s.
func queue(set *metric.Selection, tg *target, client func(rate float64) metric.ClientStats) runner {
	seed := uint64(0)
	return func(_ context.Context, b *config.Benchmark, _ *config.Seed, _ metric.RunInfo, _ string) (*metric.Run, error) {
		p := b.Profiling()
		stats, offered := metric.ClientStats{}, 0.0
		if p.Rate != nil {
			stats = client(*p.Rate)
			offered = *p.Rate * (1 - stats.GivenUp())
		}
		seed++
		r := rand.New(rand.NewPCG(seed, 1))
		reducer := set.NewReducer()
		now, free, n := 0.0, 0.0, 0
		for {
			if p.Rate != nil {
				now += r.ExpFloat64() / offered
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
			row.Meta.RequestID = strconv.Itoa(n)
			tg.observe.Observe(row)
			reducer.Add(row)
		}
		return &metric.Run{Profiling: reducer.Summary(metric.Window{}), Validity: &metric.Validity{ClientStats: stats}}, nil
	}
}

// searchedBy is a search of that queue by a client.
func searchedBy(t *testing.T, client func(rate float64) metric.ClientStats) (a *capacity.Answer, status int, dir, said string) {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	run := config.Default()
	run.Artifacts.Dir = t.TempDir()
	run.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency}}
	run.Datasets = []config.Dataset{{Type: config.DatasetSynthetic}}
	one, err := ParseObjective("request_latency:p90<50")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	tg := &target{invocation: invocation{Streams: Streams{Out: &out, Err: io.Discard}, ctx: t.Context(), run: run}, objectives: []Objective{one}}
	tg.runner = queue(set, tg, client)
	a, err = capacity.Find(t.Context(), tg, capacity.Options{Objectives: []capacity.Objective{one.Objective}, Start: 8, Precision: .07, Seconds: 900, Cells: 30, Size: 20, MaxLooks: 4})
	if err != nil {
		t.Fatal(err)
	}
	if status, err = tg.report(a, &CapacityOptions{}); err != nil {
		t.Fatal(err)
	}
	return a, status, run.Artifacts.Dir, out.String()
}

// sending is a client that gave up a share of its schedule.
func sending(lost float64) metric.ClientStats {
	return metric.ClientStats{ScheduleStats: metric.ScheduleStats{OpenLoop: true, RateSeconds: 10, Reanchors: 7, ReanchorLost: time.Duration(lost * 1e10), OwnLagP99: 60 * time.Millisecond}}
}

// TestFindCapacity: a queue with a known service rate; the answer, its sentence and its file. A client whose machine pauses for 4 % of every cell
// finds the same. Latency of a long simulation of this queue is below 50 ms for 90 % of requests up to 76/s.
func TestFindCapacity(t *testing.T) {
	testhome.Slow(t)
	for name, client := range map[string]func(float64) metric.ClientStats{
		"kept": func(float64) metric.ClientStats { return metric.ClientStats{} }, "paused": func(float64) metric.ClientStats { return sending(.04) },
	} {
		a, status, dir, said := searchedBy(t, client)
		if a.Why != capacity.Settled || a.Capacity < 0.9*76 || a.Capacity > 1.1*76 || a.Low > 76 || a.High < 76 || a.Ceiling != 0 {
			t.Errorf("%s: %+v", name, a)
		}
		if status != 0 || !strings.Contains(said, "requests/s meet request_latency p90 < 50 ms (90 % interval") {
			t.Errorf("%s: %d %s", name, status, said)
		}
		text, err := os.ReadFile(filepath.Join(dir, "capacity.json"))
		if err != nil || !strings.Contains(string(text), `"why": "settled"`) || (name == "paused") != strings.Contains(string(text), `"client_lost": 0.04`) {
			t.Errorf("%s: %.200s %v", name, text, err)
		}
		if answer := runfiles.CapacityAnswer(dir); !strings.HasPrefix(answer, "Capacity: "+terminal.Figure(a.Capacity)+" requests/s meet") || !strings.Contains(said, "\n"+answer+"\n") {
			t.Errorf("%s: the file answers %q, the terminal %s", name, answer, said)
		}
	}
}

// TestFindCapacityLimited: a client that uses up its cores above 40 requests/s, or gives up a part of the schedule there that grows with the load,
// is the limit: a bound that it kept, status 4, and no capacity.
func TestFindCapacityLimited(t *testing.T) {
	for name, client := range map[string]func(float64) metric.ClientStats{
		"cores": func(rate float64) metric.ClientStats { return metric.ClientStats{CPUShare: min(1, .92*rate/40)} },
		"late":  func(rate float64) metric.ClientStats { return sending(max(0, 1-40/rate)) },
	} {
		a, status, _, said := searchedBy(t, client)
		if a.Why != capacity.Client || a.Capacity != 0 || a.AtLeast < .85*40 || a.AtLeast > 40.01 || a.Ceiling > 45 {
			t.Errorf("%s: %+v", name, a)
		}
		if status != bound || !strings.Contains(said, "this client could not keep the schedule. Higher loads were not measured") {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
}

// TestCapacitySentences: an answer that rests on the model alone is not stated as a capacity or as a lower bound.
func TestCapacitySentences(t *testing.T) {
	below := capacity.Evidence{N: 949, Bad: .084, Allowed: .05, Highest: 10.64}
	for _, c := range []struct {
		answer capacity.Answer
		status int
		want   string
	}{
		{capacity.Answer{Why: capacity.NotMet, Binding: "ttft p95 < 150 ms", Below: below}, notMet,
			"Not met even at low loads: 8.4 % of 949 requests at up to 10.6 requests/s missed ttft p95 < 150 ms (allowed: 5 %)."},
		{capacity.Answer{Why: capacity.NotMet, Binding: "ttft p95 < 150 ms"}, notMet, "Not met even with one user: ttft p95 < 150 ms."},
		{capacity.Answer{Why: capacity.Unproven, Binding: "ttft p95 < 150 ms", Below: below}, bound,
			"No result: not even low loads clearly met ttft p95 < 150 ms. 8.4 % of 949 requests at up to 10.6 requests/s missed it (allowed: 5 %). Search again with a cell size of 40."},
		{capacity.Answer{Why: capacity.Unsteady, Binding: "ttft p95 < 150 ms"}, bound,
			"No result: the server changed during the search. It missed ttft p95 < 150 ms at loads that had met it before (see the steps in capacity.json). Wait until the server is steady, and search again."},
		{capacity.Answer{Why: capacity.Many, Binding: "ttft p95 < 150 ms", Capacity: 11, High: 20.4, Seconds: 340}, bound,
			"Not precise enough after 0 cells, 5 min 40 s: below 20.4 requests/s. No lower load has clearly met ttft p95 < 150 ms."},
		{capacity.Answer{Why: capacity.Many, Binding: "ttft p95 < 150 ms", Capacity: 11, Low: 8, High: 20.4, Seconds: 340}, bound,
			"Not precise enough after 0 cells, 5 min 40 s: between 8.00 and 20.4 requests/s."},
		{capacity.Answer{Why: capacity.Settled, Binding: "ttft p95 < 150 ms", Capacity: 31, Low: 28, High: 33, Seconds: 34}, 0,
			"Capacity: 31.0 requests/s meet ttft p95 < 150 ms (90 % interval 28.0 to 33.0). 0 cells, 34 s."},
	} {
		if got, status := new(target).sentence(&c.answer, &CapacityOptions{Size: 10}); got != c.want || status != c.status {
			t.Errorf("%d %q\nwant %d %q", status, got, c.status, c.want)
		}
	}
}
