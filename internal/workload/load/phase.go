package load

import (
	"context"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/rng"
)

// driver is the algorithm of a mode. The caller of every method except build holds the generator's mutex.
type driver interface {
	// build prepares the schedule before the phase.
	build(ctx context.Context) error
	// prime arms the first requests. It reports whether it needs more data for that.
	prime() (short bool)
	// begin sets the start of the phase.
	begin(t0 int64)
	// advance grants everything that may leave by now and returns the next instant at which it must be called.
	advance(now int64) int64
	// ahead prepares what comes next and returns the next instant at which there is something to prepare.
	ahead(now int64) int64
	// due returns the instant of turn next, which follows t; t has just returned.
	due(t, next *ticket, now int64) int64
	// finished reports whether no further session will ever start.
	finished() bool
}

// phase is a running Phase. The generator's mutex guards its fields.
type phase struct {
	Phase
	g      *Generator
	info   PhaseInfo
	driver driver
	ctx    context.Context
	cancel context.CancelCauseFunc

	t0, stopAt  int64
	steadyAt    int64 // end of all ramps
	rampsOver   bool
	rampCaps    Caps // Caps up to steadyAt
	sending     bool
	unsentTurns int64 // turns of started sessions that are not sent yet
	inFlight    map[*ticket]struct{}
	starts      queue // first turns of new sessions, in order
	ready       queue // continuations that are due
	timed       ticketQueue
	unarmed     atomic.Int64  // number of tickets being prepared
	armedUnsent int           // number of tickets launched but not granted
	idle        chan struct{} // closed when everything was sent and has returned
	cutting     chan struct{} // closed when the requests in flight are cancelled
	idleOnce    sync.Once
	cutOnce     sync.Once

	count     counters
	stats     PhaseStats
	quota     *quota     // nil = the phase has no leases
	shown     *Phase     // what snapshots show; it does not change after the start
	parked    []*ticket  // turns of a replay that wait for turns of other sessions
	continues bool       // sessions running at the end of sending continue in the next phase
	lagMu     sync.Mutex // guards the histograms of stats
	final     bool       // the stats are final
}

// Info describes a phase.
func (scenario *Scenario) Info(index int) PhaseInfo {
	p := &scenario.Phases[index]
	info := PhaseInfo{Name: p.Name, Index: index, Profiling: -1, Warmup: p.Warmup, Seamless: p.Seamless, Mode: p.Mode, Primes: p.Mode == AgenticReplay && p.Warmup}
	if !p.Warmup {
		for _, other := range scenario.Phases[:index+1] {
			if !other.Warmup {
				info.Profiling++
			}
		}
	}
	return info
}

func (g *Generator) newPhase(ctx context.Context, index int) *phase {
	p := &phase{
		Phase: g.scenario.Phases[index], g: g, sending: true, stopAt: never,
		inFlight: map[*ticket]struct{}{}, idle: make(chan struct{}), cutting: make(chan struct{}),
	}
	p.info = g.scenario.Info(index)
	p.quota = g.newQuota(index)
	p.stats.Info = p.info
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
	case AgenticReplay:
		if p.Warmup {
			return &primer{replay: replay{p: p}}
		}
		return &replay{p: p}
	}
	return &closedLoop{p: p}
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
	sessions, prefills := p.Concurrency, p.Prefill
	switch p.Moving.Quantity {
	case SessionSlots:
		sessions = int(p.Moving.From)
	case PrefillSlots:
		prefills = int(p.Moving.From)
	}
	p.g.session.vacant.begin(p.Mode == ClosedLoop)
	p.g.prefill.vacant.begin(p.Mode == ClosedLoop && p.g.limitsPrefill)
	p.g.session.begin(limitSteps(p.ConcurrencyRamp, sessions, stream), t0, p.stopAt)
	p.g.prefill.begin(limitSteps(p.PrefillRamp, prefills, stream), t0, p.stopAt)
}

// begin starts the phase's clock.
func (p *phase) begin(now int64) {
	shown := p.Phase
	if p.quota != nil { // its counts grow with the leases
		of := &p.g.scenario.Phases[p.info.Index]
		shown.Requests, shown.Sessions = of.Requests, of.Sessions
	}
	p.shown = &shown
	p.t0 = now
	if p.Duration > 0 {
		p.stopAt = later(now, p.Duration)
	}
	p.steadyAt = later(now, max(p.RateRamp.Duration, p.ConcurrencyRamp.Duration, p.PrefillRamp.Duration))
	p.setLimits(now)
	p.stats.Started = now
	p.stats.Schedule.Precise = p.g.wait.Precise()
	p.count.started.Store(now)
	p.g.prefetcher.deepen(0)
	p.driver.begin(now)
}

// capsUntil returns for how long limits were reached, up to a recent instant.
func (p *phase) capsUntil(at int64) Caps {
	return Caps{Seconds: p.g.session.full.until(at), BusySeconds: p.g.session.busy.until(at), PrefillSeconds: p.g.prefill.full.until(at)}
}

// passRamps records the end of the ramps.
func (p *phase) passRamps(now int64) {
	if !p.rampsOver && now >= p.steadyAt {
		p.rampsOver = true
		p.rampCaps = p.capsUntil(p.steadyAt)
	}
}

// lag records how late a request left, and how much of that the client itself caused. A late answer is not the client's fault.
func (p *phase) lag(t *ticket) {
	if t.issue.Intended == 0 {
		return
	}
	from := t.issue.Intended
	if t.scheduled != 0 {
		from = t.due
	}
	late := t.issue.At - t.issue.Intended
	p.lagMu.Lock()
	defer p.lagMu.Unlock()
	if p.final {
		return
	}
	p.stats.Schedule.Lag.Add(late)
	if !t.waited {
		p.stats.Schedule.Own.Add(t.issue.At - from)
	}
	if t.punctual {
		p.stats.Schedule.Armed.Add(late)
	}
}
