package load

import (
	"sync/atomic"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
)

// session is a Session with the state of the machine.
type session struct {
	Session
	drawn       sample
	family      *family
	unsentTurns int64       // turns not sent yet, including those of sessions that it has yet to start
	awaits      map[int]int // by turn, the number of sessions whose end it waits for; nil = none
	waitingTurn *ticket     // ticket of the turn that waits
	awaitedBy   *session    // session with a turn that waits for this session's end; nil = none
	joins       int         // that turn
	started     bool        // a turn of it was granted
	finished    bool        // its last turn has returned
	failed      bool        // the last returned turn failed
	returned    int64       // instant of the last return, while a warm-up omits the pauses; 0 = none
}

// ticket is one turn in progress. It is prepared early, granted when its instant has come and its slots are free, fired, and finally returned. The
// generator's mutex guards it until it is fired.
type ticket struct {
	p   *phase
	ses *session
	req Request

	due       int64 // instant at which it may leave; 0 = as soon as there are slots
	scheduled int64 // scheduled instant, if the previous answer came later than that; 0 = due
	resumes   bool  // the sessions that it waited for have ended
	primes    bool  // it only primes the server's cache; the session's position does not change
	holdsSlot bool  // it waits for its own delay and holds the slot of its session
	wakeAt    int64 // due, or earlier by the time to prepare
	waited    bool  // it was due and found no slot

	launched bool // its goroutine is running
	armed    ArmedRequest
	state    atomic.Uint32 // holds a decision
	signal   chan decision
	issue    Issue
	prefill  bool // it holds a prefill slot

	// Fields of a closed loop: instants, and a length in ns; 0 = none.
	vacant  int64 // arrival of the answer that this request follows in its slot
	think   int64 // its own delay after that
	gate    int64 // arrival of the first content that freed a prefill slot for it
	arrived int64 // arrival of the ticket's answer

	next   *ticket     // ticket that the end of this one has launched; nil = none
	passed atomic.Bool // Wait has returned, or the request has ended: what comes second continues with next

	fenced   bool // it came after the fence and was not sent
	finished bool
	punctual bool // it was armed when granted and did not wait for slots
}

// silent reports whether the turn sends nothing.
func (t *ticket) silent() bool {
	return t.req.Turn < len(t.ses.Shape.Turns) && t.ses.Shape.Turns[t.req.Turn].Silent
}

// decision is the state of a prepared request.
type decision uint8

const (
	preparing decision = iota // being prepared, undecided
	waiting                   // prepared, and undecided
	fire                      // the ticket's goroutine must write it
	fired                     // the scheduler has written it
	drop
)

// decide sets the decision of a ticket that is still being prepared; its goroutine will find it. false = the goroutine is already waiting for the
// signal.
func (t *ticket) decide(v decision) bool { return t.state.CompareAndSwap(uint32(preparing), uint32(v)) }

// launch starts the preparation of a ticket in its own goroutine, once the mutex is released.
func (g *Generator) launch(t *ticket) {
	t.launched = true
	t.signal = make(chan decision, 1)
	t.p.unarmed.Add(1)
	g.live.Add(1)
	g.work.launch = append(g.work.launch, t)
}

// serve is the life of one request, and of those that follow it.
func (g *Generator) serve(t *ticket) {
	for t != nil {
		t = g.serveOne(t)
	}
}

// serveOne is the life of one request, up to its end if it waits in this goroutine. It returns a ticket that the end of the request has launched; nil =
// none, or the request has not ended yet.
func (g *Generator) serveOne(t *ticket) (next *ticket) {
	a := g.exec.Prepare(t.p.ctx, &t.req)
	t.armed = a
	t.decide(waiting)
	v := decision(t.state.Load())
	if t.p.unarmed.Add(-1) == 0 {
		g.changed()
	}
	if v == waiting {
		v = <-t.signal // every ticket is granted or dropped by the end of its phase
	}
	switch v {
	case drop:
		a.Discard()
		g.exec.Close(&t.ses.Session)
		g.settle()
		return nil
	case fire: // it was not prepared at its instant
		t.fire()
	}
	if t.fenced {
		a.Discard()
		t.ended(Outcome{Cancelled: true})
	} else {
		a.Wait(t.firstToken, t.ended)
	}
	if t.passed.Swap(true) {
		return t.next
	}
	return nil
}

