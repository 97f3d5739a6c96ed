package metric

import (
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
