package load

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/testhome"
)

// TestArrivalsOfMachines: the arrivals of several machines together are those of one process, to the nanosecond.
func TestArrivalsOfMachines(t *testing.T) {
	testhome.Slow(t)
	const n, t0 = 5000, int64(1_000_000_000)
	ramp := func(s RampStrategy) Phase {
		return Phase{Rate: 500, RateRamp: Ramp{Duration: 20 * time.Second, Strategy: s}}
	}
	curves := map[string]Phase{
		"constant rate": {Rate: 500}, "linear ramp": ramp(Linear), "exponential ramp": ramp(Exponential), "poisson ramp": ramp(PoissonRamp),
		"series": {Series: []RatePoint{{At: 0, Rate: 100}, {At: 30, Rate: 900}, {At: 31, Rate: 50}, {At: 90, Rate: 700}}},
	}
	for name, p := range curves {
		for _, pattern := range []Pattern{Constant, Poisson, Gamma} {
			p.Pattern, p.Smoothness = pattern, 2.5
			of := func(share Share, want int64) (list []int64) {
				root := rng.New(&testSeed)
				a := newArrivals(newIntervals(&p, root), newRateCurve(&p, func() *rng.Stream { return root.Stream(rampStream) }), share, 0)
				a.within(t0/50, 100) // some are computed before the start
				a.restart(t0)
				for range want {
					list = append(list, a.next())
					a.pass()
				}
				return list
			}
			want := of(Share{}, n)
			for _, machines := range []int{2, 3, 8, 64} {
				var got []int64
				for k := range machines {
					share := Share{Index: k, Of: machines}
					got = append(got, of(share, share.Part(n))...)
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s, %d machines: other instants", name, pattern, machines)
				}
			}
		}
	}
}

// TestLimitsOfMachines: the slots of the machines add up to the limit at every step of a ramp, and each step moves one machine for each slot.
func TestLimitsOfMachines(t *testing.T) {
	testhome.Slow(t)
	for _, target := range []int{1, 2, 7, 64, 1000} {
		for _, from := range []float64{1, 1500} {
			for _, s := range []RampStrategy{Linear, Exponential, PoissonRamp} {
				root := rng.New(&testSeed)
				steps := limitSteps(Ramp{Duration: 10 * sec, Strategy: s, From: from}, target, func() *rng.Stream { return root.Stream(rampStream) })
				for _, of := range []int{1, 2, 3, 8, 64} {
					all := make([]slots, of)
					for k := range all {
						all[k].share = Share{Index: k, Of: of}
						all[k].begin(steps, 0, never)
					}
					for _, st := range steps {
						sum, whole := 0, limit{steps: steps}
						want, _ := whole.at(ns(st.at))
						for k := range all {
							all[k].advance(ns(st.at))
							sum += all[k].max
						}
						if sum != want {
							t.Fatalf("limit %d on %d machines: %d", want, of, sum)
						}
					}
				}
			}
		}
	}
}

// TestLeasesGiveTheCount: whatever the speed of the machines, they get exactly the count, and each conversation below it once.
func TestLeasesGiveTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.IntRange(1, 20).Draw(t, "machines")
		count := int64(rapid.IntRange(of, 2000).Draw(t, "count"))
		l := NewLeases(count, of)
		got, seen, messages := int64(0), map[int64]int{}, 0
		active := make([]int, of)
		for k := range active {
			active[k] = k
		}
		for len(active) > 0 {
			i := rapid.IntRange(0, len(active)-1).Draw(t, "next")
			k := active[i]
			lease, err := l.Take(context.Background(), k, Ask{})
			if err != nil {
				t.Fatal(err)
			}
			messages++
			if got += lease.Count; lease.Count == 0 {
				l.Leave(k)
				active = slices.Delete(active, i, i+1)
				continue
			}
			n := int64(0)
			for _, r := range lease.Draws {
				for j := range r.Count {
					seen[r.From+j*r.Step]++
					n++
				}
			}
			if n != lease.Count {
				t.Fatalf("%d draws for %d requests", n, lease.Count)
			}
		}
		if got != count {
			t.Fatalf("%d given of %d", got, count)
		}
		for i := range count {
			if seen[i] != 1 {
				t.Fatalf("conversation %d was given %d times", i, seen[i])
			}
		}
		if int64(len(seen)) != count {
			t.Fatalf("%d conversations for a count of %d", len(seen), count)
		}
		if limit := 40*of + of; messages > limit { // half of the rest is gone after 2·of·ln 2 leases
			t.Fatalf("%d leases for %d of %d machines", messages, count, of)
		}
	})
}

