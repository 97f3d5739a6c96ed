package transport

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestWarmUpReadsDoNotCount: one connection carries a warm-up and what is measured; the delays of the warm-up are in no statistics.
func TestWarmUpReadsDoNotCount(t *testing.T) {
	a := newAnswers(t, okAnswer)
	c := mustClient(t, nil)
	reads := 0
	for _, warmUp := range []bool{true, true, false, true} {
		rec := do(c, &Request{Target: a.target, Body: record.Plain([]byte("{}")), WarmUp: warmUp})
		if rec.Error != nil {
			t.Fatal(rec.Error)
		}
		if !warmUp {
			reads += rec.Trace.Reads
		}
		if got := c.ReadDelays().Count; got != int64(reads) {
			t.Errorf("%d delays, want %d", got, reads)
		}
	}
}
