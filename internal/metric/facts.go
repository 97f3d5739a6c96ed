package metric

import (
	"math"

	"aiperf/internal/record"
)

// facts are what the definitions of per-request values read. Instants are the record's; 0 = did not happen.
type facts struct {
	set    *Selection
	rec    *record.Record
	reply  *record.Reply // nil for a request without a usable reply
	counts record.Counts
	valid  bool

	start                     int64 // of the request
	first, second, last, seen int64 // content messages: first, second, last, first with visible output
	end                       int64 // what ends the answer: the last content message, or a later one without content
	several                   bool  // content came in two messages at least
	measured                  bool  // and not all of it at one instant
}

func newFacts(set *Selection, rec *record.Record, reply *record.Reply, counts record.Counts, valid bool) facts {
	f := facts{set: set, rec: rec, reply: reply, counts: counts, valid: valid, start: rec.Start}
	if reply == nil || len(reply.Contents) == 0 {
		return f
	}
	c := reply.Contents
	f.first, f.last = c[0].At, c[len(c)-1].At
	f.end = max(f.last, reply.End)
	f.measured = f.last > f.first
	if f.several = len(c) > 1; f.several {
		f.second = c[1].At
	}
	for i := range c {
		if c[i].Visible() {
			f.seen = c[i].At
			break
		}
	}
	return f
}

// absent is the value of a metric that a request does not have.
func absent() float64 { return math.NaN() }

// between is the time from one instant to another in ns; absent if one of them did not happen or they are reversed.
func between(from, to int64) float64 {
	if from == 0 || to == 0 || to < from {
		return absent()
	}
	return float64(to - from)
}

// known is a count, absent if below 0.
func known(n int) float64 {
	if n < 0 {
		return absent()
	}
	return float64(n)
}

// positive is v, absent unless above 0.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return absent()
}

func (f *facts) ttft() float64    { return between(f.start, f.first) }
func (f *facts) ttst() float64    { return between(f.first, f.second) }
func (f *facts) ttfo() float64    { return between(f.start, f.seen) }
func (f *facts) latency() float64 { return between(f.start, f.end) }
func (f *facts) decode() float64  { return between(f.first, f.last) }
func (f *facts) setup() float64   { return between(f.rec.Start, f.rec.Ack) }
func (f *facts) prefill() float64 { return between(f.rec.Ack, f.first) }

func (f *facts) isl() float64       { return known(f.counts.Input) }
func (f *facts) output() float64    { return positive(known(f.counts.Output)) }
func (f *facts) reasoning() float64 { return known(f.counts.Reasoning) }
func (f *facts) thinking() float64  { return f.reasoning() / f.output() }

// osl is output and reasoning tokens together.
func (f *facts) osl() float64 {
	if o := &f.set.opts; o.EmptyOutput && !o.ProducesTokens {
		return 0
	}
	return known(f.counts.OSL())
}

// itl is the mean time per token after the first message. An answer whose messages all came at one instant, in one read, has none: its zero would
// measure what held the messages back.
func (f *facts) itl() float64 {
	n := f.osl()
	if !(n >= 2) || !f.measured && !f.set.opts.As013 {
		return absent()
	}
	divisor := n - 1
	if c := f.firstTokens(); f.set.opts.PerChunkUsage && c > 0 && c < n {
		divisor = n - c
	}
	if f.set.opts.WholeITL {
		return math.RoundToEven(f.decode() / divisor)
	}
	return f.decode() / divisor
}

// firstTokens is the completion count that came with the first content message, 0 = none.
func (f *facts) firstTokens() float64 { return float64(max(f.reply.PerChunkTokens, 0)) }

// perUser is the token rate that one user sees after the first message, in tokens/s.
func (f *facts) perUser() float64 { return 1e9 / positive(f.itl()) }

// prefillPerUser is input tokens over TTFT, in tokens/s.
func (f *facts) prefillPerUser() float64 { return f.isl() / (positive(f.ttft()) / 1e9) }

// e2e is output tokens over the whole latency, in tokens/s.
func (f *facts) e2e() float64 { return f.osl() / (positive(f.latency()) / 1e9) }

func (f *facts) requested() float64 { return positive(float64(f.rec.MaxTokens)) }

// mismatch is how far the output length is from the one asked for, in percent, signed.
func (f *facts) mismatch() float64 { return (f.osl() - f.requested()) / f.requested() * 100 }

func (f *facts) images() float64       { return positive(float64(f.reply.Images)) }
func (f *facts) imageRate() float64    { return f.images() / (positive(f.latency()) / 1e9) }
func (f *facts) imageLatency() float64 { return f.latency() / 1e6 / f.images() }

// length is that of the audio sent, in s; rtfx is it over the latency, both in s.
func (f *facts) length() float64 { return positive(f.rec.AudioSeconds) }
func (f *facts) rtfx() float64   { return f.length() / (positive(f.latency()) / 1e9) }

// job reads a figure of what a service says of a job.
func job(of func(*record.Job) float64) func(*facts) float64 {
	return func(f *facts) float64 {
		if f.reply.Job == nil || of(f.reply.Job) < 0 {
			return absent()
		}
		return of(f.reply.Job)
	}
}

// Latencies from the instant at which the load generator let the request go, on wall instants.
func (f *facts) effectiveLatency() float64 { return f.sinceIssue(f.rec.End) }
func (f *facts) creditToStart() float64    { return f.sinceIssue(f.rec.Start) }

func (f *facts) sinceIssue(at int64) float64 {
	if f.rec.Issued == 0 || at == 0 {
		return absent()
	}
	return float64(max(0, f.set.instant(f.rec.Wall(at))-f.set.instant(f.rec.Wall(f.rec.Issued))))
}

// Latencies on the schedule's clock, for requests that had an intended instant.
func (f *facts) scheduleLag() float64 {
	if f.rec.Intended == 0 || f.rec.Issued == 0 {
		return absent()
	}
	return float64(max(0, f.rec.Issued-f.rec.Intended))
}
func (f *facts) fromSchedule() float64        { return between(f.rec.Intended, f.rec.End) }
func (f *facts) latencyFromSchedule() float64 { return between(f.rec.Intended, f.end) }
func (f *facts) ttftFromSchedule() float64    { return between(f.rec.Intended, f.first) }

// dispatchLag is from issue to the first byte written, where the socket instants are known.
func (f *facts) dispatchLag() float64 {
	if f.rec.Trace == nil || f.rec.Trace.Spans {
		return absent()
	}
	return between(f.rec.Issued, f.rec.Trace.SendStart)
}

// readDelay is the client's own longest delay between the kernel's receive stamp and its read.
func (f *facts) readDelay() float64 {
	if f.rec.Trace == nil || f.rec.Trace.Reads == 0 {
		return absent()
	}
	return known(int(f.rec.Trace.ReadDelayMax))
}

// scheduleOffset is the dispatch minus the trace's own time of the turn; only its differences mean something.
func (f *facts) scheduleOffset() float64 {
	if f.rec.TurnTimestamp == nil {
		return absent()
	}
	return float64(f.rec.Wall(f.rec.Start)) - *f.rec.TurnTimestamp*1e6
}
