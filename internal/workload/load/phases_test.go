package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
)

func TestDrainLadder(t *testing.T) { // rows 11, 12 and 4.3
	for _, c := range []struct {
		name      string
		grace     time.Duration
		deaf      bool
		end       time.Duration
		completed int64
	}{
		{"killed at the deadline", sec, false, 3 * sec, 0},
		{"no grace", 0, false, 2 * sec, 0},
		{"without limit", -1, false, 5 * sec, 4},
		{"long grace is not sat out", 30 * sec, false, 5 * sec, 4},
		{"server that never lets go", sec, true, 13 * sec, 0},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{total: 5 * sec, deaf: c.deaf})
			r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 4, Duration: 2 * sec, Grace: c.grace}), talk(9, 2, 0), s)
			close(s.release)
			synctest.Wait()
			f := r.Phases[0]
			if got := time.Duration(f.Ended - f.Started); got != c.end {
				t.Errorf("ended after %v, want %v", got, c.end)
			}
			if f.Completed != c.completed || f.Sent != 4 || f.Cancelled != 4-c.completed || !f.TimedOut || f.GraceExpired != (c.completed == 0) {
				t.Errorf("%d of %d completed, %d cancelled, timed out %v, grace %v", f.Completed, f.Sent, f.Cancelled, f.TimedOut, f.GraceExpired)
			}
			if c.deaf != (f.Abandoned == 4) {
				t.Errorf("%d abandoned", f.Abandoned)
			}
			for _, v := range s.list {
				if c.completed == 0 && !errors.Is(v.cause, ErrGrace) {
					t.Errorf("cut by %v", v.cause)
				}
			}
			if f.SessionsCancelled != 4 {
				t.Errorf("%d sessions cancelled", f.SessionsCancelled)
			}
		})
	}
	bubble(t, "stuck slots are released for the next phase", func(t *testing.T) {
		s := newSim(t, manner{})
		s.behave = func(r *Request) manner { return manner{total: 100 * ms, deaf: r.Phase.Warmup} }
		r := play(t, Scenario{Phases: []Phase{
			{Name: "warmup", Warmup: true, Mode: ClosedLoop, Concurrency: 2, Duration: sec, Grace: 0},
			{Name: "profiling", Mode: ClosedLoop, Concurrency: 2, Requests: 10},
		}}, talk(9, 1, 0), s)
		close(s.release)
		wantCount(t, "profiling", int(r.Phases[1].Completed), 10)
		if r.Phases[1].Ended-r.Phases[1].Started != int64(500*ms) {
			t.Error("profiling had fewer slots")
		}
	})
}

func TestInterrupt(t *testing.T) {
	for _, mode := range []Phase{
		{Mode: ClosedLoop, Concurrency: 4, Requests: 1000},
		{Mode: Rate, Pattern: Poisson, Rate: 5, Requests: 1000},
		{Mode: UserCentric, Users: 5, Rate: 5, Requests: 1000},
		{Mode: FixedSchedule},
	} {
		bubble(t, string(mode.Mode), func(t *testing.T) {
			s := newSim(t, manner{total: 5 * sec})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(12*sec+300*ms, cancel)
			src := talk(100, 2, 0)
			for i := range src.list {
				at := float64(i * 1000)
				src.list[i].Turns[0].Timestamp = &at
			}
			begin := clock.Now()
			r, err := playCtx(t, ctx, Scenario{Phases: []Phase{mode, {Name: "never", Mode: ClosedLoop, Concurrency: 1, Requests: 1}}}, Options{Source: src, Executor: s})
			if err != nil || !r.Interrupted || len(r.Phases) != 1 {
				t.Fatalf("%v %+v", err, r)
			}
			f := r.Phases[0]
			if clock.Now()-begin != int64(12*sec+300*ms) || f.Cancelled == 0 || f.Sent != f.Completed+f.Cancelled || f.StoppedBy != StopInterrupted {
				t.Errorf("after %v: %+v", time.Duration(clock.Now()-begin), f.StoppedBy)
			}
		})
	}
	bubble(t, "before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := newSim(t, manner{total: sec})
		r, err := playCtx(t, ctx, one(Phase{Mode: ClosedLoop, Concurrency: 1, Requests: 1}), Options{Source: talk(1, 1, 0), Executor: s})
		if err != nil || !r.Interrupted || len(s.list) != 0 {
			t.Errorf("%v %+v", err, r)
		}
	})
	bubble(t, "deaf", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(sec, cancel)
		s := newSim(t, manner{total: sec, deaf: true})
		begin := clock.Now()
		_, err := playCtx(t, ctx, one(Phase{Mode: ClosedLoop, Concurrency: 3, Requests: 5}), Options{Source: talk(1, 1, 0), Executor: s})
		if err != nil || clock.Now()-begin > int64(13*sec) {
			t.Errorf("%v after %v", err, time.Duration(clock.Now()-begin))
		}
		close(s.release)
	})
}

func TestWarmup(t *testing.T) { // row 21, 4.6
	for _, c := range []struct {
		name string
		warm Phase
		next int // first entry of profiling
	}{
		{"by count", Phase{Mode: ClosedLoop, Concurrency: 2, Requests: 5}, 5},
		{"by sessions", Phase{Mode: ClosedLoop, Concurrency: 2, Sessions: 5}, 5},
		{"by duration", Phase{Mode: ClosedLoop, Concurrency: 2, Duration: 350 * ms, Grace: -1}, 8},
		{"by rate and duration", Phase{Mode: Rate, Pattern: Constant, Rate: 10, Duration: 550 * ms, Grace: -1}, 5},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{total: 100 * ms})
			c.warm.Name, c.warm.Warmup = "warmup", true
			r := play(t, Scenario{Phases: []Phase{c.warm, {Name: "profiling", Mode: ClosedLoop, Concurrency: 1, Requests: 4}}}, talk(20, 1, 0), s)
			for i, v := range s.phase("profiling") {
				wantCount(t, "entry", v.Conversation, c.next+i)
			}
			if r.Phases[1].Started < r.Phases[0].Ended || r.Phases[0].Info.Profiling != -1 || r.Phases[1].Info.Profiling != 0 {
				t.Errorf("no barrier: %+v", r.Phases[1].Info)
			}
		})
	}
}

