package load

import (
	"math"
	"testing"

	"aiperf/internal/base/clock"
)

// TestWhatKeptArrivals: every arrival that was not sent is booked to what kept it, and to nothing else.
func TestWhatKeptArrivals(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 2 }
	for _, c := range []struct {
		name  string
		phase Phase
		src   *shapes
		how   manner
		want  func(s *SteadyWindow, caps Caps) bool
	}{
		{"nothing", Phase{Rate: 50, Duration: 10 * sec}, talk(10, 1, 0), manner{total: ms}, func(s *SteadyWindow, c Caps) bool {
			return s.Lost == LostArrivals{} && s.Drawn == float64(s.Sent) && c == Caps{}
		}},
		{"requests hold every slot", Phase{Rate: 50, Concurrency: 5, Duration: 10 * sec}, talk(10, 1, 0), manner{total: sec}, func(s *SteadyWindow, c Caps) bool {
			return near(s.Lost.Cap, s.Drawn-float64(s.Sent)) && s.Lost.Cap > 400 && s.Lost.InDelay == 0 && c.BusySeconds == c.Seconds && c.Seconds > 8
		}},
		{"sessions hold slots in their own delays", Phase{Rate: 50, Concurrency: 5, Duration: 10 * sec}, talk(10, 3, 1000), manner{total: 5 * ms}, func(s *SteadyWindow, c Caps) bool {
			return near(s.Lost.InDelay, s.Drawn-float64(s.Sent)) && s.Lost.InDelay > 400 && s.Lost.Cap == 0 && c.Seconds > 8 && c.BusySeconds < 0.3
		}},
		{"no prefill slot for a new session", Phase{Rate: 50, Prefill: 1, Duration: 10 * sec}, talk(10, 1, 0), manner{ttft: 100 * ms, total: 200 * ms}, func(s *SteadyWindow, c Caps) bool {
			return near(s.Lost.Prefill, s.Drawn-float64(s.Sent)) && s.Lost.Prefill > 300 && s.Lost.Client == 0 && c.PrefillSeconds > 8 && c.Seconds == 0
		}},
		{"no prefill slot for a turn", Phase{Rate: 50, Prefill: 1, Duration: 10 * sec}, talk(10, 3, 0), manner{ttft: 100 * ms, total: 110 * ms}, func(s *SteadyWindow, c Caps) bool {
			return near(s.Lost.Prefill, s.Drawn-float64(s.Sent)) && s.Lost.Prefill > 300 && s.Lost.Client == 0
		}},
		{"every session is started", Phase{Rate: 50, Sessions: 2, Requests: 6, Duration: 10 * sec}, talk(10, 3, 1000), manner{total: 5 * ms}, func(s *SteadyWindow, c Caps) bool {
			return s.Lost.NoTurn > 50 && s.Lost.Client+s.Lost.Cap+s.Lost.InDelay+s.Lost.Prefill == 0
		}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			c.phase.Mode, c.phase.Pattern = Rate, Constant
			f := play(t, one(c.phase), c.src, newSim(t, c.how)).Phases[0].Schedule
			if !c.want(&f.Steady, f.Caps) || f.Reanchors != 0 {
				t.Errorf("%+v, caps %+v, re-anchored %d times", f.Steady, f.Caps, f.Reanchors)
			}
		})
	}
}

// TestClientLosesArrivals: arrivals that fell into a stop of the client are the client's, those of its last moment too.
func TestClientLosesArrivals(t *testing.T) {
	bubble(t, "in the middle and at the end", func(t *testing.T) {
		for from, want := range map[int]float64{2: 199, 4: 200} { // s; a stop of a second
			s := newSim(t, manner{})
			now := clock.Now()
			w := &stalled{clock.NewTimerWaiter(), now + int64(from)*int64(sec), now + int64(from+1)*int64(sec)}
			r, err := playCtx(t, t.Context(), one(Phase{Mode: Rate, Pattern: Constant, Rate: 200, Duration: 5 * sec}),
				Options{Source: talk(10, 1, 0), Executor: s, Waiter: w})
			if err != nil {
				t.Fatal(err)
			}
			st := r.Phases[0].Schedule.Steady
			if math.Abs(st.Lost.Client-want) > 1 || math.Abs(st.Drawn-float64(st.Sent)-st.Lost.Client) > 1 {
				t.Errorf("stopped at %d s: %+v", from, st)
			}
		}
	})
}

