package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// fail is a failed request that starts at 100 ms.
func failed(code int, kind, message string) (*record.Record, *record.Reply) {
	rec, _ := streamed(0, 150)
	rec.Error = &record.Error{Code: code, Type: kind, Message: message}
	return rec, &record.Reply{PerChunkTokens: -1}
}

func add(r *Reducer, rec *record.Record, reply *record.Reply, c record.Counts) {
	r.Add(r.set.Row(rec, reply, c))
}

func value(t *testing.T, s *Summary, tag string, stat Stat, want float64) {
	t.Helper()
	if got := s.Value(tag, stat); !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s %s is %v, not %v", tag, stat, got, want)
	}
}

func none(t *testing.T, s *Summary, tags ...string) {
	t.Helper()
	for _, tag := range tags {
		if r, ok := s.Get(tag); ok {
			t.Errorf("%s is %v, should be absent", tag, r.Values)
		}
	}
}

// TestSummary: classes go where they belong, rates divide by the duration of the valid requests.
func TestSummary(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, end := range []float64{160, 200, 300} { // latencies 60, 100, 200 ms
		rec, reply := streamed(0, 150, end)
		add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
	}
	rec, reply := failed(400, "Bad Request", "This model's maximum context length is 8 tokens")
	add(r, rec, reply, record.Counts{Input: 99, Output: -1, Reasoning: -1})
	rec, reply = failed(499, "RequestCancellationError", "cut")
	rec.Cut, rec.CancelledAt = "deadline", rec.End
	add(r, rec, reply, record.Counts{Input: 7, Output: -1, Reasoning: -1})
	s := r.Summary(Window{})
	if s.Valid != 3 || s.Failed != 1 || s.Cut != 1 || len(s.Errors) != 1 || s.Errors[0].Count != 1 {
		t.Errorf("%+v", s)
	}
	value(t, s, "request_count", Avg, 3)
	value(t, s, "error_request_count", Avg, 1)
	value(t, s, "completed_request_count", Avg, 4)
	value(t, s, "request_error_rate", Avg, 25)
	value(t, s, "context_overflow_count", Avg, 1)
	value(t, s, "cut_request_count", Avg, 1)
	value(t, s, "benchmark_duration", Avg, 0.2)
	value(t, s, "request_throughput", Avg, 15)
	value(t, s, "output_token_throughput", Avg, 60)
	value(t, s, "total_token_throughput", Avg, 210)
	value(t, s, "total_error_isl", Avg, 99)
	value(t, s, "total_isl", Avg, 30)
	value(t, s, "request_latency", Avg, 120)
	value(t, s, "request_latency", P50, 100)
	value(t, s, "request_latency", P90, 180)
	value(t, s, "request_latency", Std, 58.878405775519)
	value(t, s, "request_latency", Count, 3)
	value(t, s, "request_latency", Sum, 360)
	value(t, s, "inter_chunk_latency", Count, 3)
	value(t, s, "adj_request_latency", P50, 200) // position 1.5, to the even one: the third of four
	value(t, s, "adj_request_latency", Count, 4)
	if a, _ := s.Get("adj_request_latency"); a.Has(P99) || a.Has(Avg) || a.Has(Std) || a.Has(Sum) || a.Has(Max) {
		t.Errorf("statistics that failures make infinite: %v", a.Values)
	}
	none(t, s, "goodput", "usage_prompt_tokens", "reasoning_token_count", "osl_mismatch_count")
}

// TestSummaryEmpty: nothing valid, nothing at all.
func TestSummaryEmpty(t *testing.T) {
	o := chat
	o.Goodput = "request_latency:5"
	set := newSelection(t, o)
	r := set.NewReducer()
	s := r.Summary(Window{})
	none(t, s, "request_count", "request_throughput", "effective_concurrency", "request_error_rate")
	rec, reply := failed(500, "X", "boom")
	add(r, rec, reply, record.Counts{Input: 3, Output: -1, Reasoning: -1})
	s = r.Summary(Window{})
	none(t, s, "request_count", "request_throughput", "benchmark_duration", "adj_request_latency", "request_latency")
	value(t, s, "error_request_count", Avg, 1)
	value(t, s, "good_request_count", Avg, 0)
	value(t, s, "goodput", Avg, 0)
	value(t, s, "good_request_fraction", Avg, 0)
}

// TestErrorsAreGrouped by code, type and message, the most frequent first.
func TestErrorsAreGrouped(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, e := range []struct {
		code    int
		message string
		n       int
	}{{500, "a", 1}, {500, "b", 3}, {429, "b", 2}} {
		for range e.n {
			rec, reply := failed(e.code, "X", e.message)
			add(r, rec, reply, record.Counts{Input: -1, Output: -1, Reasoning: -1})
		}
	}
	var got []string
	for _, g := range r.Summary(Window{}).Errors {
		got = append(got, fmt.Sprint(g.Count, g.Error.Code, g.Error.Message))
	}
	if fmt.Sprint(got) != "[3 500b 2 429b 1 500a]" {
		t.Error(got)
	}
}

