package metric

import (
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	calm := ClientStats{CPUShare: 0.2, Cores: 2, ReadDelays: 100, ReadDelayP50: 10 * time.Microsecond, ReadDelayP99: 100 * time.Microsecond, Valid: 100, Messages: 1000, BacklogSize: 1024}
	open := calm
	open.OpenLoop, open.TargetRate, open.DrawnRate, open.AchievedRate, open.LagP99 = true, 100, 100, 100, 80*time.Microsecond
	for _, c := range []struct {
		name    string
		from    ClientStats
		turn    func(*ClientStats)
		verdict Verdict
		says    string
	}{
		{"closed loop", calm, func(*ClientStats) {}, VerdictValid, "room to spare"},
		{"open loop", open, func(*ClientStats) {}, VerdictValid, "schedule was kept (p99 80 µs late)"},
		{"rate just reached", open, func(e *ClientStats) { e.AchievedRate = 99.1 }, VerdictValid, ""},
		{"rate missed", open, func(e *ClientStats) { e.AchievedRate = 90 }, VerdictRateNotReached, "90.0 requests/s were sent of the 100.0"},
		{"cut short", open, func(e *ClientStats) { e.AchievedRate, e.CancelledByUser = 50, true }, VerdictValid, ""},
		{"slots taken", open, func(e *ClientStats) { e.CapShare = 0.4 }, VerdictServerLimited, "40.0 % of the sending time"},
		{"slots taken, rate missed", open, func(e *ClientStats) { e.CapShare, e.AchievedRate = 0.4, 60 }, VerdictServerLimited, "60.0 requests/s were sent"},
		{"late", open, func(e *ClientStats) { e.LagP99 = 11 * time.Millisecond }, VerdictClientLimited, "left 11 ms late at p99 (allowed: 10 ms)"},
		{"late, slow rate", open, func(e *ClientStats) {
			e.LagP99, e.TargetRate, e.DrawnRate, e.AchievedRate = 11*time.Millisecond, 2, 2, 2
		}, VerdictValid, ""},
		{"reanchored", open, func(e *ClientStats) { e.Reanchors, e.ReanchorLost = 2, 3*time.Second }, VerdictClientLimited, "(2 times) and gave up 3.00 s"},
		{"busy", calm, func(e *ClientStats) { e.CPUShare = 0.97 }, VerdictClientLimited, "97 % of its 2 cores"},
		{"slow reads", calm, func(e *ClientStats) { e.ReadDelayP99 = 8 * time.Millisecond }, VerdictClientLimited, "8 ms late at p99"},
		{"slow reads, slower server", calm, func(e *ClientStats) { e.ReadDelayP99, e.TTFTP50 = 8*time.Millisecond, time.Second }, VerdictValid, ""},
		{"out of ports", calm, func(e *ClientStats) { e.FileLimitHits = 4 }, VerdictClientLimited, "4 connections failed on its own limits"},
		{"nothing succeeded", calm, func(e *ClientStats) { e.Valid, e.Failed, e.CPUShare = 0, 100, 0.97 }, VerdictNoResult, "No request succeeded"},
		{"nothing succeeded, out of ports", calm, func(e *ClientStats) { e.Valid, e.Failed, e.FileLimitHits = 0, 100, 100 }, VerdictClientLimited, "own limits"},
		{"busy and capped", open, func(e *ClientStats) { e.CPUShare, e.CapShare = 0.97, 0.5 }, VerdictClientLimited, "97 %"},
	} {
		e := c.from
		c.turn(&e)
		v := Assess(e)
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
	}
}

func TestNotes(t *testing.T) {
	v := Assess(ClientStats{Valid: 90, Failed: 10, GCPauseMax: 30 * time.Millisecond, Messages: 100, SharedReads: 50, OneMessage: 3, Spilled: 7, TicksSkipped: 2})
	all := strings.Join(v.Notes, "\n")
	for _, say := range []string{"10 of 100 requests failed", "not by the kernel", "30 ms", "50 % of the messages", "3 answers came in one message", "7 records went through", "2 planned sends"} {
		if !strings.Contains(all, say) {
			t.Errorf("no note says %q:\n%s", say, all)
		}
	}
	if v := Assess(ClientStats{Valid: 100, ReadDelays: 5}); len(v.Notes) != 0 {
		t.Errorf("notes without a reason: %v", v.Notes)
	}
}
