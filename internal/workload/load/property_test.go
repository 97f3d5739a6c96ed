package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

// TestAnyPhase draws phases, data and servers, and checks what must hold for all of them.
func TestAnyPhase(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		turns := rapid.IntRange(1, 4).Draw(r, "turns")
		delay := float64(rapid.IntRange(0, 300).Draw(r, "delay"))
		src := talk(rapid.IntRange(1, 12).Draw(r, "conversations"), turns, delay)
		for i := range src.list {
			at := float64(rapid.IntRange(0, 2000).Draw(r, "timestamp"))
			src.list[i].Turns[0].Timestamp = &at
		}
		scenario := Scenario{URLs: rapid.IntRange(1, 3).Draw(r, "urls"), Sampling: rapid.SampledFrom([]Sampling{Sequential, Random, Shuffle}).Draw(r, "sampling")}
		for i := range rapid.IntRange(1, 3).Draw(r, "phases") {
			p := anyPhase(r)
			p.Name = string(rune('a' + i))
			p.Seamless = i > 0 && rapid.Bool().Draw(r, "seamless")
			scenario.Phases = append(scenario.Phases, p)
		}
		most := rapid.IntRange(1, 800).Draw(r, "latency")
		streamed := rapid.Bool().Draw(r, "streamed")
		failures := rapid.IntRange(0, 3).Draw(r, "failures")
		slow := rapid.SampledFrom([]time.Duration{0, 0, 3 * ms, 120 * ms}).Draw(r, "preparation")
		interrupt := time.Duration(rapid.SampledFrom([]int{0, 0, 700}).Draw(r, "interrupt")) * ms
		noise := rng.New(&testSeed).Stream("test")

		wrong := &complaints{}
		synctest.Test(t, func(t *testing.T) {
			s := newSim(wrong, manner{})
			n := 0
			s.behave = func(*Request) manner {
				s.mu.Lock()
				defer s.mu.Unlock()
				n++
				m := manner{prepare: slow, total: time.Duration(1+noise.Below(most)) * ms, fail: failures > 0 && n%(4-failures+1) == 0}
				if streamed {
					m.ttft = (m.total + 1) / 2
				}
				return m
			}
			ctx := context.Background()
			if interrupt > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, interrupt)
				defer cancel()
			}
			begin := clock.Now()
			result, err := playCtx(t, ctx, scenario, Options{Source: src, Executor: s})
			if err != nil {
				t.Fatal(err)
			}
			if clock.Now()-begin > int64(10*time.Minute) {
				wrong.Errorf("took %v", time.Duration(clock.Now()-begin))
			}
			check(wrong, scenario, result, s)
		})
		if len(wrong.list) > 0 {
			r.Fatalf("%s", strings.Join(wrong.list, "\n"))
		}
	})
}

// complaints collects what is wrong with one drawn case.
type complaints struct {
	mu   sync.Mutex
	list []string
}

// Errorf adds a complaint.
func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

func anyPhase(r *rapid.T) Phase {
	p := Phase{Mode: rapid.SampledFrom([]Mode{ClosedLoop, Rate, FixedSchedule, UserCentric}).Draw(r, "mode")}
	limit := func(name string, most int) int { return rapid.IntRange(0, most).Draw(r, name) }
	p.Concurrency, p.Prefill = limit("concurrency", 6), limit("prefill", 3)
	if p.Mode == ClosedLoop {
		p.Concurrency = max(1, p.Concurrency)
	}
	p.Pattern = rapid.SampledFrom([]Pattern{Constant, Poisson, Gamma}).Draw(r, "pattern")
	p.Rate = rapid.Float64Range(2, 60).Draw(r, "rate")
	p.Users = rapid.IntRange(1, 7).Draw(r, "users")
	p.Schedule.Auto = rapid.Bool().Draw(r, "auto")
	ramp := func(name string) Ramp {
		return Ramp{
			Duration: time.Duration(rapid.SampledFrom([]int{0, 0, 500, 2000}).Draw(r, name)) * ms,
			Strategy: rapid.SampledFrom([]RampStrategy{Linear, Exponential, PoissonRamp}).Draw(r, name+" strategy"),
		}
	}
	p.ConcurrencyRamp, p.PrefillRamp, p.RateRamp = ramp("concurrency ramp"), ramp("prefill ramp"), ramp("rate ramp")
	p.Requests, p.Sessions = int64(limit("requests", 40)), int64(limit("sessions", 15))
	p.Duration = time.Duration(rapid.SampledFrom([]int{0, 900, 3000}).Draw(r, "duration")) * ms
	p.Grace = time.Duration(rapid.SampledFrom([]int{-1, 0, 200, 30000}).Draw(r, "grace")) * ms
	if p.Requests == 0 && p.Sessions == 0 && p.Duration == 0 {
		p.Requests = 20
	}
	return p
}

