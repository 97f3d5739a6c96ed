package metric

import (
	"math"
	"sync"

	"aiperf/internal/measure/record"
)

// requestFacts are the inputs of the definitions of per-request values. Instants are the record's; 0 = did not happen.
type requestFacts struct {
	set    *Selection
	rec    *record.Record
	reply  *record.Reply // nil for a request without a usable reply
	counts record.Counts
	valid  bool

	start                     int64 // start of the request
	first, second, last, seen int64 // instants of content messages: first, second, last, first with visible output
	end                       int64 // end of the answer: the last content message, or a later one without content
	several                   bool  // content arrived in at least two messages
	measured                  bool  // and not all of it at one instant
}

// factsPool reuses facts, because every row needs them only while it is made.
var factsPool = sync.Pool{New: func() any { return new(requestFacts) }}

// free returns facts to the pool, without the record that they refer to.
func (f *requestFacts) free() {
	*f = requestFacts{}
	factsPool.Put(f)
}

func newFacts(set *Selection, rec *record.Record, reply *record.Reply, counts record.Counts, valid bool) requestFacts {
	f := requestFacts{set: set, rec: rec, reply: reply, counts: counts, valid: valid, start: rec.Start}
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

// absent returns the value of a metric that a request does not have.
func absent() float64 { return math.NaN() }

// between returns the time between two instants in ns; absent if one of them did not happen or they are reversed.
func between(from, to int64) float64 {
	if from == 0 || to == 0 || to < from {
		return absent()
	}
	return float64(to - from)
}

// known returns a count; absent if it is below 0.
func known(n int) float64 {
	if n < 0 {
		return absent()
	}
	return float64(n)
}

// positive returns v; absent unless it is above 0.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return absent()
}

func (f *requestFacts) ttft() float64    { return between(f.start, f.first) }
func (f *requestFacts) ttst() float64    { return between(f.first, f.second) }
func (f *requestFacts) ttfo() float64    { return between(f.start, f.seen) }
func (f *requestFacts) latency() float64 { return between(f.start, f.end) }
func (f *requestFacts) decode() float64  { return between(f.first, f.last) }
func (f *requestFacts) setup() float64   { return between(f.rec.Start, f.rec.Ack) }
func (f *requestFacts) prefill() float64 { return between(f.rec.Ack, f.first) }

func (f *requestFacts) isl() float64       { return known(f.counts.Input) }
func (f *requestFacts) output() float64    { return positive(known(f.counts.Output)) }
func (f *requestFacts) reasoning() float64 { return known(f.counts.Reasoning) }
func (f *requestFacts) thinking() float64  { return f.reasoning() / f.output() }

// osl returns output and reasoning tokens together.
func (f *requestFacts) osl() float64 {
	if o := &f.set.opts; o.EmptyOutput && !o.ProducesTokens {
		return 0
	}
	return known(f.counts.OSL())
}

// itl returns the mean time per token after the first message. It is absent if all messages arrived at one instant, in one read: the value 0 would
// measure the cause of that delay, not the server's speed.
func (f *requestFacts) itl() float64 {
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

// firstTokens returns the completion count of the first content message; 0 = none.
func (f *requestFacts) firstTokens() float64 { return float64(max(f.reply.PerChunkTokens, 0)) }

// perUser returns the token rate that one user sees after the first message, in tokens/s.
func (f *requestFacts) perUser() float64 { return 1e9 / positive(f.itl()) }

// prefillPerUser returns input tokens divided by TTFT, in tokens/s.
func (f *requestFacts) prefillPerUser() float64 { return f.isl() / (positive(f.ttft()) / 1e9) }

// e2e returns output tokens divided by the whole latency, in tokens/s.
func (f *requestFacts) e2e() float64 { return f.osl() / (positive(f.latency()) / 1e9) }

func (f *requestFacts) requested() float64 { return positive(float64(f.rec.MaxTokens)) }

// mismatch returns the difference of the output length from the requested one, in percent of the latter, signed.
func (f *requestFacts) mismatch() float64 { return (f.osl() - f.requested()) / f.requested() * 100 }

func (f *requestFacts) images() float64       { return positive(float64(f.reply.Images)) }
func (f *requestFacts) imageRate() float64    { return f.images() / (positive(f.latency()) / 1e9) }
func (f *requestFacts) imageLatency() float64 { return f.latency() / 1e6 / f.images() }

// length returns the length of the audio sent, in s. rtfx is this length divided by the latency.
func (f *requestFacts) length() float64 { return positive(f.rec.AudioSeconds) }
func (f *requestFacts) rtfx() float64   { return f.length() / (positive(f.latency()) / 1e9) }

// job returns a per-request value of a service's job report.
func job(of func(*record.Job) float64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		if f.reply.Job == nil || of(f.reply.Job) < 0 {
			return absent()
		}
		return of(f.reply.Job)
	}
}

// Latencies from the instant at which the load generator released the request, on wall instants.
func (f *requestFacts) effectiveLatency() float64 { return f.sinceIssue(f.rec.End) }
func (f *requestFacts) creditToStart() float64    { return f.sinceIssue(f.rec.Start) }

func (f *requestFacts) sinceIssue(at int64) float64 {
	if f.rec.Issued == 0 || at == 0 {
		return absent()
	}
	return float64(max(0, f.set.instant(f.rec.Wall(at))-f.set.instant(f.rec.Wall(f.rec.Issued))))
}

// Latencies on the schedule's clock, for requests with an intended instant.
func (f *requestFacts) scheduleLag() float64 {
	if f.rec.Intended == 0 || f.rec.Issued == 0 {
		return absent()
	}
	return float64(max(0, f.rec.Issued-f.rec.Intended))
}
func (f *requestFacts) fromSchedule() float64        { return between(f.rec.Intended, f.rec.End) }
func (f *requestFacts) latencyFromSchedule() float64 { return between(f.rec.Intended, f.end) }
func (f *requestFacts) ttftFromSchedule() float64    { return between(f.rec.Intended, f.first) }

// dispatchLag returns the time from issue to the first byte written, if the socket instants are known.
func (f *requestFacts) dispatchLag() float64 {
	if f.rec.Trace == nil || f.rec.Trace.Spans {
		return absent()
	}
	return between(f.rec.Issued, f.rec.Trace.SendStart)
}

// readDelay returns the client's longest delay between the kernel's receive timestamp and its read.
func (f *requestFacts) readDelay() float64 {
	if f.rec.Trace == nil || f.rec.Trace.Reads == 0 {
		return absent()
	}
	return known(int(f.rec.Trace.ReadDelayMax))
}

// scheduleOffset returns the dispatch time minus the trace's time of the turn. Only differences of this value are meaningful.
func (f *requestFacts) scheduleOffset() float64 {
	if f.rec.TurnTimestamp == nil {
		return absent()
	}
	return float64(f.rec.Wall(f.rec.Start)) - *f.rec.TurnTimestamp*1e6
}
