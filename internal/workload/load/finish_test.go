package load

import (
	"errors"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

// TestFinish: a watcher ends a run as its duration does: requests in flight are cut, later phases do not begin, and the run does not count as interrupted.
func TestFinish(t *testing.T) {
	bubble(t, "finish", func(t *testing.T) {
		s := newSim(t, manner{total: 10 * sec})
		scenario := Scenario{Phases: []Phase{
			{Name: "profiling", Mode: Rate, Pattern: Constant, Rate: 10, Duration: time.Minute, Grace: -1},
			{Name: "more", Mode: ClosedLoop, Concurrency: 1, Requests: 5},
		}}
		g, err := New(scenario, Options{Source: talk(4, 1, 0), Executor: s, Root: rng.New(&testSeed), Waiter: clock.NewTimerWaiter()})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2050*ms, g.Finish)
		r, err := g.Run(t.Context())
		if err != nil || r.Interrupted || r.TooManyFail || len(r.Phases) != 1 {
			t.Fatalf("%+v %v", r, err)
		}
		f := r.Phases[0]
		if f.StoppedBy != StopWatcher || f.Sent != 20 || f.Cancelled != 20 || f.Ended-f.Started > int64(2100*ms) {
			t.Errorf("%+v", f)
		}
		for _, one := range s.phase("profiling") {
			if !errors.Is(one.cause, ErrSeen) {
				t.Errorf("cut by %v", one.cause)
			}
		}
	})
}
