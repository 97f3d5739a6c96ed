package load

import (
	"math"
	"testing"
	"time"
)

// TestSlotUse: of the time of a closed loop's slots only that counts as lost in which the answer before had arrived and the next request could have
// been sent. The last answers are awaited when nothing more is sent: their requests are in no sum.
func TestSlotUse(t *testing.T) {
	for _, c := range []struct {
		name             string
		phase            Phase
		source           *shapes
		m                manner
		busy, rest, lost time.Duration
	}{
		{"nothing is lost", Phase{Mode: ClosedLoop, Concurrency: 4, Sessions: 40}, talk(10, 1, 0), manner{total: 100 * ms}, 36 * 100 * ms, 0, 0},
		{"answers lie unread", Phase{Mode: ClosedLoop, Concurrency: 4, Sessions: 40}, talk(10, 1, 0), manner{total: 100 * ms, unread: 30 * ms}, 36 * 70 * ms, 0, 36 * 30 * ms},
		{"answers lie unread in sessions", Phase{Mode: ClosedLoop, Concurrency: 1, Sessions: 2}, talk(10, 5, 0), manner{total: 100 * ms, unread: 30 * ms}, 9 * 70 * ms, 0, 9 * 30 * ms},
		{"think time", Phase{Mode: ClosedLoop, Concurrency: 2, Sessions: 4}, talk(10, 3, 500), manner{total: 100 * ms}, 10 * 100 * ms, 8 * 500 * ms, 0},
		{"think time and answers that lie unread", Phase{Mode: ClosedLoop, Concurrency: 2, Sessions: 4}, talk(10, 3, 500), manner{total: 100 * ms, unread: 30 * ms}, 10 * 70 * ms, 8 * 500 * ms, 10 * 30 * ms},
		{"fewer sessions than slots", Phase{Mode: ClosedLoop, Concurrency: 16, Sessions: 3}, talk(10, 1, 0), manner{total: 100 * ms, unread: 30 * ms}, 0, 0, 0},
		{"the end of the sending", Phase{Mode: ClosedLoop, Concurrency: 4, Duration: 250 * ms, Grace: sec}, talk(10, 1, 0), manner{total: 100 * ms}, sec, 0, 0},
		{"think time at the end", Phase{Mode: ClosedLoop, Concurrency: 2, Duration: 1250 * ms, Grace: sec}, talk(10, 3, 500), manner{total: 100 * ms}, 2 * 250 * ms, 2 * 1000 * ms, 0},
		{"the last answers lie unread", Phase{Mode: ClosedLoop, Concurrency: 4, Duration: 250 * ms, Grace: sec}, talk(10, 1, 0), manner{total: 100 * ms, unread: 30 * ms}, 4 * 190 * ms, 0, 4 * 60 * ms},
		{"requests that fail", Phase{Mode: ClosedLoop, Concurrency: 4, Sessions: 40}, talk(10, 1, 0), manner{total: 100 * ms, fail: true, unread: 30 * ms}, 36 * 100 * ms, 0, 0},
		{"answers that report an error", Phase{Mode: ClosedLoop, Concurrency: 4, Sessions: 40}, talk(10, 1, 0), manner{total: 100 * ms, fail: true, refused: true, unread: 30 * ms}, 36 * 70 * ms, 0, 36 * 30 * ms},
		{"slow preparation", Phase{Mode: ClosedLoop, Concurrency: 2, Sessions: 20}, talk(10, 1, 0), manner{total: 80 * ms, prepare: 20 * ms}, 18 * 80 * ms, 0, 16 * 20 * ms},
		{"a connection for each", Phase{Mode: ClosedLoop, Concurrency: 2, Sessions: 20}, talk(10, 1, 0), manner{total: 80 * ms, prepare: 20 * ms, connect: 20 * ms}, 18 * 80 * ms, 16 * 20 * ms, 0},
		{"limited prefill", Phase{Mode: ClosedLoop, Concurrency: 4, Prefill: 1, Sessions: 8}, talk(10, 1, 0), manner{ttft: 50 * ms, total: 60 * ms}, 0, 0, 0},
		{"a ramp of slots", Phase{Mode: ClosedLoop, Concurrency: 4, ConcurrencyRamp: Ramp{Duration: 400 * ms}, Duration: sec, Grace: sec}, talk(10, 1, 0), manner{total: 100 * ms}, 0, 0, 0},
		{"an open loop", Phase{Mode: Rate, Pattern: Constant, Rate: 10, Concurrency: 4, Sessions: 40}, talk(10, 1, 0), manner{total: 100 * ms, unread: 30 * ms}, 0, 0, 0},
	} {
		bubble(t, c.name, func(t *testing.T) {
			f := play(t, one(c.phase), c.source, newSim(t, c.m)).Phases[0]
			u := f.Slots
			if most := float64(c.phase.Concurrency) * f.Schedule.SendSeconds; c.phase.Mode == ClosedLoop && u.Total().Seconds() > most+1e-6 {
				t.Errorf("%v of slot time, but %d slots were open for only %g s", u.Total(), c.phase.Concurrency, f.Schedule.SendSeconds)
			}
			switch {
			case c.phase.Prefill > 0, c.phase.ConcurrencyRamp.Duration > 0:
				if u.Busy == 0 || u.Lost != 0 {
					t.Errorf("%+v", u)
				}
			case !near(u.Busy, c.busy) || !near(u.InDelay, c.rest) || !near(u.Lost, c.lost):
				t.Errorf("%+v, want busy %v, rest %v, lost %v", u, c.busy, c.rest, c.lost)
			}
		})
	}
}

