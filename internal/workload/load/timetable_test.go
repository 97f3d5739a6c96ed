package load

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestFixedSchedule(t *testing.T) { // rows 14, 15 and 6.4
	for _, c := range []struct {
		name        string
		times       []float64
		zero        ScheduleZero
		concurrency int
		total       int // ms
		phase       Phase
		want        []float64
	}{
		{"epoch base, auto offset", []float64{1.7e12, 1.7e12 + 100, 1.7e12 + 250}, ScheduleZero{Auto: true}, 0, 5, Phase{}, []float64{0, 100, 250}},
		{"start 100", []float64{100, 250}, ScheduleZero{Start: 100}, 0, 5, Phase{}, []float64{0, 150}},
		{"start 50", []float64{100, 250}, ScheduleZero{Start: 50}, 0, 5, Phase{}, []float64{50, 200}},
		{"raw times, file order does not matter", []float64{300.25, 100, 300.25, 0}, ScheduleZero{}, 0, 5, Phase{}, []float64{0, 100, 300.25, 300.25}},
		{"many at a time", []float64{0, 0, 100, 100, 100, 200, 200, 300}, ScheduleZero{Auto: true}, 0, 40, Phase{}, []float64{0, 0, 100, 100, 100, 200, 200, 300}},
		{"close together", []float64{0, 60, 70, 130, 131, 132, 400}, ScheduleZero{Auto: true}, 0, 40, Phase{}, []float64{0, 60, 70, 130, 131, 132, 400}},
		{"ceiling", []float64{0, 100, 200, 300, 1200}, ScheduleZero{Auto: true}, 1, 250, Phase{}, []float64{0, 250, 500, 750, 1200}},
		{"duration", []float64{0, 400, 800, 1200, 1600}, ScheduleZero{Auto: true}, 0, 40, Phase{Duration: sec, Grace: 30 * sec}, []float64{0, 400, 800}},
		{"count is one more limit", []float64{0, 400, 800}, ScheduleZero{Auto: true}, 0, 40, Phase{Requests: 2}, []float64{0, 400}},
		{"sessions are one more limit", []float64{0, 400, 800}, ScheduleZero{Auto: true}, 0, 40, Phase{Sessions: 1}, []float64{0}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{total: time.Duration(c.total) * ms})
			p := c.phase
			p.Mode, p.Schedule, p.Concurrency = FixedSchedule, c.zero, c.concurrency
			r := play(t, one(p), trace(c.times...), s)
			f := r.Phases[0]
			wantTimes(t, offsets(f, s.list), c.want, 1e-3)
			if c.concurrency == 1 {
				wantCount(t, "peak", s.peak, 1)
				if f.Schedule.Lag.Max != 450e6 || f.Schedule.Armed.Max != 0 {
					t.Errorf("lag %d, of those with a slot %d", f.Schedule.Lag.Max, f.Schedule.Armed.Max)
				}
			}
			if f.TimedOut && f.Ended-f.Started != int64(sec) {
				t.Errorf("the grace period was sat out: %d ns", f.Ended-f.Started)
			}
			for _, v := range s.list {
				if v.Session != fmt.Sprintf("fixed-schedule-c%d", v.Conversation) {
					t.Errorf("session id %s", v.Session)
				}
			}
		})
	}
}

func TestFixedScheduleSessions(t *testing.T) {
	bubble(t, "turns by time, by delay, at once", func(t *testing.T) {
		src := talk(2, 4, 0)
		at := func(ms float64) *float64 { return &ms }
		for i, base := range []float64{1000, 1050} {
			turns := src.list[i].Turns
			turns[0].Timestamp = at(base)
			turns[1].Timestamp = at(base + 20) // past when the answer is there
			turns[2].Delay = at(300)
			turns[3].Timestamp = at(base + 900)
		}
		s := newSim(t, manner{total: 100 * ms})
		r := play(t, one(Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}}), src, s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 50, 100, 150, 500, 550, 900, 950}, 1e-3)
		if r.Phases[0].Schedule.Lag.Max != 0 {
			t.Errorf("an answer is not the schedule's lateness: %d", r.Phases[0].Schedule.Lag.Max)
		}
	})
}

// ordered is a trace of which no more may be read than a little ahead.
type ordered struct {
	*shapes
	reached atomic.Int64
}

func (o *ordered) Len() int { panic("the end was waited for") }

func (o *ordered) Has(i int) bool {
	o.reached.Store(max(o.reached.Load(), int64(i)))
	return i < len(o.list)
}

func (o *ordered) Ordered() bool { return true }

