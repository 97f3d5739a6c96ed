package metric

import (
	"fmt"
	"time"

	"aiperf/internal/measure/record"
)

// Limits for events of a stream that were sent together, as a lump.
const (
	lumpEvents   = 0.9                    // share of the events after the first: "nearly all"
	lumpAnswers  = 0.5                    // share of the streamed answers: "most"
	lumpDistance = 5 * time.Millisecond   // time since the previous lump; faster events may share a read by chance
	wholeLatency = 100 * time.Millisecond // latency of an answer in one lump; a fast server generates a short answer at once
	lumpSpread   = 0.25                   // share of that time within which the events of a lump must arrive; evenly spaced ones take half of it or more
)

// LumpStats describes streamed answers whose events a proxy or the server sent together. The client read in time, so it did not join them.
type LumpStats struct {
	StreamAnswers int64         // answers with two or more content events
	LumpedAnswers int64         // of these, answers whose events nearly all arrived in lumps
	LumpEvents    float64       // content events per lump, mean of the lumped answers
	LumpInterval  time.Duration // mean time between lumps; 0 = every lumped answer is one lump
	OneLump       int64         // answers with two or more tokens whose content events all arrived at one instant, so they have no ITL
}

// lumpy reports whether most streams arrived in lumps.
func (l *LumpStats) lumpy() bool {
	return float64(l.LumpedAnswers) > lumpAnswers*float64(l.StreamAnswers)
}

// lumpSentence describes how the stream arrives. busy says that this machine had no free CPU, which delays a server on it as well.
func (l *LumpStats) lumpSentence(busy bool) string {
	every := " every " + formatDuration(l.LumpInterval)
	if l.LumpInterval == 0 {
		every = ", one for each answer"
	}
	cause := "a proxy or the server buffers it"
	if busy {
		cause += ", or this busy machine delayed it"
	}
	return fmt.Sprintf("The stream arrives in bursts of %s events%s: %s.", figure(l.LumpEvents, 2), every, cause)
}

// lumpReason returns the sentence with the number of such answers and the consequence.
func (e *ClientStats) lumpReason() string {
	least := ""
	if e.LumpedAnswers < e.StreamAnswers { // the others may be affected as well
		least = "at least "
	}
	return fmt.Sprintf("%s This affects %s%.0f %% of the streamed answers; their gaps between tokens are gaps between bursts.", e.lumpSentence(e.crowded()),
		least, 100*float64(e.LumpedAnswers)/float64(e.StreamAnswers))
}

// ProbeLumps describes how the stream of a single answer arrived; "" = not in lumps, or the client's read delay is unknown. There is no other load,
// so no event waited longer to be read than the longest delay of a last byte.
func ProbeLumps(rec *record.Record, contents []record.Content) string {
	t := rec.Trace
	if t == nil || t.Reads == 0 {
		return ""
	}
	var s lumpSums
	s.add(lumpsOf(rec, contents, func(*record.Content) int64 { return t.LastByteDelayMax }))
	if l := s.lumps(); l.lumpy() {
		return l.lumpSentence(false)
	}
	return ""
}

// lumpCount describes how the content events of an answer arrived.
type lumpCount struct {
	events, lumps int64
	inLumps       int64         // events that arrived together with others
	span          time.Duration // from the first lump to the last
	isOneLump     bool          // all events at one instant, in an answer of two or more tokens
}

// lumped reports whether nearly all events arrived together with others.
func (c *lumpCount) lumped() bool {
	return c.events > 1 && float64(c.inLumps) >= lumpEvents*float64(c.events-1)
}

// lumpsOf counts the lumps of an answer. Events that share a read are one lump if they arrived within a part of the time since the previous lump,
// given the client's read times. late returns by how many ns an event may have arrived before its timestamp.
func lumpsOf(rec *record.Record, c []record.Content, late func(*record.Content) int64) (n lumpCount) {
	if len(c) < 2 {
		return n
	}
	n.events, n.span = int64(len(c)), time.Duration(c[len(c)-1].At-c[0].At)
	delay := int64(0)
	if t := rec.Trace; t != nil && t.Reads > 0 {
		delay = t.ReadDelaySum / int64(t.Reads)
	}
	before := rec.Start
	for from := 0; from < len(c); {
		to, by := from+1, late(&c[from])
		for ; to < len(c) && c[to].At == c[from].At; to++ {
			by = max(by, late(&c[to]))
		}
		distance, least := c[from].At-before, lumpDistance
		switch {
		case from == 0 && to < len(c):
			distance = c[to].At - c[0].At
		case from == 0:
			least = wholeLatency
		}
		if to-from > 1 && distance >= int64(least) && float64(max(by, delay)) <= lumpSpread*float64(distance) {
			n.inLumps += int64(to - from)
		}
		n.lumps++
		before, from = c[from].At, to
	}
	return n
}

// lumpSums adds up the lumps of answers.
type lumpSums struct {
	answers, lumped, events, lumpCount, span, oneLump int64
}

func (s *lumpSums) add(n lumpCount) {
	if n.events > 1 {
		s.answers++
	}
	if n.isOneLump {
		s.oneLump++
	}
	if n.lumped() {
		s.lumped++
		s.events += n.events
		s.lumpCount += n.lumps
		s.span += int64(n.span)
	}
}

func (s *lumpSums) lumps() LumpStats {
	l := LumpStats{StreamAnswers: s.answers, LumpedAnswers: s.lumped, OneLump: s.oneLump}
	if s.lumped > 0 {
		l.LumpEvents = float64(s.events) / float64(s.lumpCount)
	}
	if gaps := s.lumpCount - s.lumped; gaps > 0 {
		l.LumpInterval = (time.Duration(s.span) / time.Duration(gaps)).Round(time.Microsecond)
	}
	return l
}

// Lumps returns how the streamed answers arrived.
func (r *Reducer) Lumps() LumpStats { return r.lumps.lumps() }
