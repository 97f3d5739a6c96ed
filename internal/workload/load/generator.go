package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/rng"
)

// Default wait times of a scenario.
const (
	cancellationStream = "timing.request.cancellation" // random stream of request cancellation; it advances only in profiling phases
	defaultCatchUp     = 10 * time.Millisecond
	defaultCancelDrain = 10 * time.Second
	defaultArmLead     = 50 * time.Millisecond
	primeLimit         = 2 * time.Second  // longest wait before a phase starts until its first requests are ready
	goroutineLimit     = time.Second      // longest wait at the end for goroutines whose requests have ended
	longestSleep       = 10 * time.Second // longest sleep of the scheduler
)

// Options are the dependencies of a Generator.
type Options struct {
	Source   Source
	Executor Executor
	Root     *rng.Root
	Waiter   clock.Waiter // nil = the best one of the platform
	Hooks    Hooks
	Busy     int // number of goroutines, besides the load, that are busy for milliseconds, for example the display
	// Coordinator is needed if other machines send parts of the run.
	Coordinator Coordinator
}

// Result is the result of a run of the generator.
type Result struct {
	Phases      []*PhaseStats     // in the order of the scenario; phases that never began are missing
	Interrupted bool              // the context was cancelled
	TooManyFail bool              // the failed-request threshold ended the run
	Unreachable *UnreachableError // the run ended because no connection could be made; nil = it did not
	Fenced      bool              // the fence ended the run
}

// Generator runs one scenario, once.
type Generator struct {
	scenario      Scenario
	opts          Options
	exec          Executor
	wait          clock.Waiter
	prefetcher    *prefetcher
	cancellation  *rng.Stream // random stream of request cancellation; advances only in profiling phases
	view          atomic.Pointer[phase]
	startedPhases atomic.Pointer[[]*phase] // all phases so far
	live          atomic.Int64             // number of requests, and of questions to the coordinator, that are not over
	limitsPrefill bool                     // some phase limits prefill
	ready         chan struct{}            // signals a change that prime waits for

	mu              sync.Mutex
	session         slots
	prefill         slots
	current         *phase // the phase that is sending
	active          []*phase
	nextURL         int           // number of the next session whose number does not come with its conversation
	passes          []int32       // by conversation, how often it was drawn
	lanes           []*replaySlot // lanes of a replay
	skippedPauses   bool          // the lanes continued without pauses in the warm-up
	nextTurns       []*ticket     // the next turns of the lanes in that case
	sleepsUntil     int64         // next instant at which the scheduler wakes up
	work            work          // to be done after the mutex is released
	interrupted     bool
	failures        bool
	endedByObserver bool          // an observer ended the run
	streak          failureStreak // consecutive connection failures
	unreachable     *UnreachableError
	err             error

	// Fields of a machine among several.
	fence       atomic.Int64 // instant from which on nothing is sent
	fenced      bool
	changes     []scheduledChange // in the order of their instants
	timers      []*time.Timer
	talking     context.Context // of calls of the coordinator that no phase waits for
	aligned     Usage           // usage of the run at the last start that was agreed with other machines
	used        Usage           // usage of this machine, apart from the numbers that are counted
	drawing     *drawing        // this machine's part of the conversations since then; nil = none
	following   bool            // it takes the conversations of all machines
	cancellable int64           // number of requests since then for which it was drawn whether they are cancelled
	otherDraws  int64           // such draws for requests of other machines before the next own one
}

// New checks the scenario and returns its generator.
func New(scenario Scenario, opts Options) (*Generator, error) {
	scenario.URLs = max(1, scenario.URLs)
	switch {
	case scenario.CatchUp == 0, scenario.CatchUp < 0 && !scenario.Share.whole(): // a share skips what is late, and every send is late by some µs
		scenario.CatchUp = defaultCatchUp
	case scenario.CatchUp < 0:
		scenario.CatchUp = 0
	}
	if scenario.CancelDrain <= 0 {
		scenario.CancelDrain = defaultCancelDrain
	}
	if scenario.ArmLead <= 0 {
		scenario.ArmLead = defaultArmLead
	}
	if err := scenario.check(); err != nil {
		return nil, err
	}
	if scenario.Phases = slices.Clone(scenario.Phases); opts.Coordinator == nil && !scenario.Share.whole() {
		return nil, errors.New("a run on several machines needs a coordinator")
	}
	for i := range scenario.Phases {
		scenario.Phases[i].split(scenario.Share)
	}
	opts.Source = serialize(opts.Source)
	g := &Generator{scenario: scenario, opts: opts, exec: opts.Executor, wait: opts.Waiter, ready: make(chan struct{}, 1)}
	if g.wait == nil {
		g.wait = clock.NewWaiter()
	}
	g.fence.Store(never)
	g.session.share, g.prefill.share = scenario.Share, scenario.Share
	for i := range scenario.Phases {
		g.limitsPrefill = g.limitsPrefill || scenario.Phases[i].Prefill > 0
	}
	g.cancellation = opts.Root.Stream(cancellationStream)
	next, err := newSampler(scenario.Sampling, opts.Source, opts.Root)
	if err != nil {
		return nil, err
	}
	g.prefetcher = newPrefetcher(opts.Source, func() (sample, bool) { return sample{index: int32(next())}, true }, draws(scenario.Phases, scenario.Share), g.onFed)
	return g, nil
}