func TestSeamless(t *testing.T) { // row 27
	bubble(t, "4 slots, then 2", func(t *testing.T) {
		s := newSim(t, manner{total: 500 * ms})
		// The answers come one after another, so that the returns can be distinguished.
		s.behave = func(r *Request) manner {
			return manner{total: 500*ms + time.Duration(r.Session.Conversation)*10*ms}
		}
		var mu sync.Mutex
		var order []string
		note := func(what, name string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what+" "+name)
		}
		r, err := playCtx(t, t.Context(), Scenario{Phases: []Phase{
			{Name: "low", Mode: ClosedLoop, Concurrency: 4, Requests: 4},
			{Name: "high", Mode: ClosedLoop, Concurrency: 2, Requests: 6, Seamless: true},
		}}, Options{Source: talk(20, 1, 0), Executor: s, Hooks: Hooks{
			Started: func(p *PhaseInfo, _ int64) { note("started", p.Name) },
			After:   func(f *PhaseStats) { note("after", f.Info.Name) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		wantTimes(t, offsets(r.Phases[0], s.phase("high"))[:3], []float64{520, 530, 520 + 540}, 1e-3)
		wantCount(t, "completed", int(r.Phases[0].Completed+r.Phases[1].Completed), 10)
		wantCount(t, "peak", s.peak, 4)
		want := []string{"started low", "started high", "after low", "after high"}
		if !slices.Equal(order, want) {
			t.Errorf("hooks: %v", order)
		}
	})
}

func TestSourceFails(t *testing.T) {
	bubble(t, "broken conversation", func(t *testing.T) {
		s := newSim(t, manner{total: 100 * ms})
		src := talk(20, 1, 0)
		src.broken = 6
		src.slow = ms
		r, err := playCtx(t, t.Context(), one(Phase{Mode: ClosedLoop, Concurrency: 1, Requests: 20}), Options{Source: src, Executor: s})
		if err == nil || err.Error() != "conversation 5 is broken" || r.Phases[0].Sent != 5 {
			t.Errorf("%v after %d", err, r.Phases[0].Sent)
		}
	})
	bubble(t, "no timestamp", func(t *testing.T) {
		src := trace(0, 1, 2)
		src.list[1].Turns[0].Timestamp = nil
		s := newSim(t, manner{})
		_, err := playCtx(t, t.Context(), one(Phase{Mode: FixedSchedule}), Options{Source: src, Executor: s})
		if err == nil || len(s.list) != 0 {
			t.Error(err)
		}
	})
}

func TestDataIsNotMadeInVain(t *testing.T) {
	for name, c := range map[string]struct {
		p    Phase
		most int
	}{
		"count":        {Phase{Mode: ClosedLoop, Concurrency: 2, Requests: 7}, 7},
		"sessions":     {Phase{Mode: ClosedLoop, Concurrency: 2, Requests: 70, Sessions: 5}, 5},
		"duration":     {Phase{Mode: ClosedLoop, Concurrency: 2, Duration: sec}, 20 + 2 + prefetchDepth},
		"users":        {Phase{Mode: UserCentric, Users: 9, Rate: 10, Requests: 3}, 10 + 20}, // the mean of turns needs all 20
		"large bursts": {Phase{Mode: ClosedLoop, Concurrency: 500, Duration: 150 * ms}, 1000 + prefetchDepth + 1},
	} {
		bubble(t, name, func(t *testing.T) {
			src := &counted{Source: talk(20, 1, 0)}
			play(t, one(c.p), src, newSim(t, manner{total: 100 * ms}))
			if src.n > c.most {
				t.Errorf("%d conversations made, at most %d are of use", src.n, c.most)
			}
		})
	}
}

type counted struct {
	Source
	n int
}

func (c *counted) Shape(i int) (Shape, error) {
	c.n++
	return c.Source.Shape(i)
}

func TestSlowPreparation(t *testing.T) {
	bubble(t, "longer than the lead", func(t *testing.T) {
		s := newSim(t, manner{prepare: 80 * ms, total: 10 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 10, Requests: 5}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{130, 230, 330, 430, 530}, 1e-3)
		f := r.Phases[0].Schedule
		if f.LateArmed != 5 || f.Lag.Max != 30e6 || f.Armed.Count != 0 {
			t.Errorf("%d late, lag %d, %d armed", f.LateArmed, f.Lag.Max, f.Armed.Count)
		}
	})
	bubble(t, "within the lead", func(t *testing.T) {
		s := newSim(t, manner{prepare: 40 * ms, total: 10 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 100, Duration: 2 * sec}), talk(10, 1, 0), s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 199)
		if m := r.Phases[0].Schedule.Lag.Max; m != 0 {
			t.Errorf("lag %d", m)
		}
	})
	bubble(t, "slow data", func(t *testing.T) {
		src := talk(10, 1, 0)
		src.slow = 200 * ms
		s := newSim(t, manner{total: 10 * ms})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 3, Requests: 12}), src, s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 12)
	})
}