// TestCurves: two overlapping requests, by hand.
func TestCurves(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, c := range []struct{ start, first, last, end float64 }{{0, 10, 30, 40}, {20, 40, 60, 60}} {
		rec := &record.Record{Start: ms(c.start), End: ms(c.end), WallOffset: 1_800_000_000_000_000_000}
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: ms(c.first), Text: "a"}, {At: ms(c.last), Text: "b"}}}
		add(r, rec, reply, record.Counts{Input: 100, Output: 5, Reasoning: -1})
	}
	base := int64(1_800_000_000_000_000_000) + 1
	s := r.Summary(Window{base, base + 80e6})
	value(t, s, "effective_concurrency", Avg, 1) // 40 + 40 of 80 ms
	value(t, s, "effective_concurrency", Max, 2)
	value(t, s, "effective_concurrency", P50, 1)
	value(t, s, "effective_prefill_concurrency", Avg, 30.0/80)
	value(t, s, "effective_decode_concurrency", Avg, 50.0/80)
	value(t, s, "effective_prefill_throughput", Avg, 200/0.08)
	value(t, s, "active_prefill_throughput", Avg, 200/0.03)
	value(t, s, "effective_decode_throughput", Avg, 8/0.08) // 4 tokens in the gap of either
	value(t, s, "active_decode_throughput", Avg, 8/0.05)
	value(t, s, "effective_total_throughput", Avg, 208/0.08)
	value(t, s, "tokens_in_flight", Max, 205) // both prompts and the whole first answer
	if res, _ := s.Get("effective_concurrency"); res.Has(Sum) || res.Has(P25) || res.Has(Count) {
		t.Error("a curve has statistics of a distribution")
	}
}

// TestCurvesWithoutStreaming: if nothing is known about the first tokens, the curves of prefill and decoding are absent, not 0. If answers have no tokens,
// such as embeddings, they are 0.
func TestCurvesWithoutStreaming(t *testing.T) {
	curves := []string{"effective_total_throughput", "active_total_throughput", "effective_prefill_concurrency", "effective_prefill_throughput",
		"active_prefill_throughput", "effective_decode_concurrency", "effective_decode_throughput", "active_decode_throughput",
		"effective_decode_throughput_per_user", "tokens_in_flight"}
	for tokens, opts := range map[int]Options{5: {ProducesTokens: true, TokenizesInput: true}, -1: {TokenizesInput: true}} {
		r := newSelection(t, opts).NewReducer()
		rec, reply := streamed(0, 140)
		add(r, rec, reply, record.Counts{Input: 100, Output: tokens, Reasoning: -1})
		base := rec.Start + rec.WallOffset
		s := r.Summary(Window{base, base + 180e6})
		value(t, s, "effective_concurrency", Avg, 0.5)
		if tokens > 0 {
			none(t, s, curves...)
			continue
		}
		for _, tag := range curves {
			value(t, s, tag, Avg, 0)
		}
	}
}

// TestSlices: a request belongs to the slice in which it starts.
func TestSlices(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, start := range []float64{0, 90, 100, 350} {
		rec := &record.Record{Start: ms(start), End: ms(start + 60), WallOffset: 1_800_000_000_000_000_000}
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: ms(start + 20), Text: "a"}, {At: ms(start + 50), Text: "b"}}}
		add(r, rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1})
	}
	slices := r.Slices(0.1)
	want := []struct {
		index    int
		n        float64
		complete bool
		rate     float64
	}{{0, 2, true, 20}, {1, 1, true, 10}, {3, 1, true, 10}}
	if len(slices) != len(want) {
		t.Fatalf("%d slices, not %d", len(slices), len(want))
	}
	for i, w := range want {
		s := slices[i]
		if s.Index != w.index || s.Complete != w.complete || s.Window.To-s.Window.From != 100e6 {
			t.Errorf("slice %d: %+v", i, s)
		}
		value(t, s.Summary, "request_count", Avg, w.n)
		value(t, s.Summary, "request_throughput", Avg, w.rate)
		none(t, s.Summary, "effective_latency", "credit_to_start_latency")
	}
	last := r.Slices(0.3)
	if n := len(last); n != 2 || last[1].Complete || last[1].Window.To-last[1].Window.From != 110e6 {
		t.Errorf("last slice: %+v", last[n-1])
	}
	value(t, last[1].Summary, "request_throughput", Avg, 1/0.11)
}