// Run runs the phases. The end of the context corresponds to the first Ctrl-C: nothing more is sent, requests in flight are cancelled, and the
// results so far are returned without an error. It returns within CancelDrain plus one second, whatever the executor does.
func (g *Generator) Run(ctx context.Context) (*Result, error) {
	defer g.ownProcessor()()
	var hangUp context.CancelFunc
	g.talking, hangUp = context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	feeding, stopFeed := context.WithCancel(context.WithoutCancel(ctx))
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		g.prefetcher.run(feeding)
	}()
	stopWatch := context.AfterFunc(ctx, g.interrupt)
	defer func() {
		stopWatch()
		stopFeed()
		select {
		case <-fed:
		case <-time.After(goroutineLimit): // the source hangs
		}
	}()

	result := &Result{}
	var drains sync.WaitGroup
	for i := range g.scenario.Phases {
		p, err := g.open(ctx, i)
		if err != nil {
			if ctx.Err() == nil { // otherwise the run was interrupted before the phase began
				g.fail(err)
			}
			break
		}
		if p == nil {
			break
		}
		result.Phases = append(result.Phases, &p.stats)
		g.send(p)
		seamless := i+1 < len(g.scenario.Phases) && g.scenario.Phases[i+1].Seamless
		drains.Go(func() { g.drain(p) })
		if !seamless {
			drains.Wait()
		}
	}
	drains.Wait()
	g.awaitDropped()
	g.mu.Lock()
	defer g.mu.Unlock()
	result.Interrupted, result.TooManyFail, result.Unreachable, result.Fenced = g.interrupted, g.failures, g.unreachable, g.fenced
	for _, t := range g.timers {
		t.Stop()
	}
	return result, g.err
}

// ownProcessor raises GOMAXPROCS, and giveBack resets it. The scheduler's thread occupies one processor of the Go runtime, also during its short
// waits (clock.NewWaiter). Otherwise it would leave the kernel at its instant and wait for a processor until a goroutine is preempted. Measured with
// busy cores at 1,000 requests per second: without the extra processor a half to three quarters of the requests leave, with it more than 95 %. Each
// long-running goroutine besides the load occupies one processor, so there is another extra one for each. More than that would cost every run CPU
// time.
func (g *Generator) ownProcessor() (giveBack func()) {
	if !g.wait.Precise() {
		return func() {}
	}
	return processors.Add(1 + g.opts.Busy)
}

// open prepares a phase and starts its clock. It returns nil if the run is over.
func (g *Generator) open(ctx context.Context, index int) (*phase, error) {
	p := g.newPhase(ctx, index)
	if ctx.Err() != nil {
		g.interrupt()
	}
	if g.isLastPhase() {
		return nil, nil
	}
	if err := g.align(ctx, p); err != nil {
		p.cancel(err)
		return nil, err
	}
	if err := p.firstLease(ctx); err != nil {
		p.cancel(err)
		return nil, err
	}
	if err := p.build(ctx); err != nil {
		p.cancel(err)
		return nil, err
	}
	g.mu.Lock()
	g.active = append(g.active, p)
	over := g.interrupted
	g.mu.Unlock()
	if over {
		g.interrupt()
	}
	g.prime(ctx, p)
	if before := g.opts.Hooks.Before; before != nil {
		if err := before(ctx, &p.info); err != nil && ctx.Err() == nil {
			g.fail(err)
		}
	}
	at := g.startOf(ctx, p)
	g.mu.Lock()
	p.begin(at)
	g.current = p
	g.mu.Unlock()
	g.view.Store(p)
	var begun []*phase
	if before := g.startedPhases.Load(); before != nil {
		begun = slices.Clone(*before)
	}
	begun = append(begun, p)
	g.startedPhases.Store(&begun)
	if started := g.opts.Hooks.Started; started != nil {
		started(&p.info, p.t0)
	}
	return p, nil
}

