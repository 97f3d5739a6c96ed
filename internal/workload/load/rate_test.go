package load

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"aiperf/internal/base/clock"
)

// Row numbers are those of the contract's table of checks (timing, 18).

func TestConstantRate(t *testing.T) { // row 1
	bubble(t, "100 per second", func(t *testing.T) {
		s := newSim(t, manner{total: 5 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 100, Duration: 10 * sec}), talk(10, 1, 0), s)
		f := r.Phases[0]
		wantCount(t, "sent", int(f.Sent), 999)
		at := offsets(f, s.list)
		for i, v := range at {
			if math.Abs(v-float64(i+1)*10) > 1e-6 {
				t.Fatalf("send %d at %v ms", i, v)
			}
		}
		if f.Schedule.Lag.Max != 0 || f.Schedule.Reanchors != 0 || f.StoppedBy != StopDuration {
			t.Errorf("%+v by %s", f.Schedule, f.StoppedBy)
		}
		if got := f.Ended - f.Started; got != int64(10*sec) {
			t.Errorf("ended after %v", time.Duration(got))
		}
	})
}

func gapsOf(list []*sending, t0 int64) []float64 {
	var gaps []float64
	last := t0
	for _, v := range list {
		gaps = append(gaps, float64(v.Intended-last)/1e9)
		last = v.Intended
	}
	return gaps
}

func moments(x []float64) (mean, cv float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		cv += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(cv/float64(len(x)-1)) / mean
}

// ksExponential is the Kolmogorov-Smirnov distance from the exponential distribution of a rate.
func ksExponential(x []float64, rate float64) float64 {
	x = slices.Sorted(slices.Values(x))
	d := 0.0
	for i, v := range x {
		f := 1 - math.Exp(-rate*v)
		d = max(d, math.Abs(f-float64(i)/float64(len(x))), math.Abs(f-float64(i+1)/float64(len(x))))
	}
	return d
}

func TestPoissonRate(t *testing.T) { // row 2
	var first []float64
	for _, cores := range []int{1, 16} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		bubble(t, "200 per second", func(t *testing.T) {
			s := newSim(t, manner{total: 5 * ms})
			r := play(t, one(Phase{Mode: Rate, Pattern: Poisson, Rate: 200, Duration: 60 * sec}), talk(10, 1, 0), s)
			n := float64(r.Phases[0].Sent)
			if math.Abs(n-12000) > 4*math.Sqrt(12000) {
				t.Errorf("sent %v", n)
			}
			gaps := gapsOf(s.list, r.Phases[0].Started)
			if _, cv := moments(gaps); math.Abs(cv-1) > 0.05 {
				t.Errorf("CV %v", cv)
			}
			if d := ksExponential(gaps, 200); d > 1.63/math.Sqrt(n) {
				t.Errorf("KS distance %v, 1 %% limit %v", d, 1.63/math.Sqrt(n))
			}
			at := offsets(r.Phases[0], s.list)
			if first == nil {
				first = at
			} else if !slices.Equal(first, at) {
				t.Error("the same seed gave another schedule")
			}
		})
	}
}

func TestGammaRate(t *testing.T) { // row 3
	for _, c := range []struct{ k, cv float64 }{{0.25, 2}, {1, 1}, {4, 0.5}} {
		bubble(t, "smoothness", func(t *testing.T) {
			s := newSim(t, manner{total: 5 * ms})
			r := play(t, one(Phase{Mode: Rate, Pattern: Gamma, Smoothness: c.k, Rate: 200, Requests: 12000}), talk(10, 1, 0), s)
			mean, cv := moments(gapsOf(s.list, r.Phases[0].Started))
			if math.Abs(cv/c.cv-1) > 0.05 || math.Abs(mean*200-1) > 4*c.cv/math.Sqrt(12000) {
				t.Errorf("k %v: mean %v, CV %v", c.k, mean, cv)
			}
		})
	}
}

func TestOpenLoop(t *testing.T) { // row 4
	bubble(t, "slow server", func(t *testing.T) {
		s := newSim(t, manner{total: 5 * sec})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 50, Duration: 20 * sec, Grace: 30 * sec}), talk(10, 1, 0), s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 999)
		if s.peak < 250 || s.peak > 251 { // a send and a return fall together
			t.Errorf("peak in flight %d", s.peak)
		}
		wantCount(t, "completed", int(r.Phases[0].Completed), 999)
	})
}