// TestThresholds: a threshold of 0 counts every difference, none given means the defaults.
func TestThresholds(t *testing.T) {
	for _, tt := range []struct {
		limits          *Thresholds
		usage, mismatch float64
	}{
		{nil, 1, 1},
		{&Thresholds{}, 2, 2},
		{&Thresholds{UsagePct: 60, OSLPct: 100, OSLTokens: 50}, 0, 0},
		{&Thresholds{UsagePct: 10, OSLPct: 100, OSLTokens: 2}, 1, 1},
	} {
		o := chat
		o.Thresholds = tt.limits
		r := newSelection(t, o).NewReducer()
		for _, n := range []int64{100, 104, 150} { // we count 100, and 100 were asked for
			rec, reply := streamed(0, 150, 160)
			rec.MaxTokens = 100
			reply.Usage = parsedUsage(100, n)
			add(r, rec, reply, record.Counts{Input: 100, Output: 100, Reasoning: -1})
		}
		for _, n := range []int{101, 150} {
			rec, reply := streamed(0, 150, 160)
			rec.MaxTokens = 100
			add(r, rec, reply, record.Counts{Input: 100, Output: n, Reasoning: -1})
		}
		s := r.Summary(Window{})
		value(t, s, "usage_discrepancy_count", Avg, tt.usage)
		value(t, s, "osl_mismatch_count", Avg, tt.mismatch)
	}
}

// parsedUsage is a usage object with two counts.
func parsedUsage(prompt, completion int64) *record.Usage {
	return &record.Usage{Prompt: prompt, Completion: completion, Total: -1, Reasoning: -1, CacheRead: -1, CacheWrite: -1, CacheMiss: -1,
		PromptAudio: -1, CompletionAudio: -1, ToolUsePrompt: -1, AcceptedPrediction: -1, RejectedPrediction: -1, PromptAudioSeconds: -1}
}

// TestSlicesOfANanosecond: the grid may be much finer than the run is long; only slices with a request exist.
func TestSlicesOfANanosecond(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, start := range []float64{0, 4000, 90_000} { // 90 s are more ns than an int32 holds
		rec, reply := streamed(0, 150)
		rec.Start += ms(start)
		rec.End += ms(start)
		for i := range reply.Contents {
			reply.Contents[i].At += ms(start)
		}
		add(r, rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1})
	}
	for _, seconds := range []float64{1e-9, 1e-12} {
		list := r.Slices(seconds)
		if len(list) != 3 || list[1].Index != 4_000_000_000 || list[2].Index != 90_000_000_000 {
			t.Fatalf("slices of %v s: %+v", seconds, list)
		}
		if w := list[2].Window; w.To-w.From != 1 {
			t.Errorf("window %+v", w)
		}
		value(t, list[2].Summary, "request_count", Avg, 1)
	}
	if list := r.Slices(1e300); len(list) != 1 || list[0].Complete {
		t.Errorf("one endless slice: %+v", list)
	}
}

// TestOrder: results do not depend on the order of the rows.
func TestOrder(t *testing.T) {
	set := newSelection(t, chat)
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []*Row
	for i := range 500 {
		first := 100 + rng.Float64()*50
		rec, reply := streamed(0, first, first+rng.Float64()*10, first+20)
		rec.Start = ms(rng.Float64() * 100)
		rec.RequestID = fmt.Sprint(i)
		if i%7 == 0 {
			rec.Error = &record.Error{Type: "X"}
		}
		rows = append(rows, set.Row(rec, reply, record.Counts{Input: 10, Output: 1 + i%9, Reasoning: -1}))
	}
	run := func() *Summary {
		r := set.NewReducer()
		for _, row := range rows {
			r.Add(row)
		}
		return r.Summary(Window{})
	}
	a := run()
	rng.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	b := run()
	for i, x := range a.Results {
		for s := Avg; s < Stats; s++ {
			if y := b.Results[i]; x.Tag != y.Tag || x.Has(s) != y.Has(s) || x.Has(s) && math.Abs(x.Values[s]-y.Values[s]) > 1e-9*math.Abs(x.Values[s]) {
				t.Errorf("%s %s: %v, then %v", x.Tag, s, x.Values[s], y.Values[s])
			}
		}
	}
}

// fill makes n streamed requests of 5 messages with socket instants.
func fill(set *Selection, n int) *Reducer {
	r := set.NewReducer()
	r.fill(n)
	return r
}

