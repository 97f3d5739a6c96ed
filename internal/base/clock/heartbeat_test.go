package clock

import (
	"testing"
	"time"
)

// TestProbeLog: the longest delay among the readings that waited at some instant of a span, as far as the log goes back.
func TestProbeLog(t *testing.T) {
	const ms = int64(time.Millisecond)
	l := newProbeLog()
	for i := int64(1); i <= 100; i++ {
		r := probeRead{i * ms, i*ms + ms/20}
		if i == 50 {
			r.readAt = 50*ms + ms*4/5
		}
		l.add(r)
	}
	for _, c := range []struct{ from, to, want int64 }{
		{1 * ms, 40 * ms, ms / 20}, {45 * ms, 60 * ms, ms * 4 / 5}, {50*ms + ms/2, 50*ms + ms/2, ms * 4 / 5}, {60 * ms, 90 * ms, ms / 20}, {200 * ms, 300 * ms, 0},
	} {
		if got := l.longest(c.from, c.to); got != c.want {
			t.Errorf("from %v to %v: %v, want %v", time.Duration(c.from), time.Duration(c.to), time.Duration(got), time.Duration(c.want))
		}
	}
	for i := range int64(probeLogSize) {
		l.add(probeRead{i*ms + 1000*ms, i*ms + 1000*ms})
	}
	if got := l.longest(0, 100*ms); got != 0 {
		t.Errorf("%v of a forgotten reading", time.Duration(got))
	}
}

// TestProbeRests: the probe runs while requests are in flight and rests soon after the last; the next request wakes it.
func TestProbeRests(t *testing.T) {
	checks := make(chan int64, 1)
	h := StartHeartbeat(func() {
		select {
		case checks <- Now():
		default:
		}
	})
	defer h.Stop()
	state := func() (runs bool) {
		h.probing.Lock()
		defer h.probing.Unlock()
		return h.probeRunning
	}
	for round := range 2 {
		h.Enter()
		h.Enter()
		h.Leave()
		if !state() {
			t.Fatal("the probe rests while a request is in flight")
		}
		for entered := Now(); <-checks < entered; {
		}
		h.Leave()
		deadline := Now() + int64(20*time.Second)
		for state() && Now() < deadline {
			time.Sleep(time.Millisecond)
		}
		if state() {
			t.Fatalf("round %d: the probe still runs", round)
		}
	}
}

func TestBeats(t *testing.T) {
	h := &Heartbeat{reads: newProbeLog()}
	for _, late := range []time.Duration{100 * time.Microsecond, 300 * time.Millisecond, 16 * time.Millisecond, 9 * time.Millisecond} {
		h.beat(int64(late), 0)
	}
	got := h.Stalls()
	if got.Count != 2 || got.Longest != 300*time.Millisecond || got.Total != 316*time.Millisecond {
		t.Errorf("%+v, want two stalls, the longest of 300 ms, 316 ms together", got)
	}
	// A stop of 310 ms that began 10 ms before the beat was due: the probe knows.
	h.beat(int64(300*time.Millisecond), 0)
	h.reads.add(probeRead{h.lateAt - int64(310*time.Millisecond), h.lateAt})
	if got := h.Stalls(); got.Count != 3 || got.Longest != 310*time.Millisecond {
		t.Errorf("%+v, want a stall of 310 ms", got)
	}
	h.Mark()
	if got := h.Stalls(); got.Count != 0 || got.Longest != 0 || got.Total != 0 {
		t.Errorf("after Mark %+v", got)
	}
}

// TestWakes: the delay of waking is the mean over the instants of the grid, including those during a stop; short delays count as normal.
func TestWakes(t *testing.T) {
	var w wakes
	if w.mean() != 0 {
		t.Error("a cost of nothing")
	}
	for _, late := range []time.Duration{0, 100 * time.Microsecond, wakeNoise, 3 * time.Millisecond} {
		w.add(int64(late))
	}
	if got := w.mean(); got != 750*time.Microsecond {
		t.Errorf("%v, want 3 ms over four", got)
	}
	w.add(int64(50 * time.Millisecond)) // 50, 30 and 10 ms late
	if got := w.mean(); got != 93*time.Millisecond/7 {
		t.Errorf("%v, want 93 ms over seven", got)
	}
	if got := w.share(); got != 4./7 {
		t.Errorf("a share of %g, want four of seven", got)
	}
}

// TestProbeGrid: the readings of the probe are at instants of its grid, and none is earlier than its instant.
func TestProbeGrid(t *testing.T) {
	checks := make(chan struct{}, 1000)
	h := StartHeartbeat(func() { checks <- struct{}{} })
	h.Enter()
	for range 3 {
		<-checks
	}
	h.Leave()
	h.Stop()
	if h.reads.n < 2 {
		t.Fatalf("%d readings", h.reads.n)
	}
	for i := 1; i < h.reads.n; i++ {
		a, b := h.reads.at(i-1), h.reads.at(i)
		if b.ready < a.readAt-int64(time.Millisecond) || b.readAt < b.ready || (b.ready-a.ready)%int64(probePeriod) != 0 {
			t.Fatalf("reading %d %+v after %+v", i, *b, *a)
		}
	}
}
