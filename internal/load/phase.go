package load

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"

	"aiperf/internal/rng"
)

// driver is the algorithm of a mode. The generator's mutex is held in all its methods but build.
type driver interface {
	// build prepares the schedule before the phase.
	build(ctx context.Context) error
	// prime arms what leaves first; it reports whether it waits for more of the data.
	prime() (short bool)
	// begin is told the start of the phase.
	begin(t0 int64)
	// advance grants everything that may leave by now and returns the next instant at which it wants to be asked.
	advance(now int64) int64
	// due is the instant of the turn after t, which has just returned.
	due(t, next *ticket, now int64) int64
	// over tells that no further session will ever start.
	over() bool
}

// phase is a Phase under way. Its fields are guarded by the generator's mutex.
type phase struct {
	Phase
	g      *Generator
	info   PhaseInfo
	driver driver
	ctx    context.Context
	cancel context.CancelCauseFunc

	t0, stopAt  int64
	sending     bool
	owed        int64 // turns of started sessions that are still to be sent
	inFlight    map[*ticket]struct{}
	starts      queue // first turns to come, in order
	ready       queue // continuations that are due
	timed       schedule
	unarmed     int           // tickets under preparation
	armedUnsent int           // tickets launched and not yet granted
	idle        chan struct{} // closed when everything was sent and has returned
	cutting     chan struct{} // closed when the requests in flight are cut
	idleOnce    sync.Once
	cutOnce     sync.Once

	count  counters
	facts  Facts
	lagMu  sync.Mutex // guards the histograms of facts
	frozen bool       // the facts are final
}

func (g *Generator) newPhase(ctx context.Context, index int) *phase {
	p := &phase{
		Phase: g.plan.Phases[index], g: g, sending: true, stopAt: never,
		inFlight: map[*ticket]struct{}{}, idle: make(chan struct{}), cutting: make(chan struct{}),
	}
	p.info = PhaseInfo{Name: p.Name, Index: index, Profiling: -1, Warmup: p.Warmup, Mode: p.Mode}
	if !p.Warmup {
		for _, other := range g.plan.Phases[:index+1] {
			if !other.Warmup {
				p.info.Profiling++
			}
		}
	}
	p.facts.Info = p.info
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	p.driver = newDriver(p)
	return p
}

// newDriver makes the driver of the phase's mode.
func newDriver(p *phase) driver {
	switch p.Mode {
	case Rate:
		return &rateDriver{p: p}
	case FixedSchedule:
		return &timetable{p: p, starts: &fixedStarts{p: p}}
	case UserCentric:
		return &timetable{p: p, starts: &userStarts{p: p}}
	}
	return &burst{p: p}
}

// build makes the schedule and sets the limits for what is armed before the start.
func (p *phase) build(ctx context.Context) error {
	if err := p.driver.build(ctx); err != nil {
		return err
	}
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	p.setLimits(0)
	return nil
}

// setLimits starts the slot limits and their ramps at t0.
func (p *phase) setLimits(t0 int64) {
	stream := func() *rng.Stream { return p.g.opts.Root.Stream(rampStream) }
	p.g.session.begin(limitSteps(p.ConcurrencyRamp, p.Concurrency, stream), t0)
	p.g.prefill.begin(limitSteps(p.PrefillRamp, p.Prefill, stream), t0)
}

// begin starts the phase's clock.
func (p *phase) begin(now int64) {
	p.t0 = now
	if p.Duration > 0 {
		p.stopAt = now + int64(p.Duration)
	}
	p.setLimits(now)
	p.facts.Started = now
	p.facts.Schedule.Precise = p.g.wait.Precise()
	p.count.started.Store(now)
	p.g.feed.deepen(0)
	p.driver.begin(now)
}

// mayStart tells whether the session count allows another session.
func (p *phase) mayStart() bool { return p.Sessions <= 0 || p.count.sessions.Load() < p.Sessions }

// mayStock tells whether another session may be taken from the data: it could still be started.
func (p *phase) mayStock() bool {
	n := int64(p.starts.len())
	return (p.Sessions <= 0 || p.count.sessions.Load()+n < p.Sessions) && (p.Requests <= 0 || p.count.sent.Load()+n < p.Requests)
}

// exhausted tells whether nothing can ever be sent again.
func (p *phase) exhausted() bool { return p.owed == 0 && (!p.mayStart() || p.driver.over()) }

func (p *phase) exhaustedBy() Stop {
	if !p.mayStart() {
		return StopSessions
	}
	return StopData
}