// TestFixedScheduleReadsAhead: a schedule whose data come in the order of their times reads only a little ahead, and refuses data that do not.
func TestFixedScheduleReadsAhead(t *testing.T) {
	times := make([]float64, 3*maxArmed)
	for i := range times {
		times[i] = 50 + float64(i/2)
	}
	bubble(t, "part", func(t *testing.T) {
		src := &ordered{shapes: trace(times...)}
		s := newSim(t, manner{})
		r := play(t, one(Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}, Requests: 7}), src, s)
		wantTimes(t, offsets(r.Phases[0], s.list), []float64{0, 0, 1, 1, 2, 2, 3}, 1e-3)
		if n := src.reached.Load(); n > 2*maxArmed {
			t.Errorf("%d conversations were read for 7", n)
		}
	})
	bubble(t, "whole", func(t *testing.T) {
		src := &ordered{shapes: trace(times...)}
		r := play(t, one(Phase{Mode: FixedSchedule, Schedule: ScheduleZero{Auto: true}}), src, newSim(t, manner{}))
		wantCount(t, "sent", int(r.Phases[0].Sent), len(times))
	})
	bubble(t, "out of order", func(t *testing.T) {
		src := &ordered{shapes: trace(0, 100, 200, 150, 300)}
		s := newSim(t, manner{})
		_, err := playCtx(t, t.Context(), one(Phase{Mode: FixedSchedule}), Options{Source: src, Executor: s})
		if err == nil || !strings.Contains(err.Error(), `session "c3" at 150 ms comes after one at 200 ms`) {
			t.Error(err)
		}
	})
}

func TestStage(t *testing.T) { // row 16, the table of 6.5
	for _, c := range []struct {
		users, turns int
		want         string // order>id,turns
	}{
		{15, 20, "0>16,0 1>5,6 2>9,11 3>13,16 4>2,2 5>6,7 6>10,12 7>14,17 8>3,3 9>7,8 10>11,13 11>15,18 12>4,4 13>8,9 14>12,14"},
		{5, 6, "0>6,0 1>3,2 2>5,4 3>2,1 4>4,3"},
		{1, 5, "0>2,0"},
	} {
		list := stage(c.users, c.turns)
		slices.SortFunc(list, func(a, b stagedUser) int { return a.order - b.order })
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintf("%d>%d,%d", s.order, s.id, s.left))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d users, %d turns:\n%s\nwant\n%s", c.users, c.turns, strings.Join(got, " "), c.want)
		}
	}
	for users := 1; users <= 40; users++ {
		for turns := 2; turns <= 30; turns++ {
			seen := map[int]bool{}
			for _, s := range stage(users, turns) {
				if s.order < 0 || s.order >= max(users, 1) || seen[s.order] {
					t.Fatalf("%d users, %d turns: order %d", users, turns, s.order)
				}
				seen[s.order] = true
			}
		}
	}
}

func TestUserCentric(t *testing.T) {
	bubble(t, "order of users", func(t *testing.T) { // golden case uc_basic
		s := newSim(t, manner{total: 40 * ms})
		r := play(t, one(Phase{Mode: UserCentric, Users: 5, Rate: 5, Duration: 6 * sec, Grace: 30 * sec}), talk(100, 4, 0), s)
		var want []float64
		for i := range 30 {
			want = append(want, float64(i*200))
		}
		wantTimes(t, offsets(r.Phases[0], s.list), want, 1e-3)
		var got []string
		for _, v := range s.list {
			got = append(got, v.Session)
		}
		if o := strings.Join(got, " "); o != "6 3 5 2 4 6 3 5 7 4 6 8 5 7 9 6 8 10 7 9 11 8 10 7 9 11 8 10 12 9" {
			t.Error(o)
		}
	})
	bubble(t, "sessions", func(t *testing.T) { // golden case uc_sessions
		s := newSim(t, manner{total: 40 * ms})
		r := play(t, one(Phase{Mode: UserCentric, Users: 3, Rate: 10, Sessions: 4}), talk(100, 3, 0), s)
		lengths := map[string]int{}
		for _, v := range s.list {
			lengths[v.Session]++
		}
		if r.Phases[0].Sent != 9 || fmt.Sprint(lengths) != "map[2:1 3:2 4:3 5:3]" {
			t.Errorf("%d %v", r.Phases[0].Sent, lengths)
		}
	})
	bubble(t, "late answer", func(t *testing.T) { // row 17
		s := newSim(t, manner{})
		s.behave = func(r *Request) manner {
			if r.Session.ID == "4" && r.Turn == 0 { // the fresh user of three; its gap is 0.3 s
				return manner{total: 950 * ms}
			}
			return manner{total: 10 * ms}
		}
		r := play(t, one(Phase{Mode: UserCentric, Users: 3, Rate: 10, Duration: 3 * sec}), talk(100, 6, 0), s)
		var mine, others []*sending
		for _, v := range s.list {
			if v.Session == "4" {
				mine = append(mine, v)
			} else {
				others = append(others, v)
			}
		}
		wantTimes(t, offsets(r.Phases[0], mine), []float64{0, 950, 1250, 1550, 1850, 2150}, 1e-3)
		for _, at := range offsets(r.Phases[0], others) {
			if int(at+0.5)%100 != 0 {
				t.Errorf("another user moved: %v", at)
			}
		}
	})
	bubble(t, "ceiling", func(t *testing.T) {
		s := newSim(t, manner{total: 500 * ms})
		play(t, one(Phase{Mode: UserCentric, Users: 5, Rate: 10, Concurrency: 2, Duration: 5 * sec, Grace: sec}), talk(100, 3, 0), s)
		wantCount(t, "open sessions", s.peakOpen, 2)
	})
}
