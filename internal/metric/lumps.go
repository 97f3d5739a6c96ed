package metric

import (
	"fmt"
	"time"

	"aiperf/internal/marshal"
	"aiperf/internal/record"
)

// What makes several events of a stream a lump that was sent as one.
const (
	lumpEvents   = 0.9                    // of the events behind the first: "nearly all"
	lumpAnswers  = 0.5                    // of the streamed answers: "most"
	lumpDistance = 5 * time.Millisecond   // from the lump before; events that follow each other faster may meet in a read by chance
	wholeLatency = 100 * time.Millisecond // of an answer that is one lump; a fast server makes all of a short one at once
	lumpSpread   = 0.25                   // of that distance, within which the events of a lump must have arrived: evenly spaced ones take half of it or more
)

// Lumps is how the events of streamed answers arrived that a proxy or the server sent together. The client cannot have joined them: it read in time.
type Lumps struct {
	StreamAnswers int64         // answers of two content events or more
	LumpedAnswers int64         // of them, those whose events nearly all arrived in lumps
	LumpEvents    float64       // content events in a lump, mean of the lumped answers
	LumpInterval  time.Duration // from lump to lump, mean; 0 = every lumped answer is one lump
	OneLump       int64         // answers of two tokens or more whose content events all arrived at one instant: they have no ITL
}

// lumpy reports whether most streams arrived in lumps.
func (l *Lumps) lumpy() bool { return float64(l.LumpedAnswers) > lumpAnswers*float64(l.StreamAnswers) }

// lumpSentence says how the stream arrives.
func (l *Lumps) lumpSentence() string {
	every := " every " + shown(l.LumpInterval)
	if l.LumpInterval == 0 {
		every = ", one for each answer"
	}
	return fmt.Sprintf("The stream arrives in lumps of %s events%s: a proxy or the server buffers it.", figure(l.LumpEvents, 2), every)
}

// lumpReason is the sentence with how many answers it is about, and what it means.
func (l *Lumps) lumpReason() string {
	return fmt.Sprintf("%s This holds for %.0f %% of the streamed answers; their gaps between tokens are those of the lumps.", l.lumpSentence(),
		100*float64(l.LumpedAnswers)/float64(l.StreamAnswers))
}

// ProbeLumps says how the stream of a single answer arrived; "" = not in lumps, or it is not known how promptly the client read. There is no load
// beside it: what the client waited for was read as late as the last byte at most.
func ProbeLumps(rec *record.Record, contents []record.Content) string {
	t := rec.Trace
	if t == nil || t.Reads == 0 {
		return ""
	}
	var s lumpSums
	s.add(lumpsOf(rec, contents, func(*record.Content) int64 { return t.LastByteDelayMax }))
	if l := s.lumps(); l.lumpy() {
		return l.lumpSentence()
	}
	return ""
}

// lumpCount is how the content events of an answer arrived.
type lumpCount struct {
	events, lumps int64
	joined        int64         // events that arrived together with another one
	span          time.Duration // from the first lump to the last
	one           bool          // all events at one instant, in an answer of two tokens or more
}

// lumped reports whether nearly all events arrived together with others.
func (c *lumpCount) lumped() bool {
	return c.events > 1 && float64(c.joined) >= lumpEvents*float64(c.events-1)
}

// lumpsOf counts the lumps of an answer. Events that share a read are one lump if they arrived within a part of the time since the lump before, by
// what is known of when the client read; late is by how many ns an event may have arrived before its instant.
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
			n.joined += int64(to - from)
		}
		n.lumps++
		before, from = c[from].At, to
	}
	return n
}

// lumpSums adds up the lumps of answers.
type lumpSums struct {
	answers, lumped, events, lumpsSeen, span, one int64
}

func (s *lumpSums) add(n lumpCount) {
	if n.events > 1 {
		s.answers++
	}
	if n.one {
		s.one++
	}
	if n.lumped() {
		s.lumped++
		s.events += n.events
		s.lumpsSeen += n.lumps
		s.span += int64(n.span)
	}
}

func (s *lumpSums) fields() []*int64 {
	return []*int64{&s.answers, &s.lumped, &s.events, &s.lumpsSeen, &s.span, &s.one}
}

func (s *lumpSums) merge(o *lumpSums) {
	other := o.fields()
	for i, mine := range s.fields() {
		*mine += *other[i]
	}
}

// visit is the binary form.
func (s *lumpSums) visit(m *marshal.Coder) {
	for _, n := range s.fields() {
		m.Int64(n)
	}
}

func (s *lumpSums) lumps() Lumps {
	l := Lumps{StreamAnswers: s.answers, LumpedAnswers: s.lumped, OneLump: s.one}
	if s.lumped > 0 {
		l.LumpEvents = float64(s.events) / float64(s.lumpsSeen)
	}
	if gaps := s.lumpsSeen - s.lumped; gaps > 0 {
		l.LumpInterval = (time.Duration(s.span) / time.Duration(gaps)).Round(time.Microsecond)
	}
	return l
}

// Lumps is how the streamed answers arrived.
func (r *Reducer) Lumps() Lumps { return r.lumps.lumps() }