func TestRateUnderCap(t *testing.T) { // row 5
	bubble(t, "cap 20", func(t *testing.T) {
		s := newSim(t, manner{total: 5 * sec})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 50, Concurrency: 20, Duration: 30 * sec, Grace: 30 * sec}), talk(10, 1, 0), s)
		f := r.Phases[0]
		wantCount(t, "peak in flight", s.peak, 20)
		if f.Sent < 110 || f.Sent > 130 {
			t.Errorf("sent %d", f.Sent)
		}
		for _, at := range offsets(f, s.list) {
			if off := math.Mod(at+1e-6, 20); off > 1e-3 {
				t.Fatalf("send at %v ms is off the grid", at)
			}
		}
		if f.Schedule.TicksSkipped != 1499-f.Sent || f.Schedule.CapShare() < 0.9 {
			t.Errorf("skipped %d of %d, cap %.3f", f.Schedule.TicksSkipped, f.Schedule.Ticks, f.Schedule.CapShare())
		}
	})
	bubble(t, "grid", func(t *testing.T) { // row 25
		s := newSim(t, manner{total: 450 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 5, Concurrency: 1, Requests: 4}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{200, 800, 1400, 2000}, 1e-3)
		for i, v := range s.list {
			wantCount(t, "conversation", v.Conversation, i) // skipping burns no entry
		}
	})
}

// stalled is a waiter whose process is stopped once, at a moment after its base.
type stalled struct {
	*clock.TimerWaiter
	at, until int64
}

func (w *stalled) Until(at int64) bool {
	if at > w.at {
		w.at = never
		time.Sleep(time.Duration(w.until - clock.Now()))
		return true
	}
	return w.TimerWaiter.Until(at)
}

func TestReanchor(t *testing.T) { // row 6
	bubble(t, "stopped for a second", func(t *testing.T) {
		s := newSim(t, manner{}) // answers at once, so that no return advances the machine during the stop
		now := clock.Now()
		w := &stalled{clock.NewTimerWaiter(), now + int64(2*sec), now + int64(3*sec)}
		r, err := playCtx(t, t.Context(), one(Phase{Mode: Rate, Pattern: Constant, Rate: 200, Duration: 5 * sec}),
			Options{Source: talk(10, 1, 0), Executor: s, Waiter: w})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Phases[0]
		at := offsets(f, s.list)
		i := slices.IndexFunc(at, func(v float64) bool { return v > 2500 })
		if at[i] != 3000 || at[i+1] != 3005 {
			t.Errorf("after the stop: %v", at[i:i+3])
		}
		if f.Schedule.Reanchors != 1 || math.Abs(f.Schedule.LostSeconds-0.995) > 1e-6 || math.Abs(float64(f.Sent)-800) > 2 {
			t.Errorf("re-anchored %d times, lost %v s, sent %d", f.Schedule.Reanchors, f.Schedule.LostSeconds, f.Sent)
		}
		if l := f.Schedule.LostArrivals; math.Abs(l-199) > 1e-6 {
			t.Errorf("lost %v arrivals", l)
		}
		if f.Schedule.Lag.Max != int64(995*ms) {
			t.Errorf("largest lag %v", time.Duration(f.Schedule.Lag.Max))
		}
	})
	for stop, reanchors := range map[time.Duration]int{9 * ms: 0, 11 * ms: 0, 12 * ms: 1} { // the first arrival that is missed is due after 1 ms; 10 ms are caught up
		bubble(t, "stopped for "+stop.String(), func(t *testing.T) {
			s := newSim(t, manner{})
			now := clock.Now()
			w := &stalled{clock.NewTimerWaiter(), now + int64(2*sec), now + int64(2*sec+stop)}
			r, err := playCtx(t, t.Context(), one(Phase{Mode: Rate, Pattern: Constant, Rate: 1000, Duration: 5 * sec}),
				Options{Source: talk(10, 1, 0), Executor: s, Waiter: w})
			if err != nil {
				t.Fatal(err)
			}
			f := r.Phases[0]
			if int(f.Schedule.Reanchors) != reanchors || reanchors == 0 && f.Sent != 4999 {
				t.Errorf("sent %d, began anew %d times, want %d", f.Sent, f.Schedule.Reanchors, reanchors)
			}
		})
	}
}