// TestUnstampedSlotUse: without stamps of the kernel, the time for which an answer lay unread counts as busy, but is not known to be.
func TestUnstampedSlotUse(t *testing.T) {
	for name, p := range map[string]Phase{"all sent": {Mode: ClosedLoop, Concurrency: 4, Sessions: 40}, "failed": {Mode: ClosedLoop, Concurrency: 4, Sessions: 40}} {
		bubble(t, name, func(t *testing.T) {
			m := manner{total: 100 * ms, unread: 30 * ms, unstamped: true, fail: name == "failed"}
			u := play(t, one(p), talk(10, 1, 0), newSim(t, m)).Phases[0].Slots
			want := 36 * 30 * ms
			if m.fail {
				want = 0
			}
			if !near(u.Busy, 36*100*ms) || u.Lost != 0 || !near(u.Unsure, want) {
				t.Errorf("%+v, want %v unsure", u, want)
			}
		})
	}
}

func near(a, b time.Duration) bool { return math.Abs(float64(a-b)) < 1e4 }

// TestSlotUseOfPrefill: a first token that is noticed late keeps the next request from a slot that is free.
func TestSlotUseOfPrefill(t *testing.T) {
	bubble(t, "late first tokens", func(t *testing.T) {
		// 50 ms of prefill, of which 30 ms are over when it is noticed, one after the other: each request waits 30 ms for the client.
		s := newSim(t, manner{ttft: 50 * ms, total: 51 * ms, unread: 30 * ms})
		u := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 4, Prefill: 1, Sessions: 20}), talk(10, 1, 0), s).Phases[0].Slots
		if got := u.Lost / 30 / ms; got < 15 || got > 19 {
			t.Errorf("%+v: %d times 30 ms are lost", u, got)
		}
		if u.InDelay == 0 {
			t.Errorf("%+v: nobody waited for the prefill slot", u)
		}
	})
}

// TestSlotUseOfSlowData: slots that wait for the data are the client's loss, up to the last session that is started, and to the end of the sending.
func TestSlotUseOfSlowData(t *testing.T) {
	for name, p := range map[string]Phase{"sessions": {Mode: ClosedLoop, Concurrency: 4, Sessions: 30}, "duration": {Mode: ClosedLoop, Concurrency: 4, Duration: 3 * sec, Grace: sec}} {
		bubble(t, name, func(t *testing.T) {
			source := talk(100, 1, 0)
			source.slow = 100 * ms // and an answer takes 10 ms: one slot is in use for a tenth of the time
			f := play(t, one(p), source, newSim(t, manner{total: 10 * ms})).Phases[0]
			u := f.Slots
			if u.Total() > 4*time.Duration(f.Schedule.SendSeconds*1e9)+40*ms || u.Total() < 3*time.Duration(f.Schedule.SendSeconds*1e9) {
				t.Errorf("%v of slot time in %v s", u.Total(), f.Schedule.SendSeconds)
			}
			if u.Lost < 9*u.Total()/10 || u.InDelay != 0 {
				t.Errorf("%+v", u)
			}
		})
	}
}
