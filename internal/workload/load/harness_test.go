package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms  = time.Millisecond
	sec = time.Second
)

// talk is a source of n equal conversations of a given number of turns; delay in ms for turns after the first.
func talk(n, turns int, delay float64) *shapes {
	s := &shapes{}
	for i := range n {
		shape := Shape{ID: fmt.Sprintf("c%d", i)}
		for k := range turns {
			var turn TurnTime
			if k > 0 && delay > 0 {
				turn.Delay = &delay
			}
			shape.Turns = append(shape.Turns, turn)
		}
		s.list = append(s.list, shape)
	}
	return s
}

// trace is a source of single-turn conversations with these timestamps in ms.
func trace(times ...float64) *shapes {
	s := talk(len(times), 1, 0)
	for i := range times {
		s.list[i].Turns[0].Timestamp = &times[i]
	}
	return s
}

type shapes struct {
	list   []Shape
	slow   time.Duration
	broken int // index + 1 of the conversation that cannot be made
}

func (s *shapes) Len() int { return len(s.list) }

func (s *shapes) Shape(i int) (Shape, error) {
	if s.slow > 0 {
		time.Sleep(s.slow)
	}
	if s.broken == i+1 {
		return Shape{}, fmt.Errorf("conversation %d is broken", i)
	}
	return s.list[i], nil
}

// manner is how the simulated server treats a request.
type manner struct {
	prepare time.Duration
	ttft    time.Duration // 0 = not streamed: no first token
	total   time.Duration // from the write to the end
	fail    bool
	refused bool // it fails because the answer says so
	// unread is how long the first content and the end of the answer lay unread when they were reported; connect how long a connection took to be made
	unread, connect time.Duration
	// unstamped: the end of the answer is known only by when it was read.
	unstamped bool
	// unreachable: it fails because no connection can be made
	unreachable bool
	deaf        bool // does not notice that it was cut, and never ends before the test does
}

// sending is what the simulated server saw of one request.
type sending struct {
	Issue
	Phase        string
	Session      string
	Conversation int
	Turn, URL    int
	Pass         int
	first, end   int64
	outcome      Outcome
	cause        error
}

// sim is an executor on the virtual clock that checks what must hold at all times.
type sim struct {
	t      complainer
	behave func(r *Request) manner
	// overflow tells which prompts are too long; nil = none
	overflow func(r *Request) bool
	release  chan struct{} // ends deaf requests

	mu        sync.Mutex
	list      []*sending
	inFlight  int
	peak      int
	waiting   int // for their first token
	peakWait  int
	sessions  map[string]visit // open ones
	peakOpen  int
	busy      map[string]bool // sessions with a turn under way
	closed    map[string]int
	discarded int
	known     int
}

// complainer takes what is wrong.
type complainer interface {
	Errorf(format string, args ...any)
}

func newSim(t complainer, m manner) *sim {
	return &sim{
		t: t, behave: func(*Request) manner { return m }, release: make(chan struct{}),
		sessions: map[string]visit{}, busy: map[string]bool{}, closed: map[string]int{},
	}
}

type simRequest struct {
	s    *sim
	ctx  context.Context
	req  Request
	m    manner
	seen *sending
	key  string
}

// key tells sessions apart: their ids may come back in a later phase.
func (s *sim) key(ses *Session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses.State == nil {
		s.known++
		ses.State = fmt.Sprintf("%s (%d)", ses.ID, s.known)
	}
	return ses.State.(string)
}

func (s *sim) Prepare(ctx context.Context, r *Request) ArmedRequest {
	m := s.behave(r)
	a := &simRequest{s: s, ctx: ctx, req: *r, m: m, key: s.key(r.Session)}
	if m.prepare > 0 {
		a.sleep(m.prepare)
	}
	return a
}

func (s *sim) Close(ses *Session) {
	id := s.key(ses)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed[id]++
	if s.closed[id] > 1 {
		s.t.Errorf("session %s closed twice", id)
	}
	if s.busy[id] {
		s.t.Errorf("session %s closed with a turn under way", id)
	}
	delete(s.sessions, id)
}

func (r *simRequest) Fire(issue Issue) {
	s, id := r.s, r.key
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		s.t.Errorf("session %s: turn %d while another is under way", id, r.req.Turn)
	}
	if s.closed[id] > 0 {
		s.t.Errorf("session %s: turn %d after Close", id, r.req.Turn)
	}
	s.busy[id] = true
	s.sessions[id] = visit{phase: r.req.Phase.Index}
	s.inFlight++
	s.waiting++
	s.peak, s.peakOpen, s.peakWait = max(s.peak, s.inFlight), max(s.peakOpen, s.open(r.req.Phase.Index)), max(s.peakWait, s.waiting)
	r.seen = &sending{
		Issue: issue, Phase: r.req.Phase.Name, Session: r.req.Session.ID, Conversation: r.req.Session.Conversation, Turn: r.req.Turn,
		URL: r.req.Session.URL, Pass: r.req.Session.Pass,
	}
	s.list = append(s.list, r.seen)
}