// check tests the distributions of the counters, the stop rules, the slots and the sessions.
func check(t complainer, scenario Scenario, result *Result, s *sim) {
	peakLimit, waitLimit := 0, 0
	for i, f := range result.Phases {
		p := scenario.Phases[i]
		list := s.phase(p.Name)
		peakLimit, waitLimit = max(peakLimit, orMax(p.Concurrency)), max(waitLimit, orMax(p.Prefill))
		switch {
		case int64(len(list)) != f.Sent:
			t.Errorf("phase %s: %d seen, %d counted", p.Name, len(list), f.Sent)
		case f.Sent != f.Completed+f.Cancelled || f.Abandoned != 0:
			t.Errorf("phase %s: %d sent, %d completed, %d cancelled", p.Name, f.Sent, f.Completed, f.Cancelled)
		case f.SessionsSent != f.SessionsCompleted+f.SessionsCancelled:
			t.Errorf("phase %s: sessions %d, %d, %d", p.Name, f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled)
		case p.Requests > 0 && f.Sent > p.Requests, p.Sessions > 0 && f.SessionsSent > p.Sessions:
			t.Errorf("phase %s: %d requests, %d sessions", p.Name, f.Sent, f.SessionsSent)
		case f.StoppedBy == StopRequests && f.Sent != p.Requests, f.StoppedBy == StopSessions && f.SessionsSent != p.Sessions:
			t.Errorf("phase %s: stopped by %s at %d, %d", p.Name, f.StoppedBy, f.Sent, f.SessionsSent)
		case f.StoppedBy == StopSessions && f.Unsent != 0:
			t.Errorf("phase %s: turns were left over", p.Name)
		case p.Duration > 0 && f.SentAll-f.Started > int64(p.Duration):
			t.Errorf("phase %s: sent until %v", p.Name, time.Duration(f.SentAll-f.Started))
		case p.Duration > 0 && p.Grace >= 0 && f.Ended-f.Started > int64(p.Duration+p.Grace):
			t.Errorf("phase %s: ended after %v", p.Name, time.Duration(f.Ended-f.Started))
		case f.Schedule.TicksSkipped+f.Sent > f.Schedule.Ticks && p.Mode == Rate:
			t.Errorf("phase %s: %d ticks, %d skipped, %d sent", p.Name, f.Schedule.Ticks, f.Schedule.TicksSkipped, f.Sent)
		}
		finals := 0
		for k, v := range list {
			if v.Number != int64(k) || v.At < v.Granted || v.Intended != 0 && v.Granted < v.Intended {
				t.Errorf("phase %s, send %d: %+v", p.Name, k, v.Issue)
			}
			if v.Final {
				finals++
			}
		}
		byRule := f.StoppedBy == StopRequests || f.StoppedBy == StopSessions
		if byRule && (finals != 1 || !list[len(list)-1].Final) {
			t.Errorf("phase %s: %d final requests", p.Name, finals)
		}
		checkSessions(t, p, list)
	}
	if s.peakOpen > peakLimit {
		t.Errorf("%d open sessions, limit %d", s.peakOpen, peakLimit)
	}
	if s.peakWait > waitLimit {
		t.Errorf("%d before their first token, limit %d", s.peakWait, waitLimit)
	}
}

func orMax(limit int) int {
	if limit == 0 {
		return unlimited
	}
	return limit
}

// checkSessions tests that turns keep their order and are never early.
func checkSessions(t complainer, p Phase, list []*sending) {
	last := map[string]*sending{}
	for _, v := range list {
		prev := last[v.Session]
		last[v.Session] = v
		if prev == nil {
			if v.Turn != 0 {
				t.Errorf("phase %s: session %s begins with turn %d", p.Name, v.Session, v.Turn)
			}
			continue
		}
		if v.Turn != prev.Turn+1 || v.URL != prev.URL || v.At < prev.end {
			t.Errorf("phase %s: session %s: turn %d after %d", p.Name, v.Session, v.Turn, prev.Turn)
		}
	}
}
