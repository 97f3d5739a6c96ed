package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/testhome"
)

// hub is the controller of several generators in one test: barriers, and the leases of the phases.
type hub struct {
	scenario Scenario
	n        int

	mu       sync.Mutex
	barriers map[string]*gathering
	leases   map[int]*Leases
	given    int64 // number of leases
	gone     int   // machines whose run is over
}

// gathering is a barrier that waits for all machines.
type gathering struct {
	used    Usage
	arrived int
	at      int64
	all     chan struct{}
}

func newHub(scenario Scenario, n int) *hub {
	scenario.Share.Of = n
	return &hub{scenario: scenario, n: n, barriers: map[string]*gathering{}, leases: map[int]*Leases{}}
}

func (h *hub) gather(ctx context.Context, key string, own Usage) (*gathering, error) {
	h.mu.Lock()
	b := h.barriers[key]
	if b == nil {
		b = &gathering{all: make(chan struct{})}
		h.barriers[key] = b
	}
	b.used = b.used.Max(own)
	b.arrived++
	h.release()
	h.mu.Unlock()
	select {
	case <-b.all:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// release opens the barriers that all machines have reached that are not gone.
func (h *hub) release() {
	for _, b := range h.barriers {
		if b.arrived+h.gone >= h.n && b.at == 0 && b.arrived > 0 {
			b.at = clock.Now() + int64(sec)
			close(b.all)
		}
	}
}

func (h *hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone++
	h.release()
}

func (h *hub) lease(p *PhaseInfo) *Leases {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[p.Index]
	if l == nil {
		count, _ := h.scenario.Leased(p.Index)
		l = NewLeases(count, h.n)
		h.leases[p.Index] = l
	}
	h.given++
	return l
}

// member is one machine of a hub.
type member struct {
	*hub
	index int
}

func (m member) Open(ctx context.Context, p *PhaseInfo, own Usage) (Usage, error) {
	b, err := m.gather(ctx, fmt.Sprint("open ", p.Index), own)
	if err != nil {
		return own, err
	}
	return b.used, nil
}

func (m member) Begin(ctx context.Context, p *PhaseInfo) (int64, error) {
	b, err := m.gather(ctx, fmt.Sprint("begin ", p.Index), Usage{})
	if err != nil {
		return 0, err
	}
	return b.at, nil
}

func (m member) Lease(ctx context.Context, p *PhaseInfo, ask Ask) (Lease, error) {
	return m.lease(p).Take(ctx, m.index, ask)
}

// machines is the result of a scenario on several generators.
type machines struct {
	results []*Result
	sims    []*sim
	hub     *hub
	running []*Generator
}

// playOn runs a scenario on n machines on the virtual clock. during runs in parallel once they exist; nil = nothing.
func playOn(t *testing.T, n int, scenario Scenario, source Source, behave func(*Request) manner, during func(m *machines)) *machines {
	t.Helper()
	m := &machines{hub: newHub(scenario, n)}
	var all sync.WaitGroup
	for k := range n {
		s := newSim(t, manner{})
		s.behave = behave
		own := scenario
		own.Share = Share{Index: k, Of: n}
		opts := Options{Source: source, Executor: s, Root: rng.New(&testSeed), Waiter: clock.NewTimerWaiter(), Coordinator: member{m.hub, k}}
		opts.Hooks.After = func(f *PhaseStats) {
			if _, leased := m.hub.scenario.Leased(f.Info.Index); leased {
				m.hub.lease(&f.Info).Leave(k)
			}
		}
		g, err := New(own, opts)
		if err != nil {
			t.Fatal(err)
		}
		m.sims, m.running, m.results = append(m.sims, s), append(m.running, g), append(m.results, nil)
	}
	for k, g := range m.running {
		all.Go(func() {
			defer m.hub.leave()
			r, err := g.Run(context.Background())
			if err != nil {
				t.Errorf("machine %d: %v", k, err)
			}
			m.results[k] = r
		})
	}
	if during != nil {
		during(m)
	}
	all.Wait()
	for k, g := range m.running {
		g.mu.Lock()
		if g.session.used != 0 || g.prefill.used != 0 {
			t.Errorf("machine %d: %d session slots and %d prefill slots were not given back", k, g.session.used, g.prefill.used)
		}
		g.mu.Unlock()
	}
	return m
}

// lines describes every request of a phase, in the order of the instants: with the instant after the start of the phase, and with what was sent.
func lines(started func(phase string) int64, list []*sending, what func(at int64, v *sending) string) (all []string) {
	for _, v := range list {
		all = append(all, what(v.At-started(v.Phase), v))
	}
	slices.Sort(all)
	return all
}

func startsOf(r *Result) func(string) int64 {
	return func(name string) int64 {
		for _, f := range r.Phases {
			if f.Info.Name == name {
				return f.Started
			}
		}
		return 0
	}
}

func (m *machines) lines(what func(at int64, v *sending) string) (all []string) {
	for k, s := range m.sims {
		all = append(all, lines(startsOf(m.results[k]), s.list, what)...)
	}
	slices.Sort(all)
	return all
}

// What of a request must be equal.
func everything(at int64, v *sending) string {
	return fmt.Sprintf("%s %12d conversation %d turn %d pass %d url %d cancel %v intended %v", v.Phase, at, v.Conversation, v.Turn, v.Pass, v.URL, v.CancelAfter, v.Intended != 0)
}

func instants(at int64, v *sending) string { return fmt.Sprintf("%s %12d", v.Phase, at) }

func bodies(_ int64, v *sending) string {
	return fmt.Sprintf("%s conversation %d turn %d pass %d url %d", v.Phase, v.Conversation, v.Turn, v.Pass, v.URL)
}

func nothing(_ int64, v *sending) string { return v.Phase }

// shareCase is a scenario that several machines must send like one process.
type shareCase struct {
	name   string
	source Source
	phases []Phase
	equal  func(at int64, v *sending) string
}

// steadyServer answers each turn of a conversation after its own time.
func steadyServer(r *Request) manner {
	return manner{ttft: 10 * ms, total: time.Duration(20+(r.Session.Conversation*37+r.Turn*11)%80) * ms}
}

func shareCases() []shareCase {
	one, three := talk(40, 1, 0), talk(23, 3, 150)
	timed := talk(50, 2, 40)
	for i := range timed.list {
		at := float64((i * 7919) % 3000)
		timed.list[i].Turns[0].Timestamp = &at
	}
	rate := func(p Phase) Phase {
		p.Mode, p.Name = Rate, cmp.Or(p.Name, "profiling")
		if p.Pattern == "" {
			p.Pattern = Poisson
		}
		p.Rate = cmp.Or(p.Rate, 50)
		return p
	}
	loop := func(p Phase) Phase {
		p.Mode, p.Name = ClosedLoop, cmp.Or(p.Name, "profiling")
		return p
	}
	users := func(p Phase) Phase {
		p.Mode, p.Name, p.Rate, p.Users = UserCentric, cmp.Or(p.Name, "profiling"), 20, 11
		return p
	}
	trace := func(p Phase) Phase {
		p.Mode, p.Name, p.Schedule.Auto = FixedSchedule, cmp.Or(p.Name, "profiling"), true
		return p
	}
	warm := func(p Phase) Phase {
		p.Name, p.Warmup = "warmup", true
		return p
	}
	cancel := Cancellation{Percent: 30, Delay: 5 * ms}
	return []shareCase{
		{"constant rate, requests", one, []Phase{rate(Phase{Pattern: Constant, Requests: 101})}, everything},
		{"poisson rate, duration", one, []Phase{rate(Phase{Duration: 4 * sec, Grace: -1})}, everything},
		{"gamma rate, linear ramp", one, []Phase{rate(Phase{Pattern: Gamma, Smoothness: 0.4, Requests: 150, RateRamp: Ramp{Duration: 2 * sec}})}, everything},
		{"rate series and cancellation", one, []Phase{rate(Phase{Requests: 150, Cancellation: cancel, Series: []RatePoint{{0, 20}, {2, 100}, {3, 10}}})}, everything},
		{"rate, sessions", one, []Phase{rate(Phase{Sessions: 33})}, everything},
		{"rate, several turns", three, []Phase{rate(Phase{Duration: 4 * sec, Grace: -1})}, instants},
		{"rate, several turns, sessions", three, []Phase{rate(Phase{Sessions: 20})}, nothing},
		{"rate, several turns, requests", three, []Phase{rate(Phase{Requests: 97})}, instants},
		{"rate with a cap, requests", one, []Phase{rate(Phase{Rate: 300, Requests: 121, Concurrency: 9})}, nothing},
		{"rate with a prefill limit, requests and sessions", three, []Phase{rate(Phase{Rate: 300, Requests: 121, Sessions: 30, Prefill: 9})}, nothing},
		{"loop, requests", one, []Phase{loop(Phase{Concurrency: 9, Requests: 100})}, bodies},
		{"loop, sessions", three, []Phase{loop(Phase{Concurrency: 9, Sessions: 57})}, bodies},
		{"loop, several turns, requests", three, []Phase{loop(Phase{Concurrency: 9, Requests: 100})}, nothing},
		{"loop, several turns, requests and sessions", three, []Phase{loop(Phase{Concurrency: 9, Requests: 100, Sessions: 31})}, nothing},
		{"loop, ramp and prefill", one, []Phase{loop(Phase{Concurrency: 12, Prefill: 8, Requests: 200, ConcurrencyRamp: Ramp{Duration: sec}})}, bodies},
		{"trace", timed, []Phase{trace(Phase{})}, everything},
		{"trace, sessions", timed, []Phase{trace(Phase{Sessions: 31})}, everything},
		{"trace, duration", timed, []Phase{trace(Phase{Duration: 2 * sec, Grace: -1})}, everything},
		{"trace, requests", timed, []Phase{trace(Phase{Requests: 63})}, nothing},
		{"users, duration", three, []Phase{users(Phase{Duration: 5 * sec, Grace: -1})}, everything},
		{"users, sessions", three, []Phase{users(Phase{Sessions: 33})}, everything},
		{"users, requests", three, []Phase{users(Phase{Requests: 77})}, nothing},
		{"warm-up loop, then rate", one, []Phase{warm(loop(Phase{Concurrency: 9, Requests: 27})), rate(Phase{Requests: 120, Cancellation: cancel})}, bodies},
		{"warm-up rate, then rate", one, []Phase{warm(rate(Phase{Requests: 27})), rate(Phase{Requests: 120, Cancellation: cancel})}, everything},
		{"warm-up rate by duration, then rate", one, []Phase{warm(rate(Phase{Duration: sec, Grace: -1, Pattern: Constant})), rate(Phase{Requests: 120})}, everything},
		{"warm-up rate, then users", three, []Phase{warm(rate(Phase{Duration: sec, Grace: -1})), users(Phase{Sessions: 33})}, instants},
		{"users, then rate", one, []Phase{users(Phase{Name: "a", Sessions: 33}), rate(Phase{Name: "b", Requests: 120, Cancellation: cancel})}, everything},
		{"warm-up loop, then trace", timed, []Phase{warm(loop(Phase{Concurrency: 9, Sessions: 27})), trace(Phase{})}, bodies},
		{"trace, then rate", timed, []Phase{trace(Phase{Name: "a"}), rate(Phase{Name: "b", Sessions: 70})}, nothing},
		{"seamless rates", one, []Phase{rate(Phase{Name: "a", Duration: 2 * sec, Grace: -1}), rate(Phase{Name: "b", Rate: 80, Duration: 2 * sec, Grace: -1, Seamless: true, Cancellation: cancel})}, instants},
		{"seamless loop after rate", one, []Phase{rate(Phase{Name: "a", Duration: 2 * sec, Grace: -1}), loop(Phase{Name: "b", Concurrency: 9, Requests: 90, Seamless: true})}, nothing},
	}
}

// TestShares runs every mode on several machines and in one process.
func TestShares(t *testing.T) {
	for _, c := range shareCases() {
		for _, sampling := range []Sampling{Sequential, Shuffle} {
			scenario := Scenario{Phases: c.phases, URLs: 3, Sampling: sampling, CatchUp: -1}
			var want []string
			bubble(t, fmt.Sprint(c.name, " ", sampling, " in one process"), func(t *testing.T) {
				s := newSim(t, manner{})
				s.behave = steadyServer
				r := play(t, scenario, c.source, s)
				want = lines(startsOf(r), s.list, c.equal)
			})
			for i, n := range []int{3, 2, 8} {
				if i%testhome.Stride(3) != 0 {
					continue
				}
				bubble(t, fmt.Sprint(c.name, " ", sampling, " on ", n), func(t *testing.T) {
					m := playOn(t, n, scenario, c.source, steadyServer, nil)
					if got := m.lines(c.equal); !slices.Equal(got, want) {
						t.Errorf("%d requests, want %d:\n%s", len(got), len(want), firstDifference(got, want))
					}
				})
			}
		}
	}
}

func firstDifference(got, want []string) string {
	var b strings.Builder
	shown := 0
	for i, j := 0, 0; (i < len(got) || j < len(want)) && shown < 12; {
		switch {
		case i < len(got) && j < len(want) && got[i] == want[j]:
			i, j = i+1, j+1
			continue
		case j == len(want) || i < len(got) && got[i] < want[j]:
			fmt.Fprintf(&b, "too much: %s\n", got[i])
			i++
		default:
			fmt.Fprintf(&b, "missing:  %s\n", want[j])
			j++
		}
		shown++
	}
	return b.String()
}