// visit is an open session: the end of its last turn, 0 while one is under way.
type visit struct {
	phase int
	end   int64
}

// open is the number of sessions that hold a slot while a phase sends. Those whose turn ends at this very instant may have given it back
// already, as have those that were between two turns when an earlier phase had sent everything.
func (s *sim) open(phase int) int {
	n := 0
	for _, v := range s.sessions {
		if v.end == 0 || v.phase == phase && v.end != clock.Now() {
			n++
		}
	}
	return n
}

func (r *simRequest) Discard() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.discarded++
}

// Wait implements ArmedRequest. Every second request waits in its own goroutine.
func (r *simRequest) Wait(firstToken func(int64), ended func(Outcome)) {
	wait := func() { ended(r.wait(firstToken)) }
	if r.seen.Number%2 == 1 {
		go wait()
		return
	}
	wait()
}

func (r *simRequest) wait(firstToken func(int64)) Outcome {
	if r.m.ttft > 0 && r.sleep(r.m.ttft) {
		r.s.mu.Lock()
		r.seen.first = clock.Now()
		r.s.waiting--
		r.s.mu.Unlock()
		firstToken(r.seen.first - int64(r.m.unread))
	}
	ok := r.ctx.Err() == nil && r.sleep(r.m.total-r.m.ttft)
	if r.m.deaf {
		<-r.s.release
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.inFlight--
	if r.seen.first == 0 {
		r.s.waiting--
	}
	delete(r.s.busy, r.key)
	r.seen.end = clock.Now()
	r.s.sessions[r.key] = visit{r.req.Phase.Index, r.seen.end}
	r.seen.outcome = Outcome{Failed: r.m.fail, Cancelled: !ok, NoConnection: ok && r.m.unreachable}
	if !r.m.fail || r.m.refused {
		r.seen.outcome.Arrived = r.seen.end - int64(r.m.unread)
		if r.m.unstamped {
			r.seen.outcome.Arrived, r.seen.outcome.Unseen = r.seen.end, int64(r.m.unread)
		}
	}
	r.seen.outcome.Connecting = r.m.connect
	r.seen.outcome.Overflow = r.s.overflow != nil && r.s.overflow(&r.req)
	r.seen.cause = context.Cause(r.ctx)
	return r.seen.outcome
}

// sleep returns false when the request was cut. It never waits for a timer that is due: two goroutines of a bubble that do at once share one context of
// the race detector, which ends in a fault of the runtime (unlockAndRun of Go 1.26).
func (r *simRequest) sleep(d time.Duration) bool {
	if d <= 0 {
		return r.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// phase returns what was sent in a phase, in the order of the grants.
func (s *sim) phase(name string) []*sending {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*sending
	for _, v := range s.list {
		if v.Phase == name {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *sending) int { return int(a.Number - b.Number) })
	return out
}

var testSeed = uint64(7)

// play runs a scenario on the virtual clock.
func play(t *testing.T, scenario Scenario, source Source, s *sim) *Result {
	t.Helper()
	r, err := playCtx(t, context.Background(), scenario, Options{Source: source, Executor: s})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func playCtx(t *testing.T, ctx context.Context, scenario Scenario, opts Options) (*Result, error) {
	t.Helper()
	opts.Root = rng.New(&testSeed)
	if opts.Waiter == nil {
		opts.Waiter = clock.NewTimerWaiter()
	}
	g, err := New(scenario, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.session.used != 0 || g.prefill.used != 0 {
		t.Errorf("%d session slots and %d prefill slots were not given back", g.session.used, g.prefill.used)
	}
	for _, p := range r.Phases {
		if p.PrefillsReleased > p.Sent {
			t.Errorf("%d first tokens of %d requests", p.PrefillsReleased, p.Sent)
		}
	}
	return r, err
}

// bubble runs a test on the virtual clock.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// one is a scenario of one profiling phase.
func one(p Phase) Scenario {
	p.Name = "profiling"
	return Scenario{Phases: []Phase{p}}
}

// offsets are the instants of issue after the start of the phase, ms.
func offsets(f *PhaseStats, list []*sending) []float64 {
	var out []float64
	for _, v := range list {
		out = append(out, float64(v.At-f.Started)/1e6)
	}
	return out
}

func wantTimes(t *testing.T, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d sent at %v, want %d at %v", len(got), got, len(want), want)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > tol {
			t.Fatalf("send %d at %v ms, want %v: %v", i, got[i], want[i], got)
		}
	}
}

func wantCount(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}
