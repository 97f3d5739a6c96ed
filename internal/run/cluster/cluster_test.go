package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/testhome"
	"aiperf/internal/wire/bus"
	"aiperf/internal/workload/load"
)

const token = "0123456789abcdef0123456789abcdef"

var seed = uint64(42)

// sends is an executor that notes what is sent and answers each request after a while.
type sends struct {
	latency time.Duration
	mu      sync.Mutex
	list    []sent
}

type sent struct {
	load.Issue
	phase        int
	conversation int
}

type armed struct {
	s   *sends
	req load.Request
	at  time.Time
}

func (s *sends) Prepare(_ context.Context, r *load.Request) load.ArmedRequest {
	return &armed{s: s, req: *r}
}
func (s *sends) Close(*load.Session) {}
func (a *armed) Discard()            {}

func (a *armed) Fire(issue load.Issue) {
	a.at = time.Now()
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.list = append(a.s.list, sent{issue, a.req.Phase.Index, a.req.Session.Conversation})
}

func (a *armed) Wait(_ func(int64), ended func(load.Outcome)) {
	<-time.After(time.Until(a.at.Add(a.s.latency)))
	ended(load.Outcome{})
}

func (s *sends) sent() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// conversations is a source of single-turn conversations.
type conversations int

func (c conversations) Len() int { return int(c) }

func (c conversations) Shape(i int) (load.Shape, error) {
	return load.Shape{ID: fmt.Sprint("c", i), Turns: make([]load.TurnTime, 1)}, nil
}

// machine is a worker of a test.
type machine struct {
	sends
	client *bus.Client
	gen    *load.Generator
	result *load.Result
	err    error
}

// fleet is a run on several machines: real bus, real engine.
type fleet struct {
	server   *bus.Server
	hub      *Hub
	machines []*machine
	lost     chan string
	done     sync.WaitGroup
}

func options(source int, executor load.Executor) load.Options {
	return load.Options{Source: conversations(source), Executor: executor, Root: rng.New(&seed), Waiter: clock.NewTimerWaiter()}
}

func startFleet(t *testing.T, n int, scenario load.Scenario, wait time.Duration) *fleet {
	t.Helper()
	f := &fleet{lost: make(chan string, 10)}
	var names []string
	for k := range n {
		names = append(names, fmt.Sprint("w", k))
	}
	f.hub = NewHub(t.Context(), scenario, names, wait, load.Hooks{})
	t.Cleanup(f.hub.Close)
	var err error
	f.server, err = bus.Listen(bus.Options{Listen: "127.0.0.1:0", Token: token, Answer: f.hub.Answer, Presence: func(e bus.Event) {
		if e.Kind == bus.Disconnected {
			f.hub.Lost(e.Member)
			f.lost <- e.Member
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.server.Close)
	for k, name := range names {
		m := &machine{sends: sends{latency: 20 * time.Millisecond}}
		if m.client, err = bus.Dial(t.Context(), bus.DialOptions{Join: f.server.Join(), Token: token, Name: name}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.client.Close)
		own, c := scenario, &Coordinator{Controller: m.client, Clock: m.client.Tie()}
		own.Share = load.Share{Index: k, Of: n}
		opts := options(40, m)
		opts.Coordinator = c
		opts.Hooks.After = func(p *load.PhaseStats) { _ = c.Complete(t.Context(), p) }
		if m.gen, err = load.New(own, opts); err != nil {
			t.Fatal(err)
		}
		f.machines = append(f.machines, m)
		keep, stop := context.WithCancel(t.Context())
		f.done.Go(func() { c.KeepFence(keep, 3*time.Second, m.gen.Fence) })
		f.done.Go(func() {
			defer stop()
			m.result, m.err = m.gen.Run(context.Background())
			f.hub.Lost(name)
		})
	}
	return f
}

// schedule describes what was sent: number, conversation and intended instant after the start of the phase. It leaves out what was due shortly before the
// end of the second phase: a busy machine can be too late for it.
func schedule(list []sent, r *load.Result) (all []string) {
	slices.SortFunc(list, func(a, b sent) int { return cmp.Or(a.phase-b.phase, cmp.Compare(a.Number, b.Number)) })
	for _, v := range list {
		at := v.Intended - r.Phases[v.phase].Started
		if v.phase == 1 && at > int64(700*time.Millisecond) {
			continue
		}
		all = append(all, fmt.Sprintf("phase %d %6d: conversation %d at %d ns", v.phase, v.Number, v.conversation, at))
	}
	return all
}

// TestScheduleOverTheBus: three machines, tied by a real bus, send the schedule of one process, to the nanosecond; a count is exact.
func TestScheduleOverTheBus(t *testing.T) {
	testhome.Slow(t)
	scenario := load.Scenario{CatchUp: time.Hour, Sampling: load.Shuffle, Phases: []load.Phase{
		{Name: "rate", Mode: load.Rate, Pattern: load.Poisson, Rate: 200, Requests: 120},
		{Name: "ramp", Mode: load.Rate, Pattern: load.Gamma, Smoothness: 2, Rate: 200, RateRamp: load.Ramp{Duration: 500 * time.Millisecond}, Duration: time.Second, Grace: -1},
		{Name: "loop", Mode: load.ClosedLoop, Concurrency: 7, Requests: 101},
	}}
	alone := &sends{latency: 20 * time.Millisecond}
	g, err := load.New(scenario, options(40, alone))
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := func(list []sent) []sent { return slices.DeleteFunc(list, func(v sent) bool { return v.phase == 2 }) }
	want := schedule(open(alone.sent()), r)

	f := startFleet(t, 3, scenario, 20*time.Second)
	f.done.Wait()
	var got []string
	loop := 0
	for k, m := range f.machines {
		if m.err != nil {
			t.Fatalf("machine %d: %v", k, m.err)
		}
		got = append(got, schedule(open(m.sent()), m.result)...)
		loop += len(m.sent()) - len(open(m.sent()))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d requests, want %d", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%q, want %q", got[i], want[i])
			}
		}
	}
	if loop != 101 {
		t.Errorf("%d requests of 101 in the closed loop", loop)
	}
	for p := range scenario.Phases { // one clock here: the starts differ by the errors of the ties only
		var starts []int64
		bound := int64(0)
		for _, m := range f.machines {
			starts = append(starts, m.result.Phases[p].Started)
			_, b, _ := m.client.Tie().Reference(m.result.Phases[p].Started)
			bound = max(bound, b)
		}
		if d := slices.Max(starts) - slices.Min(starts); d > 4*bound {
			t.Errorf("phase %d starts within %d ns; the clocks are tied within %d ns", p, d, bound)
		}
	}
}