// TestClientStoppedAtTheEnd: what a client measures of itself ends with the duration, however late the client notices that. The phase has no steady
// part if its ramp takes all of its time.
func TestClientStoppedAtTheEnd(t *testing.T) {
	var times []float64
	for i := range 1000 {
		times = append(times, float64(10*i))
	}
	for name, c := range map[string]struct {
		phase         Phase
		seconds       float64 // steady part of the sending
		drawn         float64
		busy, caps    float64 // seconds
		slots, wasted time.Duration
	}{
		"rate":            {Phase{Mode: Rate, Pattern: Constant, Rate: 100}, 3, 299, 0, 0, 0, 0},
		"rate, slots":     {Phase{Mode: Rate, Pattern: Constant, Rate: 100, Concurrency: 1}, 3, 299, 3 - 0.01, 3 - 0.01, 0, 0},
		"ramp":            {Phase{Mode: Rate, Pattern: Constant, Rate: 100, RateRamp: Ramp{Duration: 3 * sec}, Concurrency: 1}, 0, 0, 0, 0, 0, 0},
		"user centric":    {Phase{Mode: UserCentric, Rate: 100, Users: 10}, 3, 300, 0, 0, 0, 0},
		"trace":           {Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}}, 3, 300, 0, 0, 0, 0},
		"trace, slots":    {Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}, Concurrency: 1}, 3, 0, 3, 3, 0, 0},
		"trace, count":    {Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}, Requests: 295}, 3, 295, 0, 0, 0, 0},
		"closed loop":     {Phase{Mode: ClosedLoop, Concurrency: 2}, 3, 0, 3, 3, 6 * sec, 0},
		"answers waiting": {Phase{Mode: ClosedLoop, Concurrency: 1, Prefill: 1}, 3, 0, 3, 3, 3 * sec, 0},
	} {
		bubble(t, name, func(t *testing.T) {
			now := clock.Now()
			c.phase.Duration, c.phase.Grace = 3*sec, 10*sec
			w := &stalled{clock.NewTimerWaiter(), now + int64(2900*ms), now + int64(5*sec)}
			s := newSim(t, manner{total: 4 * sec, ttft: 3500 * ms})
			if c.phase.Concurrency == 0 {
				s = newSim(t, manner{})
			}
			source := talk(10, 1, 0)
			if c.phase.Mode == FixedSchedule {
				source = trace(times...)
			}
			r, err := playCtx(t, t.Context(), one(c.phase), Options{Source: source, Executor: s, Waiter: w})
			if err != nil {
				t.Fatal(err)
			}
			f := r.Phases[0]
			u := f.Schedule.Steady
			if math.Abs(u.Seconds-c.seconds) > 1e-9 || math.Abs(u.Drawn-c.drawn) > 1 || math.Abs(f.Schedule.SendSeconds-3) > 1e-9 || f.SentAll-f.Started != int64(3*sec) {
				t.Errorf("sent for %v s, steady %+v", f.Schedule.SendSeconds, u)
			}
			if math.Abs(u.Caps.BusySeconds-c.busy) > 0.011 || math.Abs(u.Caps.Seconds-c.caps) > 0.011 {
				t.Errorf("slots were in use for %+v", u.Caps)
			}
			if missing := u.Drawn - float64(u.Sent); missing > 0 && math.Abs(u.Lost.Client+u.Lost.Cap-missing) > 1 {
				t.Errorf("%v of %v are missing, because of %+v", missing, u.Drawn, u.Lost)
			}
			if !near(f.Slots.Total(), c.slots) || !near(f.Slots.Lost, c.wasted) {
				t.Errorf("slots %+v, want %v", f.Slots, c.slots)
			}
		})
	}
}

