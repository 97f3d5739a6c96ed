package metric

import (
	"fmt"
	"testing"

	"aiperf/internal/measure/record"
)

// TestSubmissions: the run of a scenario is a valid one if no lock was broken, it went to its end, and at most one prompt of a hundred was too long.
func TestSubmissions(t *testing.T) {
	for _, c := range []struct {
		unlocked, cancelled bool
		valid, over         int
		want                string
	}{
		{false, false, 99, 1, "{x true []}"},
		{false, false, 98, 2, "{x false [context_overflow_rate_exceeded]}"},
		{true, true, 10, 0, "{x false [unsafe_override run_cancelled]}"},
		{false, false, 0, 0, "{x true []}"},
	} {
		r := &Run{Cancelled: c.cancelled, Profiling: overflowing(t, c.valid, c.over)}
		r.Submit("x", c.unlocked)
		if got := fmt.Sprint(*r.Submission); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if all := SubmissionOf([]*Run{{}, r, r}); fmt.Sprint(*all) != c.want {
			t.Errorf("together: %+v", *all)
		}
	}
	r := &Run{Profiling: overflowing(t, 1, 0)}
	if r.Submit("", true); r.Submission != nil || SubmissionOf([]*Run{r}) != nil {
		t.Error("a submission without a scenario")
	}
}

// overflowing returns the summary of a number of good answers and a number of prompts that were too long.
func overflowing(t *testing.T, valid, over int) *Summary {
	t.Helper()
	r := newSelection(t, chat).NewReducer()
	for range valid {
		rec, reply := streamed(0, 150, 160)
		add(r, rec, reply, record.Counts{Input: 10, Output: 4, Reasoning: -1})
	}
	for range over {
		rec, reply := failed(400, "Bad Request", "This model's maximum context length is 8 tokens")
		add(r, rec, reply, record.Counts{Input: 99, Output: -1, Reasoning: -1})
	}
	return r.Summary(Window{})
}