// TestRampsAreNotJudged: requests before the end of the ramps count only in the figures of the whole phase.
func TestRampsAreNotJudged(t *testing.T) {
	bubble(t, "concurrency ramp", func(t *testing.T) {
		f := play(t, one(Phase{Mode: Rate, Pattern: Constant, Rate: 10, Concurrency: 10, ConcurrencyRamp: Ramp{Duration: 10 * sec}, Duration: 20 * sec}),
			talk(10, 1, 0), newSim(t, manner{total: 500 * ms})).Phases[0].Schedule
		if f.Caps.Seconds < 1 || f.TicksSkipped < 10 {
			t.Errorf("the ramp was no limit: %+v, %d skipped", f.Caps, f.TicksSkipped)
		}
		if s := f.Steady; s.Caps.Seconds > 0.01 || s.Lost != (LostArrivals{}) || s.Seconds != 10 || math.Abs(s.Drawn-float64(s.Sent)) > 0 || s.Drawn < 100 {
			t.Errorf("after the ramp: %+v", s)
		}
	})
}

// TestUsersScheduleClock: a turn whose answer came late is due when it was due; its later turns keep the gap from when it left.
func TestUsersScheduleClock(t *testing.T) {
	bubble(t, "every answer takes longer than the gap", func(t *testing.T) {
		s := newSim(t, manner{total: 700 * ms})
		r := play(t, one(Phase{Mode: UserCentric, Users: 1, Rate: 2, Requests: 4}), talk(10, 8, 0), s)
		f := r.Phases[0]
		var due, left []float64
		for _, v := range s.list {
			if v.Session == s.list[0].Session {
				due = append(due, float64(v.Intended-f.Started)/1e6)
				left = append(left, float64(v.At-f.Started)/1e6)
			}
		}
		if len(due) < 2 || due[1] != due[0]+500 || math.Abs(left[1]-left[0]-700) > 1e-3 {
			t.Errorf("due at %v ms, left at %v ms: want each 500 ms after the turn before left", due, left)
		}
		if f.Schedule.LateAnswers == 0 || f.Schedule.Own.Max != 0 || f.Schedule.Lag.Max != int64(200*ms) {
			t.Errorf("%d late answers, lag %d, of it the client's %d: an answer is not the client's lateness", f.Schedule.LateAnswers, f.Schedule.Lag.Max, f.Schedule.Own.Max)
		}
	})
	bubble(t, "the rate asked for", func(t *testing.T) {
		f := play(t, one(Phase{Mode: UserCentric, Users: 5, Rate: 5, Duration: 6 * sec, Grace: 30 * sec}), talk(100, 4, 0), newSim(t, manner{total: 50 * ms})).Phases[0].Schedule
		if math.Abs(f.Steady.Expected-30) > 1e-6 || math.Abs(float64(f.Steady.Sent)-30) > 1 || f.LateAnswers != 0 {
			t.Errorf("%+v, %d late answers", f.Steady, f.LateAnswers)
		}
	})
}

// TestUsersWithoutSuccessors: when a limit of sessions lets no successor start, the turns that are missing belong to sessions that were never started.
func TestUsersWithoutSuccessors(t *testing.T) {
	for name, c := range map[string]struct {
		phase   Phase
		missing bool
	}{
		"a limit of sessions": {Phase{Sessions: 8}, true},
		"none":                {Phase{Duration: 6 * sec}, false},
		"a limit of requests": {Phase{Requests: 20}, false},
	} {
		bubble(t, name, func(t *testing.T) {
			c.phase.Mode, c.phase.Users, c.phase.Rate = UserCentric, 5, 5
			s := play(t, one(c.phase), talk(100, 4, 0), newSim(t, manner{total: 5 * ms})).Phases[0].Schedule.Steady
			if missing := s.Drawn - float64(s.Sent); (missing > 1) != c.missing || math.Abs(max(0, missing)-s.Lost.NoTurn) > 1 || (s.Lost.NoTurn > 0) != c.missing {
				t.Errorf("%+v", s)
			}
		})
	}
}