// TestLeasesReturn: what a machine returns goes to one that waits, and nobody waits for machines that are gone.
func TestLeasesReturn(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		l := NewLeases(10, 2)
		take := func(k int, ask Ask) Lease {
			got, err := l.Take(context.Background(), k, ask)
			if err != nil {
				t.Error(err)
			}
			return got
		}
		rest := int64(0)
		for {
			got := take(0, Ask{})
			if got.Count == 0 {
				break
			}
			rest += got.Count
		}
		if rest != 10 {
			t.Fatalf("%d of 10", rest)
		}
		var all sync.WaitGroup
		all.Go(func() {
			if got := take(1, Ask{Wait: true}); got.Count != 1 || len(got.Draws) != 1 || got.Draws[0].From != 10 {
				t.Errorf("%+v", got)
			}
			if got := take(1, Ask{Wait: true, Unused: 5}); got.Count != 1 || len(got.Draws) != 0 {
				t.Errorf("%+v", got)
			}
			if got := take(1, Ask{Wait: true}); got.Count != 0 || !got.Final {
				t.Errorf("%+v", got)
			}
		})
		time.Sleep(sec)
		if got := take(0, Ask{Leave: true, Return: 2}); !got.Final {
			t.Errorf("%+v", got)
		}
		all.Wait()
		if _, err := l.Take(context.Background(), 0, Ask{}); err == nil {
			t.Error("a machine that has left got a lease")
		}
		ctx, cancel := context.WithTimeout(context.Background(), sec)
		defer cancel()
		l = NewLeases(2, 2)
		take(0, Ask{})
		take(0, Ask{})
		if _, err := l.Take(ctx, 0, Ask{Wait: true}); err == nil {
			t.Error("waited for the other machine without end")
		}
	})
}

// TestSharesRefused: more machines than slots, and what cannot be split.
func TestSharesRefused(t *testing.T) {
	loop := Phase{Mode: ClosedLoop, Concurrency: 7, Requests: 100}
	for name, c := range map[string]struct {
		phases []Phase
		share  Share
		want   string
	}{
		"slots":    {[]Phase{loop}, Share{0, 8}, "concurrency 7 cannot be split among 8 machines, because some would send nothing; use at most 7 machines"},
		"requests": {[]Phase{{Mode: Rate, Pattern: Constant, Rate: 1, Requests: 3}}, Share{0, 4}, "requests 3 cannot be split among 4 machines"},
		"index":    {[]Phase{loop}, Share{2, 2}, "machine 2 of 2"},
		"users": {[]Phase{{Mode: UserCentric, Users: 4, Rate: 1, Duration: sec}, {Mode: Rate, Pattern: Constant, Rate: 1, Duration: sec, Seamless: true}}, Share{0, 2},
			"no phase starts seamlessly"},
		"idle": {[]Phase{{Mode: AgenticReplay, Concurrency: 4, Duration: sec}}, Share{0, 2}, "cannot be shortened"},
	} {
		_, err := New(Scenario{Phases: c.phases, Share: c.share}, Options{Source: talk(3, 1, 0), Root: rng.New(&testSeed), Coordinator: member{}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Scenario{Phases: []Phase{loop}, Share: Share{0, 2}}, Options{Source: talk(3, 1, 0), Root: rng.New(&testSeed)}); err == nil {
		t.Error("several machines without a coordinator")
	}
}

// stalling is a waiter that oversleeps once.
type stalling struct {
	clock.Waiter
	from, to int64 // offsets from its first wait
	began    int64
}

func (s *stalling) Until(at int64) bool {
	if s.began == 0 {
		s.began = clock.Now()
	}
	if s.from > 0 && at >= s.began+s.from {
		at, s.from = max(at, s.began+s.to), 0
		time.Sleep(time.Duration(at - clock.Now()))
		return true
	}
	return s.Waiter.Until(at)
}

// TestStalledMachineSkips: a machine that stalls leaves out what it missed and sends the rest at its instants; the other one does not notice.
func TestStalledMachineSkips(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := Phase{Name: "profiling", Mode: Rate, Pattern: Constant, Rate: 100, Duration: 4 * sec, Grace: -1}
		h := newHub(Scenario{Phases: []Phase{p}}, 2)
		var all sync.WaitGroup
		for k := range 2 {
			all.Go(func() {
				defer h.leave()
				s := newSim(t, manner{total: ms})
				opts := Options{Source: talk(9, 1, 0), Executor: s, Root: rng.New(&testSeed), Coordinator: member{h, k}}
				if opts.Waiter = clock.NewTimerWaiter(); k == 1 {
					opts.Waiter = &stalling{Waiter: opts.Waiter, from: int64(2 * sec), to: int64(3 * sec)} // a second before the start, the phase is awaited
				}
				g, err := New(Scenario{Phases: []Phase{p}, Share: Share{k, 2}}, opts)
				if err != nil {
					t.Error(err)
					return
				}
				r, err := g.Run(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				f := r.Phases[0]
				for _, v := range s.list {
					if at := v.Intended - f.Started; at%int64(20*ms) != int64(10*ms)*int64(1+k)%int64(20*ms) || v.At-v.Intended > int64(10*ms) {
						t.Errorf("machine %d sent at %d what was due at %d", k, v.At-f.Started, at)
					}
				}
				lost := int64(f.Schedule.LostArrivals)
				if sent := int64(len(s.list)); sent+lost != 199+int64(1-k) {
					t.Errorf("machine %d sent %d and lost %d", k, sent, lost)
				}
				if (lost > 45) != (k == 1) || lost > 51 {
					t.Errorf("machine %d lost %d", k, lost)
				}
			})
		}
		all.Wait()
	})
}

// TestControlAtInstants: changes of the load take effect at the same instant on all machines, as they do in one process; the fence and the agreed end hold.
func TestControlAtInstants(t *testing.T) {
	p := Phase{Name: "profiling", Mode: Rate, Pattern: Poisson, Rate: 200, Duration: 4 * sec, Grace: -1, Moving: MovableQuantity{RequestRate, 50}}
	scenario := Scenario{Phases: []Phase{p}, CatchUp: -1}
	source := talk(50, 1, 0)
	run := func(t *testing.T, n int, change func(g *Generator, start int64)) []string {
		m := playOn(t, n, scenario, source, steadyServer, func(m *machines) {
			time.Sleep(1500 * ms) // half a second after the start
			for _, g := range m.running {
				change(g, g.Snapshot().Started)
			}
		})
		return m.lines(everything)
	}
	for name, c := range map[string]struct {
		change func(g *Generator, start int64)
		from   int64 // nothing is sent from this offset on; 0 = not so
	}{
		"rate": {func(g *Generator, start int64) {
			g.MoveAt(0, 200, start+int64(sec)+12345)
			g.MoveAt(0, 80, start+int64(2*sec)+7)
		}, 0},
		"end":   {func(g *Generator, start int64) { g.EndAt(0, start+int64(sec)+777) }, int64(sec) + 777},
		"stop":  {func(g *Generator, start int64) { g.StopAt(start + int64(sec) + 777) }, int64(sec) + 777},
		"fence": {func(g *Generator, start int64) { g.Fence(start + int64(3*sec)); g.Fence(start + int64(sec) + 777) }, int64(sec) + 777},
	} {
		var want []string
		bubble(t, name+" on 2", func(t *testing.T) { want = run(t, 2, c.change) })
		bubble(t, name+" on 5", func(t *testing.T) {
			got := run(t, 5, c.change)
			if !slices.Equal(got, want) {
				t.Errorf("%d and %d requests:\n%s", len(got), len(want), firstDifference(got, want))
			}
			if c.from > 0 && (len(got) < 30 || len(got) > 75) {
				t.Errorf("%d requests in 1 s at 50/s", len(got))
			}
		})
	}
}

// TestFenceIsCheckedBeforeEverySend: a request that was granted before a stop of the process, and would be written after the fence, is not.
func TestFenceIsCheckedBeforeEverySend(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		s := newSim(t, manner{prepare: 300 * ms, total: ms}) // it is granted and still being prepared
		scenario := one(Phase{Mode: ClosedLoop, Concurrency: 4, Requests: 100})
		opts := Options{Source: talk(9, 1, 0), Executor: s, Root: rng.New(&testSeed), Waiter: clock.NewTimerWaiter()}
		g, err := New(scenario, opts)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			r, err := g.Run(context.Background())
			if err != nil || !r.Fenced {
				t.Errorf("%+v %v", r, err)
				return
			}
			f := r.Phases[0]
			if f.StoppedBy != StopFence || f.Fenced != 4 || f.Sent-f.Fenced != int64(len(s.list)) || f.Cancelled != 4 {
				t.Errorf("%+v, %d requests", f, len(s.list))
			}
			if s.discarded != 4 {
				t.Errorf("%d requests were discarded", s.discarded)
			}
		})
		time.Sleep(900 * ms)
		begin := g.Snapshot().Started
		g.Fence(begin + int64(700*ms))
		all.Wait()
		for _, v := range s.list {
			if v.At >= begin+int64(700*ms) {
				t.Errorf("sent %v after the fence", time.Duration(v.At-begin)-700*ms)
			}
		}
	})
}

