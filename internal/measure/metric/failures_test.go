package metric

import (
	"math"
	"slices"
	"testing"

	"aiperf/internal/measure/record"
)

func TestFailureSentence(t *testing.T) {
	for _, c := range []struct {
		failed, all int64
		want        string
	}{
		{0, 0, ""}, {0, 100, ""}, {99, 10_000, ""}, {100, 10_000, "1 % of the requests failed"}, {57, 200, "28.5 % of the requests failed"},
		{9999, 10_000, "99.9 % of the requests failed"}, {7, 7, "100 % of the requests failed"},
	} {
		if got := FailureSentence(c.failed, c.all); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.failed, c.all, got, c.want)
		}
	}
}

// TestPlannedCancellations: requests that the run was asked to cancel do not count as failures. The note counts them.
func TestPlannedCancellations(t *testing.T) {
	group := func(kind string, n int64) ErrorGroup { return ErrorGroup{record.Error{Code: 499, Type: kind}, n} }
	for _, c := range []struct {
		errors   []ErrorGroup
		failed   int64
		sentence string
		notes    []string
	}{
		{[]ErrorGroup{group(record.PlannedCancellation, 20)}, 20, "", []string{"20 of 100 requests were cancelled, as the configuration asks; they count as errors and are not part of any latency."}},
		{[]ErrorGroup{group(record.PlannedCancellation, 10), group("TimeoutError", 10)}, 20, "11.1 % of the requests failed",
			[]string{"10 of 100 requests failed; they are not part of any latency.", "10 of 100 requests were cancelled, as the configuration asks; they count as errors and are not part of any latency."}},
		{[]ErrorGroup{group("TimeoutError", 20)}, 20, "20 % of the requests failed", []string{"20 of 100 requests failed; they are not part of any latency."}},
	} {
		s := &Summary{Valid: 80, Failed: c.failed, Errors: c.errors}
		if got := (&Run{Profiling: s}).FailureSentence(); got != c.sentence {
			t.Errorf("%v: %q, want %q", c.errors, got, c.sentence)
		}
		e := &ClientStats{Valid: s.Valid, Failed: s.Failed, Planned: s.PlannedCancellations()}
		var notes noteList
		e.answerNotes(notes.add)
		if !slices.Equal(notes, c.notes) {
			t.Errorf("%v: %q", c.errors, notes)
		}
	}
}

// TestRatesOfAServerThatDied: by hand, answers from 0.1 to 0.2 s and from 0.9 to 1 s, then failures until 4 s. Two answers in 0.9 s are 2.2/s, and 0.51/s over the
// 3.9 s of all requests.
func TestRatesOfAServerThatDied(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for _, start := range []float64{100, 900} {
		rec, reply := streamed(0, 150, 200)
		rec.Start, rec.End = ms(start), ms(start+100)
		for i := range reply.Contents {
			reply.Contents[i].At += ms(start) - ms(100)
		}
		add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
	}
	for _, start := range []float64{1100, 3900} {
		rec, reply := failed(503, "HTTPError", "gone")
		rec.Start, rec.End = ms(start), ms(start+100)
		add(r, rec, reply, record.Counts{})
	}
	s := r.Summary(Window{})
	e := &ClientStats{Valid: s.Valid, Failed: s.Failed, RateUse: s.RateUse}
	want := "Rates cover only the 900 ms from the first successful request to the last. Over the 3.90 s of all requests, 0.513 requests/s succeeded."
	if got := e.rateNote(); got != want || math.Abs(s.Value("request_throughput", Avg)-2/0.9) > 1e-9 {
		t.Errorf("%q, rate %v", got, s.Value("request_throughput", Avg))
	}
	e.Failed = 0
	if got := e.rateNote(); got != "" {
		t.Errorf("without failures: %q", got)
	}
}