// ended reports how a request ended. If the goroutine that waited for it is gone, this one continues with the next request.
func (t *ticket) ended(out Outcome) {
	g := t.p.g
	t.next = g.returned(t, out)
	g.settle()
	if t.passed.Swap(true) {
		g.serve(t.next)
	}
}

// settle records that a request, or a question to the coordinator, is over.
func (g *Generator) settle() {
	if g.live.Add(-1) == 0 {
		g.changed()
	}
}

// fire stamps the instant and writes the request.
func (t *ticket) fire() {
	t.issue.At = clock.Now()
	if t.issue.At >= t.p.g.fence.Load() {
		t.fenced = true
		return
	}
	t.armed.Fire(t.issue)
	if !t.silent() {
		t.p.lag(t)
	}
}

// firstToken returns the prefill slot. The first content arrived at the instant at.
func (t *ticket) firstToken(at int64) {
	g := t.p.g
	if !g.limitsPrefill { // no phase limits prefill
		t.p.count.prefills.Add(1)
		return
	}
	g.mu.Lock()
	if t.prefill && !t.finished {
		t.p.count.prefills.Add(1)
		g.givePrefill(t, at, clock.Now())
	}
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// givePrefill returns the prefill slot, once, and lets waiting tickets use it. at is the arrival that ended the prefill; 0 = none.
func (g *Generator) givePrefill(t *ticket, at, now int64) {
	if !t.prefill {
		return
	}
	t.prefill = false
	full := g.prefill.free() == 0
	g.prefill.give(now)
	g.prefill.vacant.add(at)
	if full {
		g.stepNow(now)
	}
}

// work is what must be done outside the mutex.
type work struct {
	close  []*Session
	fire   []*ticket
	launch []*ticket
}

// takeWork returns the collected work and clears it. The caller holds the mutex.
func (g *Generator) takeWork() work {
	w := g.work
	g.work = work{}
	return w
}

// batchMost is how many requests one goroutine writes when they are due together (ten to fifty microseconds each). With more requests, other cores
// help.
const batchMost = 4

// do performs the work without holding the mutex. Sessions are closed before the requests that take their slots leave. The caller, usually the
// scheduler, writes requests itself, which avoids a handover to another goroutine.
func (g *Generator) do(w work) { g.doWith(w, nil) }

// doWith is do for a thread that lets a relay wake goroutines; nil = it wakes them itself.
func (g *Generator) doWith(w work, relay *processors.Relay) {
	for _, s := range w.close {
		g.exec.Close(s)
	}
	if len(w.fire) > 0 {
		b := &batch{list: w.fire}
		for range min(processors.Cores(), (len(w.fire)+batchMost-1)/batchMost) - 1 {
			go b.fire(nil)
		}
		b.fire(relay)
	}
	if len(w.launch) > 0 {
		relay.Do(func() {
			for _, t := range w.launch {
				go g.serve(t)
			}
		})
	}
}

// batch holds the requests that are due together. Each helping goroutine takes one request after the other, so that one without CPU delays no other
// request.
type batch struct {
	list []*ticket
	next atomic.Int64
}

// fire writes requests until all are taken. Only then it wakes their goroutines, which costs about as much as writing one request.
func (b *batch) fire(relay *processors.Relay) {
	var mine []*ticket
	for i := b.next.Add(1) - 1; i < int64(len(b.list)); i = b.next.Add(1) - 1 {
		t := b.list[i]
		t.fire()
		mine = append(mine, t)
	}
	relay.Do(func() {
		for _, t := range mine {
			t.signal <- fired
		}
	})
}