// TestLanesOfMachines: the lanes of a replay are those of one process, each on one machine, until the first of them takes another conversation.
func TestLanesOfMachines(t *testing.T) {
	source := talk(30, 9, 40)
	phases := []Phase{
		{Name: "warmup", Warmup: true, Mode: AgenticReplay, Concurrency: 7, Grace: -1, Replay: Replay{From: 0.2, To: 0.7, IdleCap: -1, LeadCap: -1}},
		{Name: "profiling", Mode: AgenticReplay, Concurrency: 7, Duration: 200 * ms, Grace: -1, Replay: Replay{From: 0.2, To: 0.7, IdleCap: -1, LeadCap: -1}},
	}
	scenario := Scenario{Phases: phases, URLs: 3}
	slow := func(*Request) manner { return manner{total: 90 * ms} }
	var want []string
	bubble(t, "one process", func(t *testing.T) {
		s := newSim(t, manner{})
		s.behave = slow
		want = lines(startsOf(play(t, scenario, source, s)), s.list, everything)
	})
	for _, n := range []int{2, 7} {
		bubble(t, "machines", func(t *testing.T) {
			got := playOn(t, n, scenario, source, slow, nil).lines(everything)
			if len(want) < 15 || !slices.Equal(got, want) {
				t.Errorf("%d requests, want %d:\n%s", len(got), len(want), firstDifference(got, want))
			}
		})
	}
}
