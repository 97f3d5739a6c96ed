package transport

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// restPacer decides how long a read loop rests after it has read everything that had arrived. A loop that rests wakes up once for the events of many
// streams instead of once for each of them.
//
// The kernel stamps a segment when it arrives, so a late read changes no instant by itself. Four things can change, and each of them ends the rest:
//
//   - Two segments of one connection that wait together are read together, with the stamp of the later one. So the gaps between reads must be at least
//     twice as long as the rest, and reads must not bring more messages together than without a rest.
//   - The acknowledgement leaves with the read. A server with Nagle's algorithm that writes a message in pieces waits for it. So reads must not end
//     inside a message. Between messages such a server writes at most one rest later, which the rule about the gaps notices.
//   - The end of an answer is noticed late, and so is the slot that it frees. Its last message may be read together with its end mark, and then the instant
//     of the message is not known exactly. So the rest is at most 1/400 of the time in which answers arrive.
//   - Whoever waits for the first content, or for the instant of a cancellation, waits longer. Such readings are urgent: nothing rests while one runs.
//
// A nil restPacer never rests.
type restPacer struct {
	step   atomic.Int32 // index into rests
	most   atomic.Int32 // highest step so far
	urgent atomic.Int64 // readings that must not be delayed
	// The last rest: the instants at which it began and at which it was to end.
	began, end atomic.Int64

	mu       sync.Mutex // guards the fields below
	window   paceWindow
	answers  [len(rests)]int64 // ended answers by the longest rest that they permit; halved with every decision
	baseline float64           // share of the reads that brought several messages while the loop did not rest
	first    int64             // instant of the first read; 0 = none
	skip     int64             // decisions until the loop may rest again
	penalty  int64             // the next value of skip
}

// rests are the possible lengths of a rest, in ns. A longer one would stop the whole program too long when the runtime wants to stop it.
var rests = [...]int64{0, 250_000, 500_000, 1_000_000, 2_000_000}

// Rules of a restPacer.
const (
	windowReads    = 2000 // reads between two decisions
	gapRests       = 2    // a gap must be as long as this number of rests
	shortGaps      = 500  // one gap of this number may be shorter
	answerRests    = 400  // an answer must arrive for as long as this number of rests
	shortAnswers   = 50   // one answer of this number may be shorter
	partialReads   = 100  // one read of this number may end inside a message
	largestPenalty = 64
)

// paceWindow counts what happened since the last decision.
type paceWindow struct {
	reads   int64
	gaps    [len(rests)]int64 // by the longest rest that they permit
	short   int64             // gaps that do not permit the current rest
	partial int64             // reads that ended inside a message
	joined  int64             // reads that brought several messages
}

// permitted returns the longest rest that a span permits which must be as long as some rests.
func permitted(ns, times int64) int {
	k := len(rests) - 1
	for k > 0 && ns < times*rests[k] {
		k--
	}
	return k
}

// duration returns how long the loop may rest now, ns.
func (p *restPacer) duration() int64 {
	if p == nil || p.urgent.Load() > 0 {
		return 0
	}
	return rests[p.step.Load()]
}

// longest returns the longest rest so far.
func (p *restPacer) longest() time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(rests[p.most.Load()])
}

// rested records a rest.
func (p *restPacer) rested(began, end int64) {
	p.began.Store(began)
	p.end.Store(end)
}

// withoutRest returns how long bytes waited, in ns, between their arrival and their read, apart from the last rest.
func (p *restPacer) withoutRest(at, user int64) int64 {
	wait := user - at
	if p == nil {
		return wait
	}
	return wait - max(0, min(user, p.end.Load())-max(at, p.began.Load()))
}

// hold makes a reading urgent until release is called.
func (p *restPacer) hold() (release func()) {
	if p == nil {
		return func() {}
	}
	p.urgent.Add(1)
	return func() { p.urgent.Add(-1) }
}

// read records a read, the given time after the previous one of the same answer.
func (p *restPacer) read(gap, now int64) {
	if p == nil {
		return
	}
	k := permitted(gap, gapRests)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == 0 {
		p.first = now
	}
	w := &p.window
	w.reads++
	w.gaps[k]++
	if k < int(p.step.Load()) {
		if w.short++; w.short*shortGaps > windowReads {
			p.stop()
			return
		}
	}
	if w.reads >= windowReads {
		p.decide(now)
	}
}

// unstamped records a read without a kernel stamp: its instant would be late.
func (p *restPacer) unstamped() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
}

// partial records that a read ended inside a message.
func (p *restPacer) partial() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.window.partial++; p.step.Load() > 0 && p.window.partial*partialReads > windowReads {
		p.stop()
	}
}

// joined records that a read brought several messages.
func (p *restPacer) joined() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	expected := p.baseline * windowReads
	if p.window.joined++; p.step.Load() > 0 && float64(p.window.joined) > expected+3*math.Sqrt(expected)+windowReads/shortGaps {
		p.stop()
	}
}

// ended records an answer that was arriving for some ns.
func (p *restPacer) ended(span int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[permitted(span, answerRests)]++
	if step := int(p.step.Load()); step > p.answerStep() {
		p.stop()
	}
}

// answerStep returns the longest rest that the ended answers permit.
func (p *restPacer) answerStep() int {
	all := int64(0)
	for _, n := range p.answers {
		all += n
	}
	return longestFor(p.answers[:], max(all, shortAnswers)/shortAnswers)
}

// longestFor returns the longest rest that all but some of the counted spans permit.
func longestFor(counts []int64, exceptions int64) int {
	step, shorter := 0, int64(0)
	for ; step < len(counts)-1; step++ {
		if shorter += counts[step]; shorter > exceptions {
			break
		}
	}
	return step
}

// decide chooses the rest until the next decision. The caller holds the mutex.
func (p *restPacer) decide(now int64) {
	w := p.window
	step := min(longestFor(w.gaps[:], w.reads/shortGaps), p.answerStep(), permitted(now-p.first, answerRests))
	if w.partial*partialReads > w.reads {
		step = 0
	}
	if p.step.Load() == 0 {
		p.baseline = float64(w.joined) / float64(w.reads)
		if p.skip > 0 {
			p.skip--
			step = 0
		}
	} else {
		p.penalty /= 2
	}
	for i := range p.answers {
		p.answers[i] /= 2
	}
	p.window = paceWindow{}
	p.step.Store(int32(step))
	p.most.Store(max(p.most.Load(), int32(step)))
}

// stop ends the rests for a while, which grows each time. The caller holds the mutex.
func (p *restPacer) stop() {
	p.window = paceWindow{}
	if p.step.Swap(0) > 0 {
		p.skip = p.penalty
		p.penalty = min(2*p.penalty+1, largestPenalty)
	}
}

// readCounter tells a pacer which reads of an answer ended inside a message, and which brought several.
type readCounter struct {
	pace  *restPacer
	fills int  // number of the last read
	n     int  // messages that it completed
	open  bool // a message is incomplete
}

// next is called when more of the answer was requested. clean means that the previous read did not end inside a chunk.
func (r *readCounter) next(fills int, clean bool) {
	if r.fills == fills {
		return
	}
	if r.open || !clean {
		r.pace.partial()
	}
	r.fills, r.n = fills, 0
}

// messages is called when some bytes have completed n messages, the end mark apart. open means that another one has begun.
func (r *readCounter) messages(n int, open bool) {
	if r.n < 2 && r.n+n >= 2 {
		r.pace.joined()
	}
	r.n, r.open = r.n+n, open
}
