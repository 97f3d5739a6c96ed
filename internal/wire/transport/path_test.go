package transport

import (
	"runtime"
	"testing"

	"aiperf/internal/measure/record"
)

// TestPath: the counters of a connection become those of a request, also where they wrap; a connection that tells nothing has no path.
func TestPath(t *testing.T) {
	before, now := tcpState{known: true, resent: 1<<32 - 1, unordered: 5}, tcpState{known: true, smoothedRTT: 7, resent: 2, unordered: 9, window: 10}
	if got, want := now.changesSince(before), (record.Path{Known: true, SmoothedRTT: 7, Window: 10, Resent: 3, Unordered: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (tcpState{}).changesSince(before); got != (record.Path{}) {
		t.Errorf("%+v", got)
	}
	if got := (tcpState{known: true, resent: 4}).changesSince(tcpState{known: true, resent: 5}); got.Resent != 0 {
		t.Errorf("a segment that proved to be received twice: %+v", got)
	}
	a, c := newAnswers(t, okAnswer), mustClient(t, nil)
	for range 2 {
		rec := do(c, &Request{Target: a.target, Body: record.Plain([]byte("{}"))})
		if p := rec.Trace.Path; runtime.GOOS == "linux" && (!p.Known || p.SmoothedRTT <= 0 || p.Window < 1) || runtime.GOOS != "linux" && p.Known {
			t.Errorf("%+v", p)
		}
	}
}