// TestLostMachine: a machine that is gone is not waited for, its part is not sent by others, and it stops at its fence.
func TestLostMachine(t *testing.T) {
	testhome.Slow(t)
	scenario := load.Scenario{CatchUp: time.Hour, Phases: []load.Phase{
		{Name: "rate", Mode: load.Rate, Pattern: load.Constant, Rate: 50, Requests: 300},
		{Name: "loop", Mode: load.ClosedLoop, Concurrency: 4, Requests: 40},
	}}
	f := startFleet(t, 2, scenario, 20*time.Second)
	gone := f.machines[1]
	for tick := time.NewTicker(time.Millisecond); len(gone.sent()) < 3; {
		<-tick.C
	}
	left := clock.Now()
	gone.client.Close()
	if name := <-f.lost; name != "w1" {
		t.Errorf("%s is lost", name)
	}
	f.done.Wait()
	if m := f.machines[0]; m.err != nil || m.result.Phases[0].Sent != 150 || len(m.result.Phases) != 2 {
		t.Errorf("%v, %+v", m.err, m.result)
	}
	last := gone.sent()[len(gone.sent())-1]
	if last.At > left+int64(3*time.Second) || last.phase != 0 || len(gone.sent()) >= 150 {
		t.Errorf("the lost machine sent %d requests, the last one after %v", len(gone.sent()), time.Duration(last.At-left))
	}
	if got := len(f.machines[0].sent()) - 150; got < 1 || got > 40 {
		t.Errorf("%d requests in the closed loop", got)
	}
}

// TestMissingMachine: a start that does not come names who is missing.
func TestMissingMachine(t *testing.T) {
	h := NewHub(t.Context(), load.Scenario{Phases: []load.Phase{{Name: "warmup", Mode: load.ClosedLoop, Concurrency: 3, Requests: 9}}}, []string{"a", "b", "c"}, 10*time.Millisecond, load.Hooks{})
	_, err := h.Answer(t.Context(), "b", askOpen, []byte(`{"Phase":0}`))
	if err == nil || !strings.HasSuffix(err.Error(), "no word from a, c") {
		t.Errorf("%v", err)
	}
	h.Lost("a")
	h.Lost("nobody")
	h.Lost("c")
	if got, err := h.Answer(t.Context(), "b", askBegin, []byte(`{"Phase":0}`)); err != nil || !strings.HasPrefix(string(got), `{"At":`) {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := h.Answer(t.Context(), "a", askOpen, []byte(`{"Phase":0}`)); err == nil {
		t.Error("a machine that was given up goes on")
	}
}

// TestHostileQuestions: the hub refuses impossible questions, and they change no count.
func TestHostileQuestions(t *testing.T) {
	h := NewHub(t.Context(), load.Scenario{Phases: []load.Phase{{Name: "loop", Mode: load.ClosedLoop, Concurrency: 2, Requests: 10}, {Name: "open", Mode: load.Rate, Rate: 5, Requests: 10}}}, []string{"a", "b"}, time.Second, load.Hooks{})
	for _, q := range [][3]string{
		{"c", askOpen, `{}`}, {"a", askOpen, `{"Phase":2}`}, {"a", askOpen, `{"Phase":-1}`}, {"a", askOpen, `x`}, {"a", askOpen, ``}, {"a", "stop", `{}`},
		{"a", askLease, `{"Ask":{"Return":1,"Leave":true}}`}, {"a", askLease, `{"Ask":{"Unused":-9223372036854775808}}`}, {"a", askLease, `{"Phase":1}`},
	} {
		if got, err := h.Answer(t.Context(), q[0], q[1], []byte(q[2])); err == nil {
			t.Errorf("%v: %s", q, got)
		}
	}
	if _, err := h.Answer(t.Context(), "late", askOpen, nil); !errors.Is(err, errUnknown) {
		t.Errorf("%v", err)
	}
	total := int64(0)
	for k := range 2 {
		for {
			got, err := h.lease(t.Context(), 0, k, load.Ask{})
			if err != nil {
				t.Fatal(err)
			}
			if total += got.Count; got.Count == 0 {
				break
			}
		}
	}
	if total != 10 {
		t.Errorf("%d leases of 10", total)
	}
}
