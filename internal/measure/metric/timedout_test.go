package metric

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/record"
)

// timedOutRequest is a request that starts at 100 ms and runs into a timeout of 5 s, with a first token at 150 ms if it has any. Unless it was sent, it
// waited for a connection.
func timedOutRequest(token, sent bool) (*record.Record, *record.Reply) {
	rec, reply := streamed(0, 150)
	rec.End, rec.Error = ms(5100), &record.Error{Type: record.ClientTimeout, Message: "the request timeout of 5s passed"}
	rec.Trace = &record.Trace{}
	if sent {
		rec.Trace.SendStart = rec.Start
	}
	if !token {
		reply = nil
	}
	return rec, reply
}

// TestTimedOutRequests: requests that ran into the client's timeout are as slow as that at least. If they are enough to change a judged figure, the verdict
// says so and the figure has no upper limit; otherwise a note says that they are missing.
func TestTimedOutRequests(t *testing.T) {
	for _, c := range []struct {
		name          string
		valid, late   int
		token, sent   bool
		verdict       Verdict
		ttft, latency float64 // least value of its p99, 0 = it is exact
		reason, note  string
	}{
		{"no token for 5 s", 97, 3, false, true, VerdictUncertain, 5000, 5000,
			"3 of 100 requests ran into the client's timeout after up to 5.00 s, and no latency includes them. With them, these figures would be larger: TTFT (avg at least 198 ms, p99 at least 5,000 ms) and request latency (avg at least 237 ms, p99 at least 5,000 ms). A longer --request-timeout-seconds shows how long the requests that timed out take.", ""},
		{"a token, but not the rest", 97, 3, true, true, VerdictUncertain, 0, 5000, "no latency includes them. With them, these figures would be larger: request latency (avg at least 237 ms, p99 at least 5,000 ms).", ""},
		{"one of many", 19999, 1, false, true, VerdictValid, 0, 0, "", "1 of 20,000 requests ran into the client's timeout after up to 5.00 s, and no latency includes them. The slowest would be at least that slow."},
		{"never sent", 97, 3, false, false, VerdictValid, 0, 0, "", "3 of 100 requests ran into the client's timeout, and no latency includes them."},
	} {
		r := newSelection(t, chat).NewReducer()
		for range c.valid {
			rec, reply := streamed(0, 150, 190)
			add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
		}
		for range c.late {
			rec, reply := timedOutRequest(c.token, c.sent)
			row, err := r.set.ReadRow(r.set.Row(rec, reply, record.Counts{}).Append(nil)) // as another machine sends it
			if err != nil {
				t.Fatal(err)
			}
			r.Add(row)
		}
		s := r.Summary(Window{})
		value(t, s, "request_latency", P99, 90) // as the Python tool computes it
		e := calm()
		e.Valid, e.Failed, e.TimeoutUse = s.Valid, s.Failed, s.TimeoutUse
		v := Assess(e, s, setting.Spell(func(key string) string {
			return map[string]string{"endpoint.timeout": "--request-timeout-seconds"}[key]
		}))
		notes := strings.Join(v.Notes, "\n")
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.reason) || !strings.Contains(notes, c.note) || (c.note == "") != !strings.Contains(notes, "timeout") {
			t.Errorf("%s: %s\n%q", c.name, v.Sentence(), v.Notes)
		}
		for tag, least := range map[string]float64{"time_to_first_token": c.ttft, "request_latency": c.latency} {
			stated := s.Value(tag, P99)
			want := Range{stated, stated}
			if least > 0 {
				want = Range{least, math.Inf(1)}
			}
			if got := v.Bounds.Of(tag, P99, stated); got != want {
				t.Errorf("%s: p99 of %s: %v, want %v", c.name, tag, got, want)
			}
		}
		if c.verdict == VerdictUncertain && v.Short() != "uncertain: 3 of 100 requests timed out" {
			t.Errorf("%s: %q", c.name, v.Short())
		}
	}
}

// TestTimedOutAndCut: the verdict names both kinds of requests without an answer.
func TestTimedOutAndCut(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for range 20 {
		rec, reply := streamed(0, 150, 190)
		add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
	}
	rec, reply := timedOutRequest(true, true)
	add(r, rec, reply, record.Counts{})
	rec, reply = cutRequest(4100, true, "")
	add(r, rec, reply, record.Counts{})
	s := r.Summary(Window{})
	e := calm()
	e.Valid, e.Failed, e.CutUse, e.TimeoutUse, e.CancelledByUser = s.Valid, s.Failed, s.CutUse, s.TimeoutUse, true
	v := Assess(e, s, nil)
	const want = "The end of the run cut off 1 of 22 requests, after up to 4.00 s. 1 of 22 requests ran into the client's timeout after up to 5.00 s, and no latency includes them. " +
		"With them, these figures would be larger: request latency (avg at least 491 ms, p99 at least 4,790 ms)."
	if v.Verdict != VerdictUncertain || !strings.HasPrefix(v.Reason, want) {
		t.Errorf("%s", v.Sentence())
	}
}

// TestWaitIsProven: a request that was given up waited no longer than until bytes arrived that came too late to count.
func TestWaitIsProven(t *testing.T) {
	rec, reply := timedOutRequest(false, true)
	rec.Trace.SendUncertainNs, rec.Trace.EndUncertainNs = ms(10), ms(1500)
	if got := waitOf(rec, reply); math.Abs(got.answer-3490e6) > 10 || got.first != got.answer {
		t.Errorf("%+v of a request that waited 5 s, of which 1.51 s are not proven", got)
	}
}
