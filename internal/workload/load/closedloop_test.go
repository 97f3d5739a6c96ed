package load

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestBurstSessions(t *testing.T) { // row 7
	bubble(t, "three turns with think time", func(t *testing.T) {
		s := newSim(t, manner{ttft: 20 * ms, total: 100 * ms})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 8, Sessions: 40}), talk(10, 3, 500), s)
		f := r.Phases[0]
		wantCount(t, "sent", int(f.Sent), 120)
		wantCount(t, "sessions", int(f.SessionsCompleted), 40)
		wantCount(t, "peak of open sessions", s.peakOpen, 8)
		last := map[string]*sending{}
		for _, v := range s.list {
			if prev := last[v.Session]; prev != nil {
				if v.Turn != prev.Turn+1 || v.At != prev.end+int64(500*ms) {
					t.Fatalf("turn %d %v after the end of turn %d", v.Turn, time.Duration(v.At-prev.end), prev.Turn)
				}
			}
			last[v.Session] = v
			if v.Intended != 0 {
				t.Fatal("a burst has no intended instants")
			}
		}
		if f.StoppedBy != StopSessions || !s.phase("profiling")[119].Final || s.phase("profiling")[118].Final {
			t.Errorf("stopped by %s", f.StoppedBy)
		}
		if f.Started+int64(5*1300*ms) != f.Ended {
			t.Errorf("took %v", time.Duration(f.Ended-f.Started))
		}
	})
}

func TestStopRules(t *testing.T) { // rows 9, 10, and 4.4
	for _, c := range []struct {
		name               string
		requests, sessions int64
		duration           time.Duration
		concurrency, turns int
		sent, started      int
		by                 Stop
	}{
		{"count truncates", 10, 0, 0, 2, 4, 10, 4, StopRequests},
		{"sessions send all turns", 0, 3, 0, 2, 4, 12, 3, StopSessions},
		{"count before sessions", 7, 3, 0, 1, 4, 7, 2, StopRequests},
		{"sessions before count", 4, 2, 0, 1, 1, 2, 2, StopSessions},
		{"count before duration", 2, 0, 3 * sec, 1, 1, 2, 2, StopRequests},
		{"duration before count", 500, 0, 1050 * ms, 1, 1, 11, 11, StopDuration},
		{"a duration beyond the clock", 3, 0, math.MaxInt64, 1, 1, 3, 3, StopRequests},
		{"more slots than requests", 3, 0, 0, 50, 1, 3, 3, StopRequests},
		{"more slots than sessions", 0, 3, 0, 50, 2, 6, 3, StopSessions},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{total: 100 * ms})
			r := play(t, one(Phase{
				Mode: ClosedLoop, Concurrency: c.concurrency, Requests: c.requests, Sessions: c.sessions, Duration: c.duration, Grace: sec,
			}), talk(10, c.turns, 0), s)
			f := r.Phases[0]
			wantCount(t, "sent", int(f.Sent), c.sent)
			wantCount(t, "seen", len(s.list), c.sent)
			wantCount(t, "sessions", int(f.SessionsSent), c.started)
			if f.StoppedBy != c.by {
				t.Errorf("stopped by %s, want %s", f.StoppedBy, c.by)
			}
			for i, v := range s.list {
				if v.Number < 0 || v.Final != (c.by != StopDuration && int(v.Number) == c.sent-1) {
					t.Errorf("send %d: number %d, final %v", i, v.Number, v.Final)
				}
			}
			if f.SessionsCompleted+f.SessionsCancelled != f.SessionsSent {
				t.Errorf("sessions %d = %d + %d", f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled)
			}
			if len(s.closed) < c.started {
				t.Errorf("%d sessions closed", len(s.closed))
			}
		})
	}
}

func TestPrefillSlots(t *testing.T) { // row 13
	bubble(t, "pairs", func(t *testing.T) {
		s := newSim(t, manner{ttft: sec, total: 6 * sec})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 10, Prefill: 2, Requests: 10}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 0, 1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000}, 1e-3)
		wantCount(t, "peak before first token", s.peakWait, 2)
		wantCount(t, "peak in flight", s.peak, 10)
		wantCount(t, "first tokens", int(r.Phases[0].PrefillsReleased), 10)
	})
	bubble(t, "without a limit of sessions", func(t *testing.T) {
		s := newSim(t, manner{ttft: sec, total: 5500 * ms})
		r := play(t, one(Phase{Mode: ClosedLoop, Prefill: 2, Requests: 20}), talk(10, 1, 0), s)
		wantCount(t, "peak before first token", s.peakWait, 2)
		wantCount(t, "peak in flight", s.peak, 12)
		wantCount(t, "sent", int(r.Phases[0].Sent), 20)
	})
	bubble(t, "released by the return", func(t *testing.T) {
		s := newSim(t, manner{total: sec, fail: true})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 4, Prefill: 1, Requests: 4}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 1000, 2000, 3000}, 1e-3)
		wantCount(t, "first tokens", int(r.Phases[0].PrefillsReleased), 0)
		wantCount(t, "errors", int(r.Phases[0].Errors), 4)
	})
}

