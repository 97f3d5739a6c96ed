package metric

import (
	"math"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// TestCurvesOfParts: curves that are built in several parts of the run have the statistics of those that are built at once.
func TestCurvesOfParts(t *testing.T) {
	set := newSelection(t, chat)
	rapid.Check(t, func(t *rapid.T) {
		r := set.NewReducer()
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			addDrawn(t, r)
		}
		span := r.Span()
		middle := rapid.Int64Range(span.From, span.To).Draw(t, "middle")
		buckets := []bucket{{window: span}, {window: Window{span.From, middle}}, {window: Window{middle, span.To}}, {window: Window{middle, middle}}}
		whole, parts := r.curvesOfParts(buckets, 1<<30), r.curvesOfParts(buckets, rapid.IntRange(1, 40).Draw(t, "steps"))
		for i := range buckets {
			if len(whole[i]) != len(parts[i]) {
				t.Fatalf("bucket %d: %d curves, want %d", i, len(parts[i]), len(whole[i]))
			}
			for tag, want := range whole[i] {
				checkWeighted(t, tag, parts[i][tag], want)
			}
		}
	})
}

// checkWeighted compares the statistics of a curve with those of the curve built at once. The rests of rounding, which count as 0, depend on the largest
// value so far.
func checkWeighted(t *rapid.T, tag string, got, want stats.TimeWeighted) {
	near := func(a, b, by float64) bool { return math.Abs(a-b) <= by*want.Max }
	for _, p := range [][2]float64{{got.P50, want.P50}, {got.P90, want.P90}, {got.P95, want.P95}, {got.P99, want.P99}} {
		if !near(p[0], p[1], 1e-4) {
			t.Errorf("%s: percentile %v, want %v", tag, p[0], p[1])
		}
	}
	if !near(got.Avg, want.Avg, 1e-9) || !near(got.Min, want.Min, 1e-9) || !near(got.Max, want.Max, 1e-9) || !near(got.Std, want.Std, 1e-6) {
		t.Errorf("%s: %+v, want %+v", tag, got, want)
	}
}

// addDrawn adds a request of up to 20 messages.
func addDrawn(t *rapid.T, r *Reducer) {
	rec := &record.Record{Start: ms(100) + rapid.Int64Range(0, 1e9).Draw(t, "start"), WallOffset: 1_800_000_000_000_000_000, Trace: &record.Trace{}}
	reply := &record.Reply{PerChunkTokens: -1}
	at := rec.Start
	for k := range rapid.IntRange(0, 20).Draw(t, "messages") {
		at += rapid.SampledFrom([]int64{0, 1e5, 1e6, 3e6, 400e6}).Draw(t, "gap")
		rec.Messages = append(rec.Messages, record.Message{At: at})
		reply.Contents = append(reply.Contents, record.Content{At: at, Text: "a", Message: k})
	}
	rec.End = at + rapid.SampledFrom([]int64{1e5, 2e6}).Draw(t, "end")
	add(r, rec, reply, record.Counts{Input: 9, Output: max(1, len(reply.Contents)), Reasoning: -1})
}

// TestMemoryOfASummary: a summary of a long run takes memory for a part of it, not for every token.
func TestMemoryOfASummary(t *testing.T) {
	testhome.Slow(t)
	if testhome.RaceDetector {
		t.Skip("one goroutine; the detector takes memory, too")
	}
	r := newSelection(t, chat).NewReducer()
	const requests, messages = 10_000, 300
	for i := range requests {
		rec := &record.Record{Start: ms(float64(i)), End: ms(float64(i) + 2*messages), WallOffset: 1_800_000_000_000_000_000, Trace: &record.Trace{}}
		reply := &record.Reply{PerChunkTokens: -1}
		for k := range messages {
			at := ms(float64(i)+float64(k)) + int64(i*7919+k*104729)%1e6
			rec.Messages = append(rec.Messages, record.Message{At: at, UncertainNs: 1})
			reply.Contents = append(reply.Contents, record.Content{At: at, Text: "a", Message: k})
		}
		add(r, rec, reply, record.Counts{Input: 9, Output: messages, Reasoning: -1})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.Summary(Window{})
	runtime.ReadMemStats(&after)
	if each := float64(after.TotalAlloc-before.TotalAlloc) / (requests * messages); each > 64 {
		t.Errorf("%.0f bytes for each token, more than 64", each)
	} else {
		t.Logf("%.0f bytes for each token", each)
	}
}
