package rereport

import (
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// TestNewCounts: a report that counts tokens in another way judges its own answers, not those of the summary.
func TestNewCounts(t *testing.T) {
	p := priorSummary{Validity: []byte(`{"valid_requests":3,"messages":3,"client_cores":2,"stamped_reads":3,"more_choices_answers":3,"planned_cancellation_wait_max_ms":1}`)}
	was, err := p.validity(nil)
	if err != nil || was.Unread() != metric.UncountedChoices {
		t.Fatalf("%v, %+v", err, was)
	}
	run := new(metric.Summary)
	run.AnswerUse.FinishReasons, run.CancelUse.CancelWaited = 3, time.Second
	if v, err := p.validity(run); err != nil || v.Unread() != "" || v.FinishReasons != 3 || v.CancelWaited != time.Second {
		t.Errorf("%v, %+v", err, v)
	}
}