func TestFailedTurn(t *testing.T) { // row 26
	bubble(t, "turn 1 of 4 fails", func(t *testing.T) {
		s := newSim(t, manner{})
		s.behave = func(r *Request) manner { return manner{total: 50 * ms, fail: r.Turn == 1} }
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 1, Sessions: 1}), talk(1, 4, 100), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 150, 300, 450}, 1e-3)
		wantCount(t, "errors", int(r.Phases[0].Errors), 1)
		wantCount(t, "completed sessions", int(r.Phases[0].SessionsCompleted), 1)
	})
}

func TestURLs(t *testing.T) { // row 19
	bubble(t, "three targets", func(t *testing.T) {
		s := newSim(t, manner{total: 50 * ms})
		scenario := one(Phase{Mode: ClosedLoop, Concurrency: 4, Sessions: 8})
		scenario.Phases = append([]Phase{{Name: "warmup", Warmup: true, Mode: ClosedLoop, Concurrency: 3, Duration: 125 * ms, Grace: -1}}, scenario.Phases...)
		scenario.URLs = 3
		play(t, scenario, talk(10, 3, 0), s)
		url := map[string]int{}
		start := 0
		for _, v := range append(s.phase("warmup"), s.phase("profiling")...) {
			if v.Turn == 0 {
				if v.URL != start%3 {
					t.Errorf("session %d on target %d", start, v.URL)
				}
				url[v.Session] = v.URL
				start++
			} else if url[v.Session] != v.URL {
				t.Errorf("session moved to target %d", v.URL)
			}
		}
		wantCount(t, "sessions", start, 11)
	})
}

func TestCancellationDraws(t *testing.T) { // row 18
	bubble(t, "30 percent", func(t *testing.T) {
		s := newSim(t, manner{total: ms})
		scenario := one(Phase{Mode: ClosedLoop, Concurrency: 10, Requests: 2000, Cancellation: Cancellation{30, 500 * ms}})
		warm := scenario.Phases[0]
		warm.Name, warm.Warmup, warm.Requests = "warmup", true, 100
		scenario.Phases = append([]Phase{warm}, scenario.Phases...)
		play(t, scenario, talk(10, 1, 0), s)
		count := map[string]int{}
		for _, v := range s.list {
			if v.CancelAfter >= 0 {
				count[v.Phase]++
				if v.CancelAfter != 500*ms {
					t.Fatalf("after %v", v.CancelAfter)
				}
			}
		}
		if n := count["profiling"]; count["warmup"] != 0 || n < 538 || n > 662 {
			t.Errorf("%v", count)
		}
	})
}

func TestConcurrencyRamp(t *testing.T) { // row 22
	bubble(t, "1 to 5 in 4 s", func(t *testing.T) {
		s := newSim(t, manner{ttft: 10 * ms, total: 30 * sec})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 5, ConcurrencyRamp: Ramp{Duration: 4 * sec}, Requests: 5}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 1000, 2000, 3000, 4000}, 1e-3)
	})
	bubble(t, "prefill 1 to 4 in 1.5 s", func(t *testing.T) {
		s := newSim(t, manner{ttft: 30 * sec, total: 31 * sec})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 9, Prefill: 4, PrefillRamp: Ramp{Duration: 1500 * ms}, Requests: 4}), talk(10, 1, 0), s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 500, 1000, 1500}, 1e-3)
	})
	bubble(t, "lowered", func(t *testing.T) {
		s := newSim(t, manner{total: 100 * ms})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 1, ConcurrencyRamp: Ramp{Duration: 2 * sec, From: 3}, Duration: 3 * sec}), talk(10, 1, 0), s)
		n := map[int]int{}
		for _, at := range offsets(r.Phases[0], s.list) {
			n[int(at)/1000]++
		}
		if n[0] != 30 || n[1] != 20 || n[2] != 10 {
			t.Errorf("per second: %v", n)
		}
	})
}

func TestFailureThreshold(t *testing.T) {
	half := 0.5
	bubble(t, "aborts", func(t *testing.T) {
		s := newSim(t, manner{})
		s.behave = func(r *Request) manner {
			return manner{total: 100*ms + time.Duration(r.Session.Conversation)*ms, fail: true}
		}
		r := play(t, Scenario{Phases: []Phase{
			{Name: "a", Mode: ClosedLoop, Concurrency: 3, Requests: 1000, FailureThreshold: &half},
			{Name: "b", Mode: ClosedLoop, Concurrency: 3, Requests: 1000},
		}}, talk(10, 1, 0), s)
		if !r.TooManyFail || len(r.Phases) != 1 || r.Phases[0].Completed != 10 || r.Phases[0].StoppedBy != StopFailures {
			t.Errorf("%+v", r)
		}
		for _, v := range s.list {
			if v.outcome.Cancelled && !errors.Is(v.cause, ErrFailures) {
				t.Errorf("cut by %v", v.cause)
			}
		}
		if r.Phases[0].Cancelled == 0 {
			t.Error("nothing was cut")
		}
	})
	bubble(t, "tolerates", func(t *testing.T) {
		s := newSim(t, manner{})
		n := 0
		s.behave = func(*Request) manner { n++; return manner{total: ms, fail: n%2 == 0} }
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 1, Requests: 100, FailureThreshold: &half}), talk(10, 1, 0), s)
		wantCount(t, "sent", int(r.Phases[0].Sent), 100)
	})
}
