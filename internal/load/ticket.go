package load

import (
	"runtime"
	"sync/atomic"

	"aiperf/internal/clock"
)

// session is a Session with what the machine keeps about it.
type session struct {
	Session
	drawn     sample
	family    *family
	left      int64       // turns that are not sent yet, with those of sessions that it has yet to start
	awaits    map[int]int // by turn, the sessions whose end it waits for; nil = none
	held      *ticket     // the turn that waits
	awaitedBy *session    // one of whose turns waits for this session's end; nil = none
	joins     int         // that turn
	started   bool        // a turn of it was granted
	finished  bool        // its last turn has returned
	failed    bool        // the turn that returned last did
	returned  int64       // when a turn returned last, while a warm-up leaves out the pauses; 0 = none did
}

// ticket is one turn on its way: prepared early, granted when its instant and its slots are there, fired, returned. Guarded by the
// generator's mutex until it is fired.
type ticket struct {
	p   *phase
	ses *session
	req Request

	due     int64 // instant at which it may leave; 0 = as soon as there are slots
	asked   int64 // instant at which the schedule wanted it to leave, where the answer before it came later than that; 0 = due
	resumes bool  // the sessions that it waited for have ended
	primes  bool  // is sent for the server's cache alone: its session stands still
	rests   bool  // waits for a delay of its own, with the slot of its session
	wakeAt  int64 // due, or the time to prepare before it
	waited  bool  // was due and found no slot

	launched bool // its goroutine runs
	armed    Armed
	state    atomic.Uint32 // a decision
	signal   chan decision
	issue    Issue
	prefill  bool // holds a prefill slot

	// Of a closed loop, instants and a length in ns; 0 = there is none.
	vacant  int64 // arrival of the answer that this request follows in its slot
	think   int64 // delay of its own after that
	gate    int64 // arrival of the first content that left a prefill slot free for it
	arrived int64 // of its own answer

	finished bool
	punctual bool // armed when granted, and had not to wait for slots
}

// silent tells whether the turn sends nothing.
func (t *ticket) silent() bool {
	return t.req.Turn < len(t.ses.Shape.Turns) && t.ses.Shape.Turns[t.req.Turn].Silent
}

// decision is what becomes of a prepared request.
type decision uint8

const (
	preparing decision = iota // and undecided
	waiting                   // prepared, and undecided
	fire                      // write it yourself
	fired                     // it was written
	drop
)

// decide tells its decision to a ticket that is still under preparation: its goroutine will find it. False means that the goroutine is
// waiting for the signal.
func (t *ticket) decide(v decision) bool { return t.state.CompareAndSwap(uint32(preparing), uint32(v)) }

// launch prepares a ticket on a goroutine of its own, once the mutex is free.
func (g *Generator) launch(t *ticket) {
	t.launched = true
	t.signal = make(chan decision, 1)
	t.p.unarmed.Add(1)
	g.live.Add(1)
	g.work.launch = append(g.work.launch, t)
}

// serve is the life of one request.
func (g *Generator) serve(t *ticket) {
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
	case fire: // it was not ready at its instant
		t.fire()
		fallthrough
	default:
		out := a.Wait(t.firstToken)
		g.returned(t, out)
	}
	if g.live.Add(-1) == 0 {
		g.changed()
	}
}

// fire stamps the instant and writes.
func (t *ticket) fire() {
	t.issue.At = clock.Now()
	t.armed.Fire(t.issue)
	if !t.silent() {
		t.p.lag(t)
	}
}

// firstToken gives the prefill slot back; the first content arrived at an instant.
func (t *ticket) firstToken(at int64) {
	g := t.p.g
	if !g.limitsPrefill { // nobody waits for it
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

// givePrefill returns the slot, once, and lets others have it. What ends the prefill arrived at an instant; 0 = nothing did.
func (g *Generator) givePrefill(t *ticket, at, now int64) {
	if !t.prefill {
		return
	}
	t.prefill = false
	full := g.prefill.free() == 0
	g.prefill.give(now)
	g.prefill.vacant.add(at)
	if full {
		g.poke(now)
	}
}

// work is what has to be done outside the mutex.
type work struct {
	close  []*Session
	fire   []*ticket
	launch []*ticket
}

// takeWork collects it; the mutex is held.
func (g *Generator) takeWork() work {
	w := g.work
	g.work = work{}
	return w
}

// batchMost is how many requests one goroutine writes when they are due together (ten to fifty microseconds each); with more, the other
// cores help.
const batchMost = 4

// do does it; the mutex is not held. Sessions are closed before the requests that take their slots leave. The caller, which is the
// scheduler as a rule, writes requests itself, which spares them the way to another goroutine.
func (g *Generator) do(w work) {
	for _, s := range w.close {
		g.exec.Close(s)
	}
	if len(w.fire) > 0 {
		b := &batch{list: w.fire}
		for range min(runtime.GOMAXPROCS(0), (len(w.fire)+batchMost-1)/batchMost) - 1 {
			go b.fire()
		}
		b.fire()
	}
	for _, t := range w.launch {
		go g.serve(t)
	}
}

// batch is what is due together. Each that helps takes one request after the other: who is kept from its core keeps no other waiting.
type batch struct {
	list []*ticket
	next atomic.Int64
}

// fire writes requests until all are taken, and only then wakes their goroutines, which costs about as much as to write one.
func (b *batch) fire() {
	var mine []*ticket
	for i := b.next.Add(1) - 1; i < int64(len(b.list)); i = b.next.Add(1) - 1 {
		t := b.list[i]
		t.fire()
		mine = append(mine, t)
	}
	for _, t := range mine {
		t.signal <- fired
	}
}