// stop ends the sending: nothing that was not granted leaves any more.
func (p *phase) stop(why Stop, now int64) {
	if !p.sending {
		return
	}
	p.sending = false
	p.facts.StoppedBy = why
	p.facts.SentAll = now
	p.count.sentAll.Store(now)
	s := &p.facts.Schedule
	if d, ok := p.driver.(*rateDriver); ok && p.t0 != 0 {
		d.account(now)
	}
	if p.t0 != 0 {
		s.SendSeconds = seconds(now - p.t0)
		s.CapSeconds = p.g.session.fullSeconds(now)
		s.PrefillSeconds = p.g.prefill.fullSeconds(now)
	}
	var unused []draw
	for t := range p.starts.all() {
		if p.Mode != FixedSchedule {
			unused = append(unused, t.ses.drawn)
		}
		p.g.nextURL--
		p.drop(t)
	}
	p.g.feed.putBack(unused)
	for t := range p.ready.all() {
		p.endSession(t.ses, t.req.Turn-1, false, now)
		p.drop(t)
	}
	for _, t := range p.timed {
		p.endSession(t.ses, t.req.Turn-1, false, now)
		p.drop(t)
	}
	p.starts, p.ready, p.timed = queue{}, queue{}, nil
	p.checkIdle()
}

// drop gives up a ticket that was not granted, and its session.
func (p *phase) drop(t *ticket) {
	t.verdict = drop
	switch {
	case !t.launched:
		if t.req.Turn > 0 { // the executor knows the session
			p.g.work.close = append(p.g.work.close, &t.ses.Session)
		}
	case t.armed != nil:
		t.signal <- drop
	}
	if t.launched {
		p.armedUnsent--
	}
}

// mature moves continuations whose time has come to the ready queue, prepares those whose time is near, and returns the next instant.
func (p *phase) mature(now int64) int64 {
	for len(p.timed) > 0 && p.timed[0].wakeAt <= now {
		t := p.timed.pop()
		if t.due <= now {
			p.ready.push(t)
			continue
		}
		p.arm(t)
		t.wakeAt = t.due
		p.timed.push(t)
	}
	if len(p.timed) > 0 {
		return p.timed[0].wakeAt
	}
	return never
}

// mostArmed bounds the requests that are prepared and not yet allowed to leave.
const mostArmed = 4096

// arm prepares a ticket ahead, if it looks as if it could leave at its instant.
func (p *phase) arm(t *ticket) {
	if t.launched || p.armedUnsent >= mostArmed || p.g.prefill.free() <= p.armedUnsent {
		return
	}
	p.armedUnsent++
	p.g.launch(t)
}

// newSession makes the first ticket of a session of a drawn conversation.
func (p *phase) newSession(d draw, id string, turns int, due int64) *ticket {
	s := &session{drawn: d}
	s.Session = Session{ID: id, Conversation: d.index, Shape: d.shape, Turns: turns, URL: p.g.nextURL % p.g.plan.URLs}
	p.g.nextURL++
	return &ticket{p: p, ses: s, req: Request{Phase: &p.info, Session: &s.Session}, due: due}
}

// stock takes the next conversation of the data and makes its first ticket ready to be started.
func (p *phase) stock() (*ticket, bool) {
	d, ok, err := p.g.feed.take()
	if err == nil && ok {
		err = checkShape(d)
	}
	if err != nil {
		if p.g.err == nil {
			p.g.err = err
		}
		p.g.abort(StopSource, ErrInterrupted)
		return nil, false
	}
	if !ok {
		return nil, false
	}
	t := p.newSession(d, newUUID(), len(d.shape.Turns), 0)
	p.starts.push(t)
	return t, true
}

func checkShape(d draw) error {
	if len(d.shape.Turns) == 0 {
		return fmt.Errorf("conversation %d (%q) of the data set has no turn", d.index, d.shape.ID)
	}
	return nil
}

// tooManyFail applies the failed-request threshold.
func (p *phase) tooManyFail() bool {
	if p.FailureThreshold == nil || p.Warmup || p.g.failures {
		return false
	}
	finished, failed := p.count.completed.Load(), p.count.errors.Load()
	return finished >= int64(max(p.Concurrency, 10)) && float64(failed) > *p.FailureThreshold*float64(finished)
}

// lag records how late a request left.
func (p *phase) lag(t *ticket) {
	if t.issue.Intended == 0 {
		return
	}
	late := t.issue.At - t.issue.Intended
	p.lagMu.Lock()
	defer p.lagMu.Unlock()
	if p.frozen {
		return
	}
	p.facts.Schedule.Lag.Add(late)
	if t.punctual {
		p.facts.Schedule.Armed.Add(late)
	}
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// userID is the session id of a user.
func userID(n int) string { return strconv.Itoa(n) }
