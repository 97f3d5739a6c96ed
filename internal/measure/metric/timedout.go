package metric

import (
	"fmt"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/record"
)

// TimeoutUse describes the requests that ran into the client's own timeout. They failed, so no latency includes them.
type TimeoutUse struct {
	TimedOut      int64         // number of these requests
	TimeoutWaited time.Duration // longest time that one of them had waited for its answer
}

// timedOut reports whether the client stopped waiting for an answer at its timeout.
func timedOut(e *record.Error) bool { return e != nil && e.Type == record.ClientTimeout }

// waitedForAnswer reports whether a request was sent before it failed. The time that it waited for a connection is not a part of latencies.
func waitedForAnswer(rec *record.Record) bool { return rec.Trace == nil || rec.Trace.SendStart != 0 }

// timeoutFact says how many requests ran into the client's timeout, without its full stop.
func (e *ClientStats) timeoutFact() string {
	return fmt.Sprintf("%s of %s ran into the client's timeout%s, and no latency includes them",
		terminal.Count(e.TimedOut), terminal.Plural(e.Valid+e.Failed+e.CutCount, "request"), e.timeoutSpan())
}

// timeoutSpan says how long these requests had waited; "" = none of them was sent.
func (e *ClientStats) timeoutSpan() string {
	if e.TimeoutWaited == 0 {
		return ""
	}
	return " after up to " + formatDuration(e.TimeoutWaited)
}

// timeoutNote says that requests ran into the client's timeout, for a run in which they are too few to change an average, p50, p90 or p99 by more than
// 4 %; "" = none did.
func (e *ClientStats) timeoutNote() string {
	switch {
	case e.TimedOut == 0 || e.Valid == 0:
		return ""
	case e.TimeoutWaited == 0:
		return e.timeoutFact() + "."
	}
	return e.timeoutFact() + ". The slowest would be at least that slow."
}
