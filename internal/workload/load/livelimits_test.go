package load

import (
	"context"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

// steered plays one phase on the virtual clock while another goroutine moves it.
func steered(t *testing.T, p Phase, turns int, s *sim, steer func(g *Generator)) *PhaseStats {
	t.Helper()
	g, err := New(one(p), Options{Source: talk(10, turns, 0), Executor: s, Root: rng.New(&testSeed), Waiter: clock.NewTimerWaiter()})
	if err != nil {
		t.Fatal(err)
	}
	begun, over := make(chan struct{}), make(chan struct{})
	g.opts.Hooks.Started = func(*PhaseInfo, int64) { close(begun) }
	go func() {
		defer close(over)
		<-begun
		steer(g)
	}()
	r, err := g.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	<-over
	return r.Phases[0]
}

// after waits on the virtual clock.
func after(d time.Duration) { <-time.After(d) }

// between counts what left in [from, to) ms of the phase.
func between(f *PhaseStats, s *sim, from, to float64) (n int) {
	for _, at := range offsets(f, s.list) {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// TestMove: what is moved from outside takes effect at once, up and down; a phase that is ended by it lets its answers come.
func TestMove(t *testing.T) {
	bubble(t, "sessions", func(t *testing.T) {
		s := newSim(t, manner{total: 100 * ms})
		f := steered(t, Phase{Mode: ClosedLoop, Concurrency: 8, Duration: 60 * sec, Moving: MovableQuantity{SessionSlots, 2}}, 1, s, func(g *Generator) {
			after(1050 * ms)
			g.Move(0, 5)
			after(sec)
			g.Move(0, 3)
			g.Move(1, 8) // no such phase
			after(sec)
			g.End(0)
			g.Move(0, 8) // it does not send any more
		})
		wantCount(t, "at 2", between(f, s, 0, 1000), 20)
		wantCount(t, "three more at once", between(f, s, 1050, 1051), 3)
		wantCount(t, "at 5", between(f, s, 1100, 2000), 45)
		wantCount(t, "at 3", between(f, s, 2100, 3000), 27)
		wantCount(t, "peak", s.peak, 5)
		if f.StoppedBy != StopControl || f.Cancelled != 0 || f.Completed != f.Sent || f.SentAll != f.Started+int64(3050*ms) {
			t.Errorf("%+v", f)
		}
	})
	bubble(t, "prefill", func(t *testing.T) {
		s := newSim(t, manner{ttft: 100 * ms, total: 100 * ms})
		f := steered(t, Phase{Mode: ClosedLoop, Concurrency: 8, Prefill: 4, Duration: 2 * sec, Moving: MovableQuantity{PrefillSlots, 1}}, 1, s, func(g *Generator) {
			after(1050 * ms)
			g.Move(0, 3)
		})
		wantCount(t, "at 1", between(f, s, 0, 1000), 10)
		wantCount(t, "at 3", between(f, s, 1100, 1900), 24)
	})
	bubble(t, "rate", func(t *testing.T) {
		s := newSim(t, manner{total: 10 * ms})
		f := steered(t, Phase{Mode: Rate, Pattern: Constant, Rate: 20, Duration: 3 * sec, Moving: MovableQuantity{RequestRate, 2}}, 1, s, func(g *Generator) {
			after(1250 * ms) // half of the gap that began at 1 s is over
			g.Move(0, 10)
			after(sec)
			g.Move(0, 2.5)
		})
		// At 10 a second the other half takes 50 ms: 1300, 1400 … 2200; at 2250 half a gap is left, 200 ms at 2.5 a second, then 400.
		want := []float64{500, 1000, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000, 2100, 2200, 2450, 2850}
		wantTimes(t, offsets(f, s.list), want, 1e-3)
		if got := f.Schedule.Expected; got < 14.37 || got > 14.38 { // 1.25·2 + 1·10 + 0.75·2.5
			t.Errorf("expected %v", got)
		}
	})
	bubble(t, "users", func(t *testing.T) {
		s := newSim(t, manner{total: 10 * ms})
		alive := map[string]int64{}
		look := func(g *Generator, when string) {
			one := g.Snapshot()
			alive[when] = one.Sessions - one.Finished - one.Cut
		}
		f := steered(t, Phase{Mode: UserCentric, Rate: 10, Users: 20, Duration: 40 * sec, Moving: MovableQuantity{UserCount, 4}}, 5, s, func(g *Generator) {
			after(9900 * ms)
			look(g, "at 4")
			g.Move(0, 12)
			after(10 * sec)
			look(g, "at 12")
			g.Move(0, 3)
			after(15 * sec)
			look(g, "at 3")
			after(2 * sec)
		})
		if alive["at 4"] < 3 || alive["at 4"] > 5 || alive["at 12"] < 11 || alive["at 12"] > 13 || alive["at 3"] < 2 || alive["at 3"] > 4 {
			t.Errorf("%v", alive)
		}
		// Whatever the number of users, they share the rate.
		for _, span := range [][2]float64{{1000, 9000}, {13000, 19000}, {34000, 39000}} {
			n, ideal := float64(between(f, s, span[0], span[1])), (span[1]-span[0])/100
			if n < 0.85*ideal || n > 1.15*ideal {
				t.Errorf("%v: %v requests, want about %v", span, n, ideal)
			}
		}
	})
}

// TestUnmovable: a phase without the quantity, or that moves it itself, is refused.
func TestUnmovable(t *testing.T) {
	for want, p := range map[string]Phase{
		`moving "users"`:        {Mode: ClosedLoop, Concurrency: 3, Requests: 1, Moving: MovableQuantity{UserCount, 1}},
		`moving "request_rate"`: {Mode: Rate, Pattern: Constant, Rate: 3, RateRamp: Ramp{Duration: sec}, Requests: 1, Moving: MovableQuantity{RequestRate, 1}},
		`moving "concurrency"`:  {Mode: ClosedLoop, Concurrency: 3, ConcurrencyRamp: Ramp{Duration: sec}, Requests: 1, Moving: MovableQuantity{SessionSlots, 1}},
		`moving "odd"`:          {Mode: ClosedLoop, Concurrency: 3, Requests: 1, Moving: MovableQuantity{"odd", 1}},
		"from 4":                {Mode: ClosedLoop, Concurrency: 3, Requests: 1, Moving: MovableQuantity{SessionSlots, 4}},
		"from 0":                {Mode: ClosedLoop, Concurrency: 3, Requests: 1, Moving: MovableQuantity{SessionSlots, 0}},
	} {
		if _, err := New(one(p), Options{Root: rng.New(&testSeed)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