// TestAnswersUnreadAtTheEnd: a client that is stopped over the end of the duration sends nothing after the answers that arrive. That is its loss up to the
// end, apart from the delay of the next turn.
func TestAnswersUnreadAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		source     *shapes
		lost, rest time.Duration
	}{
		"requests": {talk(10, 1, 0), 2 * 400 * ms, 0},
		"turns":    {talk(10, 9, 100), 2 * 300 * ms, 2 * 6 * 100 * ms},
	} {
		bubble(t, name, func(t *testing.T) {
			s := newSim(t, manner{})
			start := clock.Now()
			s.behave = func(*Request) manner {
				unread := 0 * ms
				if clock.Now() > start+int64(900*ms) { // the answer to this request arrives after 100 ms and lies until after the end
					unread = 2 * sec
				}
				return manner{total: 100*ms + unread, unread: unread}
			}
			f := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 2, Duration: 1500 * ms, Grace: 5 * sec}), c.source, s).Phases[0]
			u := f.Slots
			if !near(u.Lost, c.lost) || !near(u.InDelay, c.rest) || !near(u.Total(), 2*1500*ms) {
				t.Errorf("%+v, want %v lost, %v in delays", u, c.lost, c.rest)
			}
		})
	}
}

func TestRateMultiTurn(t *testing.T) { // row 8
	bubble(t, "five turns", func(t *testing.T) {
		s := newSim(t, manner{total: 30 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 10, Duration: 100 * sec}), talk(10, 5, 0), s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 999)
		if n := r.Phases[0].SessionsSent; n < 195 || n > 205 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestRateRampMean(t *testing.T) { // row 23
	sum := 0
	bubble(t, "200 seeds", func(t *testing.T) {
		defer func(seed uint64) { testSeed = seed }(testSeed)
		for seed := range uint64(200) {
			testSeed = seed
			s := newSim(t, manner{total: ms})
			r := play(t, one(Phase{Mode: Rate, Pattern: Poisson, Rate: 10, RateRamp: Ramp{Duration: 8 * sec}, Duration: 8 * sec}), talk(10, 1, 0), s)
			sum += int(r.Phases[0].Sent)
		}
	})
	if mean := float64(sum) / 200; math.Abs(mean-40.5) > 2 {
		t.Errorf("mean %v", mean)
	}
}

func TestRateSeries(t *testing.T) { // row 24
	bubble(t, "4 20 5", func(t *testing.T) {
		s := newSim(t, manner{total: ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Series: []RatePoint{{0, 4}, {2, 20}, {3, 5}}, Duration: 4 * sec}), talk(10, 1, 0), s)
		at := offsets(r.Phases[0], s.list)
		for _, c := range []struct {
			by   float64
			want int
		}{{1000, 8}, {2000, 24}, {3000, 36}, {4000, 41}} {
			n := 0
			for _, v := range at {
				if v <= c.by {
					n++
				}
			}
			if n < c.want-1 || n > c.want+1 {
				t.Errorf("by %v ms: %d, want %d", c.by, n, c.want)
			}
		}
	})
}

func TestWhatTheRateAskedFor(t *testing.T) {
	bubble(t, "ramp excluded", func(t *testing.T) {
		s := newSim(t, manner{total: ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 10, RateRamp: Ramp{Duration: 8 * sec}, Duration: 20 * sec}), talk(10, 1, 0), s)
		f := r.Phases[0].Schedule
		if math.Abs(f.Expected-160.5) > 1e-6 || math.Abs(f.Steady.Expected-120) > 1e-6 || f.Steady.Seconds != 12 || f.Steady.Sent != 120 {
			t.Errorf("expected %v, steady %+v of %d", f.Expected, f.Steady, r.Phases[0].Sent)
		}
	})
	bubble(t, "cap", func(t *testing.T) {
		s := newSim(t, manner{total: 450 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 5, Concurrency: 1, Duration: 6 * sec}), talk(10, 1, 0), s)
		f := r.Phases[0].Schedule
		if f.Steady.Expected != 30 || f.Steady.Sent != 10 || f.LostArrivals != 0 {
			t.Errorf("%+v", f.Steady)
		}
	})
}

func TestRatePrefill(t *testing.T) {
	bubble(t, "continuation blocks on prefill", func(t *testing.T) {
		s := newSim(t, manner{ttft: 500 * ms, total: 600 * ms})
		r := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 10, Prefill: 1, Requests: 12}), talk(10, 3, 0), s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 12)
		wantCount(t, "peak before first token", s.peakWait, 1)
	})
}
