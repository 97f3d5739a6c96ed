package load

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestUnreachableServer: the run ends after 100 failures and 3 s, whichever is later, and not when a connection succeeds in between.
func TestUnreachableServer(t *testing.T) {
	long := func(d time.Duration) []Phase {
		return []Phase{{Name: "a", Mode: ClosedLoop, Concurrency: 2, Duration: d}, {Name: "b", Mode: ClosedLoop, Concurrency: 2, Duration: d}}
	}
	for _, c := range []struct {
		name     string
		each     time.Duration // between the failures of a stream
		off      bool
		counted  bool // the phase counts requests and has no duration
		good     int  // every n-th request succeeds, 0 = none
		failures int64
		after    time.Duration // 0 = the run is not ended
	}{
		{name: "fast failures", each: 10 * ms, failures: 602, after: 3 * sec},
		{name: "slow failures", each: 200 * ms, failures: 100, after: 9800 * ms},
		{name: "--no-fail-fast", each: 10 * ms, off: true},
		{name: "a count of requests", each: 10 * ms, counted: true},
		{name: "one success in time", each: 10 * ms, good: 500},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{})
			var n atomic.Int64
			s.behave = func(*Request) manner {
				asked := int(n.Add(1))
				bad := c.good == 0 || asked%c.good != 0
				return manner{total: c.each, fail: bad, unreachable: bad}
			}
			phases := long(12 * sec)
			if c.counted {
				for i := range phases {
					phases[i].Duration, phases[i].Requests = 0, 1000
				}
			}
			r := play(t, Scenario{Phases: phases, FailFast: !c.off}, talk(10, 1, 0), s)
			if c.after == 0 {
				if r.Unreachable != nil || len(r.Phases) != 2 {
					t.Errorf("ended: %+v", r.Unreachable)
				}
				return
			}
			u := r.Unreachable
			if u == nil || len(r.Phases) != 1 || r.Phases[0].StoppedBy != StopUnreachable {
				t.Fatalf("%+v, %d phases", u, len(r.Phases))
			}
			if u.For != c.after || u.Failures < c.failures-2 || u.Failures > c.failures+2 {
				t.Errorf("%d failures in %v", u.Failures, u.For)
			}
			for _, v := range s.list {
				if v.outcome.Cancelled && !errors.Is(v.cause, ErrUnreachable) {
					t.Errorf("cut by %v", v.cause)
				}
			}
		})
	}
}
