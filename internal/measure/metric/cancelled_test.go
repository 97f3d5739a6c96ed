package metric

import (
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/record"
)

// TestCancelledSlowRequests: a request that was cancelled after a delay is as slow as that at least, because a fast one finishes before. If such requests
// change a judged figure, the verdict says so. Requests cancelled at once say nothing about speed.
func TestCancelledSlowRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		delay  float64 // ms from the start to the cancellation
		sent   bool
		least  float64 // least value of the p50 of the latency, 0 = it is exact
		reason string
	}{
		{"after the fast ones", 200, true, 200, "55 of 100 requests were cancelled after up to 200 ms, as the configuration asks, and no latency includes them. With them, these figures would be larger: TTFT (avg"},
		{"at once", 0, true, 0, ""},
		{"never sent", 200, false, 0, ""},
	} {
		r := newSelection(t, chat).NewReducer()
		for range 45 {
			rec, reply := streamed(0, 150, 190)
			add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
		}
		for range 55 {
			rec, _ := streamed(0, 150)
			rec.End, rec.Error, rec.Trace = rec.Start+ms(c.delay), &record.Error{Code: 499, Type: record.PlannedCancellation}, &record.Trace{}
			if c.sent {
				rec.Trace.SendStart = rec.Start
			}
			row, err := r.set.ReadRow(r.set.Row(rec, nil, record.Counts{}).Append(nil)) // as another machine sends it
			if err != nil {
				t.Fatal(err)
			}
			r.Add(row)
		}
		s := r.Summary(Window{})
		value(t, s, "request_latency", P50, 90) // as the Python tool computes it
		e := calm()
		e.Valid, e.Failed, e.Planned, e.CancelUse = s.Valid, s.Failed, s.PlannedCancellations(), s.CancelUse
		v := Assess(e, s, setting.Spell(func(key string) string { return "--" + key }))
		want, verdict := Range{90, 90}, VerdictValid
		if c.least > 0 {
			want, verdict = Range{c.least, math.Inf(1)}, VerdictUncertain
		}
		if got := v.Bounds.Of("request_latency", P50, 90); v.Verdict != verdict || math.Abs(got.Low-want.Low) > 1e-3 || got.High != want.High || !strings.HasPrefix(v.Reason, c.reason) {
			t.Errorf("%s: %s, p50 %v, want %v", c.name, v.Sentence(), got, want)
		}
		if c.least > 0 && (v.Short() != "uncertain: 55 of 100 requests cancelled" || !strings.Contains(v.Reason, "within --phases.profiling.cancellation.delay are never cancelled")) {
			t.Errorf("%s: %q", v.Short(), v.Reason)
		}
	}
}

// TestCancelledBesideCut: cancelled requests and requests that were cut off are both named if the waits matter.
func TestCancelledBesideCut(t *testing.T) {
	list := []understatement{{"request_latency", P99, 4000}}
	for wait, want := range map[int64]bool{10: false, 4000: true} {
		e := ClientStats{Planned: 3, CutUse: CutUse{CutCount: 1}}
		e.CancelWaited = time.Duration(wait) * time.Millisecond
		if got := strings.Contains(e.unansweredClause(list), "3 of 1 request"); got != want {
			t.Errorf("a wait of %d ms: named %t", wait, got)
		}
	}
}
