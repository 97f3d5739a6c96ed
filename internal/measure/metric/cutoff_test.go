package metric

import (
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/record"
)

// cutRequest is a request that starts at 100 ms and is cut off at an instant, with a first token at 150 ms if it has any.
func cutRequest(at float64, token bool, finish string) (*record.Record, *record.Reply) {
	rec, reply := streamed(0, 150)
	rec.End, rec.Cut, rec.Error = ms(at), "the end of the run", &record.Error{Code: 499, Type: "RequestCancellationError"}
	if reply.FinishReason = finish; !token {
		reply = nil
	}
	return rec, reply
}

// TestCutRequests: requests that the end of the run cut off after longer than the others took make a run uncertain, and their figures have no upper
// limit. Requests that were cut off earlier only give a note.
func TestCutRequests(t *testing.T) {
	for _, c := range []struct {
		name           string
		at             float64
		token          bool
		finish         string
		verdict        Verdict
		ttft, latency  bool // whether its p99 is open
		reason, inNote string
	}{
		{"no token for 4 s", 4100, false, "", VerdictUncertain, true, true,
			"The end of the run cut off 2 of 22 requests, after up to 4.00 s. With them, these figures would be larger: TTFT (avg at least 409 ms, p99 at least 4,000 ms) and request latency (avg at least 445 ms, p99 at least 4,000 ms). A longer --benchmark-grace-period waits for their answers.",
			"2 of 22 requests were cut off at the end of the run, after up to 4.00 s."},
		{"a token, then 4 s without the rest", 4100, true, "", VerdictUncertain, false, true, "With them, these figures would be larger: request latency (avg at least 445 ms, p99", "2 of 22"},
		{"only the end of the stream is missing", 4100, true, "stop", VerdictValid, false, false, "", "2 of 22 requests were cut off at the end of the run. No metric"},
		{"shorter than the others", 180, true, "", VerdictValid, false, false, "", "2 of 22 requests were cut off at the end of the run, after up to 80 ms."},
	} {
		r := newSelection(t, chat).NewReducer()
		for range 20 {
			rec, reply := streamed(0, 150, 190)
			add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
		}
		for range 2 {
			rec, reply := cutRequest(c.at, c.token, c.finish)
			row, err := r.set.ReadRow(r.set.Row(rec, reply, record.Counts{}).Append(nil)) // as another machine sends it
			if err != nil {
				t.Fatal(err)
			}
			r.Add(row)
		}
		s := r.Summary(Window{})
		value(t, s, "request_latency", P99, 90)
		e := calm()
		e.Valid, e.CutUse = s.Valid, s.CutUse
		v := Assess(e, s, setting.Spell(func(key string) string {
			return map[string]string{"phases.profiling.grace_period": "--benchmark-grace-period"}[key]
		}))
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.reason) || !strings.Contains(strings.Join(v.Notes, "\n"), c.inNote) {
			t.Errorf("%s: %s\n%q", c.name, v.Sentence(), v.Notes)
		}
		for tag, open := range map[string]bool{"time_to_first_token": c.ttft, "request_latency": c.latency} {
			if got := math.IsInf(v.Bounds.Of(tag, P99, s.Value(tag, P99)).High, 1); got != open {
				t.Errorf("%s: the p99 of %s is open: %v", c.name, tag, got)
			}
		}
		if len(s.Bounds) != 0 {
			t.Errorf("%s: the stamps are exact, but have bounds: %v", c.name, s.Bounds)
		}
		if c.verdict == VerdictUncertain && v.Short() != "uncertain: 2 of 22 requests cut off" {
			t.Errorf("%s: %q", c.name, v.Short())
		}
	}
}

// TestCutAndLate: figures that the cut makes too low are not called accurate, and late reads are named after them.
func TestCutAndLate(t *testing.T) {
	s := stated(150, 140, 150)
	s.understated = []understatement{{"request_latency", P90, 500}, {"request_latency", Max, 900}}
	e := calm()
	e.CutUse = CutUse{20, 3 * time.Second}
	e.CancelledByUser = true
	v := Assess(e, s, setting.Spell(func(string) string { return "" }))
	want := "The end of the run cut off 20 of 120 requests, after up to 3.00 s. With them, these figures would be larger: request latency (p90 at least 500 ms). aiperf read some answers late, so these figures are known only approximately: TTFT (p99 140 to 150 ms)."
	if v.Verdict != VerdictUncertain || !strings.HasPrefix(v.Reason, want) {
		t.Errorf("%s", v.Sentence())
	}
}

// TestGoodShareOfCutRequests: the share of good requests is known only within what the requests that were cut off may add to it.
func TestGoodShareOfCutRequests(t *testing.T) {
	o := chat
	o.Goodput = "request_latency:200"
	r := newSelection(t, o).NewReducer()
	for _, end := range []float64{190, 190, 190, 400} { // three good ones
		rec, reply := streamed(0, 150, end)
		add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
	}
	rec, reply := cutRequest(4100, false, "")
	add(r, rec, reply, record.Counts{})
	s := r.Summary(Window{})
	value(t, s, "good_request_fraction", Avg, 0.75)
	if got := Assess(calm(), s, nil).Bounds.Of("good_request_fraction", Avg, 0.75); math.Abs(got.Low-0.6) > 1e-12 || math.Abs(got.High-0.8) > 1e-12 {
		t.Errorf("%+v, want 3/5 to 4/5", got)
	}
}