func (r *Reducer) fill(n int) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		at := float64(i) / 10
		rec := &record.Record{Start: ms(at), Issued: ms(at), Intended: ms(at), End: ms(at + 60), Ack: ms(at + 5), WallOffset: 1_800_000_000_000_000_000}
		rec.MaxTokens = 8
		rec.Trace = &record.Trace{Reused: ms(at), SendStart: ms(at + 0.01), SendEnd: ms(at + 0.02), FirstChunk: ms(at + 5), LastChunk: ms(at + 60), BytesSent: 900 + i%100, ChunksSent: 1, BytesReceived: 4000, ChunksReceived: 6, Reads: 6, ReadDelayMax: int64(rng.IntN(40000))}
		reply := &record.Reply{PerChunkTokens: -1, Usage: &record.Usage{Prompt: 20, Completion: 8, Total: 28, Reasoning: -1, CacheRead: -1, CacheWrite: -1, CacheMiss: -1, PromptAudio: -1, CompletionAudio: -1, ToolUsePrompt: -1, AcceptedPrediction: -1, RejectedPrediction: -1, PromptAudioSeconds: -1}}
		for k := range 5 {
			reply.Contents = append(reply.Contents, record.Content{At: ms(at + 10 + 10*float64(k) + rng.Float64()), Text: "a"})
		}
		r.Add(r.set.Row(rec, reply, record.Counts{Input: 20, Output: 8, Reasoning: -1}))
	}
}

// TestSummaryFromAFile: values that are kept in a file give the summary of those in memory.
func TestSummaryFromAFile(t *testing.T) {
	set := newSelection(t, chat)
	rows := 50_000
	if testhome.RaceDetector {
		rows = 5000
	}
	want, kept := fill(set, rows), set.NewReducer()
	kept.KeepIn(stats.NewStore(t.TempDir(), 0))
	kept.fill(rows)
	figures := func(r *Reducer) string { s := r.Summary(Window{}); return fmt.Sprint(s.Results, s.Bounds, s.Certainty) }
	if a, b := figures(kept), figures(want); a != b || len(a) < 5000 {
		t.Errorf("%s, want %s", a, b)
	}
	if a, b := heapOf(kept), heapOf(want); a > b/2 && !testhome.RaceDetector { // the detector takes memory, too
		t.Errorf("%d bytes in memory, %d without a file", a, b)
	}
}

// TestSummaryOfManyValues: columns that are not copied have the figures of sorted ones, with and without failed requests.
func TestSummaryOfManyValues(t *testing.T) {
	defer func(n int) { manyValues = n }(manyValues)
	for _, failures := range []int{0, 3} {
		r := newSelection(t, chat).NewReducer()
		r.fill(5000)
		for range failures {
			rec, reply := failed(500, "E", "x")
			add(r, rec, reply, record.Counts{Input: 1, Output: -1, Reasoning: -1})
		}
		manyValues = math.MaxInt
		want := r.Summary(Window{})
		manyValues = 100
		got := r.Summary(Window{})
		if len(got.Results) != len(want.Results) || len(got.Results) < 20 {
			t.Fatalf("%d results, want %d", len(got.Results), len(want.Results))
		}
		for i, w := range want.Results {
			for k, v := range w.Values {
				if g := got.Results[i].Values[k]; !(math.Abs(g-v) <= 1e-12*math.Abs(v)) && !(math.IsNaN(g) && math.IsNaN(v)) {
					t.Errorf("%d failures, %s: %v is %v, want %v", failures, w.Metric.Tag, k, g, v)
				}
			}
		}
	}
}

// heapOf returns the memory that a reducer holds.
func heapOf(r *Reducer) (bytes uint64) {
	all := heap()
	*r = Reducer{}
	return all - heap()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemory: a request costs few bytes, so that millions fit.
func TestMemory(t *testing.T) {
	set := newSelection(t, chat)
	before := heap()
	const n = 50_000
	r := fill(set, n)
	each := float64(heap()-before) / n
	runtime.KeepAlive(r)
	t.Logf("%.0f bytes a request of 5 messages", each)
	if each > 400 {
		t.Errorf("%.0f bytes a request, more than 400", each)
	}
}

func BenchmarkRow(b *testing.B) {
	b.ReportAllocs()
	fill(newSelection(b, chat), b.N)
}

func BenchmarkSummary(b *testing.B) {
	r := fill(newSelection(b, chat), 200_000)
	for b.Loop() {
		r.Summary(Window{})
	}
}

func TestErrorGroupsAreBounded(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	const n = maxErrorGroups + 500
	for i := range n {
		rec, reply := failed(500, "X", fmt.Sprintf("request %d broke", i))
		add(r, rec, reply, record.Counts{Input: -1, Output: -1, Reasoning: -1})
	}
	groups := r.Summary(Window{}).Errors
	if len(groups) != maxErrorGroups+1 {
		t.Fatalf("%d groups", len(groups))
	}
	if first := groups[0]; first.Count != 500 || first.Error.Message != otherMessages || first.Error.Code != 500 {
		t.Errorf("the rest is %+v", first)
	}
}