// startOf returns the instant at which a phase starts: at once, or when all machines start it. A seamless phase starts at the end of the duration of
// the phase before, which is the same on all machines.
func (g *Generator) startOf(ctx context.Context, p *phase) int64 {
	switch {
	case g.opts.Coordinator == nil:
	case !p.Seamless:
		at, err := g.opts.Coordinator.Begin(ctx, &p.info)
		if err == nil {
			return at
		}
		if ctx.Err() == nil {
			g.fail(err)
		}
	default:
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.current.stats.StoppedBy == StopDuration {
			return g.current.stopAt
		}
	}
	return clock.Now()
}

// prime prepares the first requests, so that they are armed at their instants.
func (g *Generator) prime(ctx context.Context, p *phase) {
	timer := time.NewTimer(primeLimit)
	defer timer.Stop()
	for {
		g.mu.Lock()
		short := p.sending && p.driver.prime()
		waiting := short || p.unarmed.Load() > 0
		w := g.takeWork()
		g.mu.Unlock()
		g.do(w)
		if !waiting {
			return
		}
		select {
		case <-g.ready:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// send is the scheduler: it advances the phase's state machine at its instants until everything was sent.
func (g *Generator) send(p *phase) {
	g.wait.Attach()
	defer g.wait.Detach()
	var relay *processors.Relay
	if g.wait.Precise() {
		relay = processors.NewRelay()
		defer relay.Close()
	}
	for {
		g.mu.Lock()
		now := clock.Now()
		g.sleepsUntil = min(g.step(now), now+int64(longestSleep))
		until, sending := g.sleepsUntil, p.sending
		w := g.takeWork()
		g.mu.Unlock()
		g.doWith(w, relay)
		if !sending {
			return
		}
		g.wait.Until(until)
	}
}

// awaitDropped waits briefly for the goroutines of dropped requests.
func (g *Generator) awaitDropped() {
	timer := time.NewTimer(goroutineLimit)
	defer timer.Stop()
	for {
		if g.live.Load() == 0 {
			return
		}
		select {
		case <-g.ready:
		case <-timer.C:
			return
		}
	}
}

// isLastPhase reports whether no further phase will begin.
func (g *Generator) isLastPhase() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.interrupted || g.fenced || g.failures || g.endedByObserver || g.unreachable != nil || g.err != nil
}

// interrupt handles the first Ctrl-C.
func (g *Generator) interrupt() {
	g.mu.Lock()
	g.interrupted = true
	g.abort(StopInterrupted, ErrInterrupted)
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// Finish ends the run as if its time were over: nothing more is sent, requests in flight are cancelled, and the results are complete.
func (g *Generator) Finish() {
	g.mu.Lock()
	g.endedByObserver = true
	g.abort(StopWatcher, ErrSeen)
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// fail ends the run with an error.
func (g *Generator) fail(err error) {
	g.mu.Lock()
	if g.err == nil {
		g.err = err
	}
	g.abort(StopSource, ErrInterrupted)
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// abort stops sending and cancels what is in flight, in all phases.
func (g *Generator) abort(why Stop, cause error) {
	now := clock.Now()
	for _, p := range g.active {
		p.stop(why, now)
		p.cancelInFlight(cause)
	}
	g.wait.Wake()
}

// changed makes prime and awaitDropped check again.
func (g *Generator) changed() {
	select {
	case g.ready <- struct{}{}:
	default:
	}
}

// Snapshot returns the state of the current phase without disturbing it.
func (g *Generator) Snapshot() Snapshot {
	p := g.view.Load()
	if p == nil {
		return Snapshot{}
	}
	return p.snapshot()
}

// Snapshots returns the state of all phases that have begun, in their order.
func (g *Generator) Snapshots() (all []Snapshot) {
	begun := g.startedPhases.Load()
	if begun == nil {
		return nil
	}
	for _, p := range *begun {
		all = append(all, p.snapshot())
	}
	return all
}

func (p *phase) snapshot() Snapshot {
	c := &p.count
	return Snapshot{
		Info: &p.info, Phase: p.shown,
		Started: c.started.Load(), SentAll: c.sentAll.Load(), Ended: c.ended.Load(),
		Sent: c.sent.Load(), Completed: c.completed.Load(), Errors: c.errors.Load(), Cancelled: c.cancelled.Load(),
		Sessions: c.sessions.Load(), Turns: c.turns.Load(), Finished: c.finished.Load(), FirstToken: c.prefills.Load(),
		Cut: c.cutSessions.Load(), Skipped: c.skipped.Load(), Reanchors: c.reanchors.Load(),
	}
}
