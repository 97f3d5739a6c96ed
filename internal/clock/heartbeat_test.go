package clock

import (
	"testing"
	"time"
)

// TestUnseen: bytes can have lain unread only since the look before what they were read with.
func TestUnseen(t *testing.T) {
	const ms = int64(time.Millisecond)
	l := newLookLog()
	for i := int64(1); i <= 100; i++ { // prompt looks, but for one of 20 ms at 50 and one of 3 ms at 80
		k := look{i * ms, i*ms + ms/20}
		switch {
		case i == 50:
			k.seen = 70 * ms
		case i > 50 && i < 71, i > 80 && i < 84:
			continue
		case i == 80:
			k.seen = 83 * ms
		}
		l.add(k)
	}
	for _, c := range []struct {
		name           string
		from, at, want int64 // in tenths of a ms
	}{
		{"between prompt looks", 0, 305, 0},
		{"in a blind time", 0, 605, 114}, // since the look before it, at 49.05
		{"at its end", 0, 699, 208},
		{"the read before is later than that", 550, 699, 149},
		{"right after it", 0, 705, 5},
		{"calm again", 0, 755, 0},
		{"a shorter one", 0, 825, 34},
		{"after the last look nothing is known", 100, 1005, 905},
		{"nor before the first", 0, 5, 5},
		{"an empty window", 500, 500, 0},
	} {
		got := l.unseen(c.from*ms/10, c.at*ms/10)
		if d := got - c.want*ms/10; d < 0 || d > ms/10 {
			t.Errorf("%s: %v, want %v", c.name, time.Duration(got), time.Duration(c.want*ms/10))
		}
	}
}

// TestUnseenWhileAThreadWaited: looks may be prompt and the one thread that was about to read may have waited for a processor all the same.
func TestUnseenWhileAThreadWaited(t *testing.T) {
	const ms = int64(time.Millisecond)
	h := &Heartbeat{looks: newLookLog(), past: newBeatLog()}
	for i := int64(1); i <= 100; i++ {
		h.looks.add(look{i * ms, i*ms + ms/20})
	}
	for i := int64(1); i <= 6; i++ { // a beat every 20 ms; in the third stretch a thread waited for 7 ms
		h.past.add(beat{20 * i * ms, []int64{0, ms / 10, 7 * ms, ms / 5, 0, 0}[i-1]})
	}
	for _, c := range []struct{ from, at, least, most int64 }{
		{0, 50*ms + 1, 7 * ms, 7 * ms},     // in that stretch
		{48 * ms, 50 * ms, 2 * ms, 2 * ms}, // the read before is later than that
		{0, 30*ms + 1, 7 * ms, 7 * ms},     // the wait may have ended after the instant: a read follows its bytes
		{0, 70*ms + 1, 0, ms / 10},         // the stretch behind it
		{0, 10*ms + 1, 0, ms / 10},         // long before
	} {
		if u := h.Unseen(c.from, c.at); u < c.least || u > c.most {
			t.Errorf("from %d to %d: %v unseen, want %v to %v", c.from, c.at, time.Duration(u), time.Duration(c.least), time.Duration(c.most))
		}
	}
	if h.past.last() != 120*ms {
		t.Errorf("the last beat was at %d", h.past.last())
	}
}

// TestUnseenBeyondTheLog: of what is forgotten nothing is promised.
func TestUnseenBeyondTheLog(t *testing.T) {
	l := newLookLog()
	for i := range int64(2 * keptLooks) {
		l.add(look{i * 1000, i*1000 + 10})
	}
	if got := l.unseen(5, 50_500); got != 50_495 {
		t.Errorf("long ago: %d", got)
	}
	if got := l.unseen(5, keptLooks*1000+50_500); got != 10 {
		t.Errorf("within the log: %d", got)
	}
}

// TestProbeRests: without a request under way nobody looks, and what is final was told; the next request wakes it.
func TestProbeRests(t *testing.T) {
	ends := make(chan int64, 100_000)
	h := StartHeartbeat(func(upTo int64) { ends <- upTo })
	defer h.Stop()
	state := func() (runs bool) {
		h.probing.Lock()
		defer h.probing.Unlock()
		return h.runs
	}
	for round := range 2 {
		h.Enter()
		h.Enter()
		h.Leave()
		if !state() {
			t.Fatal("nobody looks while a request is under way")
		}
		left := Now()
		h.Leave()
		for upTo := int64(0); upTo < left; {
			upTo = <-ends
		}
		deadline := left + int64(20*time.Second)
		for state() && Now() < deadline {
			time.Sleep(time.Millisecond)
		}
		if state() {
			t.Fatalf("round %d: the probe goes on", round)
		}
	}
}

func TestBeats(t *testing.T) {
	h := &Heartbeat{looks: newLookLog(), past: newBeatLog()}
	for _, late := range []time.Duration{100 * time.Microsecond, 300 * time.Millisecond, 16 * time.Millisecond, 9 * time.Millisecond} {
		h.beat(int64(late), 0)
	}
	got := h.Stalls()
	if got.Count != 2 || got.Longest != 300*time.Millisecond || got.Total != 316*time.Millisecond {
		t.Errorf("%+v, want two stalls, the longest of 300 ms, 316 ms together", got)
	}
	// A stop of 310 ms that began 10 ms before the beat was due: the probe knows.
	h.beat(int64(300*time.Millisecond), 0)
	h.looks.add(look{h.lateAt - int64(310*time.Millisecond), h.lateAt})
	if got := h.Stalls(); got.Count != 3 || got.Longest != 310*time.Millisecond {
		t.Errorf("%+v, want a stall of 310 ms", got)
	}
	h.Mark()
	if got := h.Stalls(); got.Count != 0 || got.Longest != 0 || got.Total != 0 {
		t.Errorf("after Mark %+v", got)
	}
}

// TestWakes: what waking costs is the mean over the instants of the grid, those in a stop included; short delays are those of any machine.
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

// TestHeartbeatLooks: it looks on the grid of its probe, and what is final moves on.
func TestHeartbeatLooks(t *testing.T) {
	ends := make(chan int64, 1000)
	h := StartHeartbeat(func(upTo int64) { ends <- upTo })
	begin := Now()
	h.Enter()
	var last int64
	for range 3 {
		upTo := <-ends
		if upTo <= last {
			t.Errorf("instants go backwards: %d after %d", upTo, last)
		}
		last = upTo
	}
	if last <= begin {
		t.Errorf("nothing after %d is final", begin)
	}
	h.Stop()
	for i := 1; i < h.looks.n-1; i++ { // the last is that of Stop
		a, b := h.looks.at(i-1), h.looks.at(i)
		if b.ready < a.seen-int64(time.Millisecond) || b.seen < b.ready || (b.ready-a.ready)%int64(probePeriod) != 0 {
			t.Fatalf("look %d %+v after %+v", i, *b, *a)
		}
	}
	if h.looks.n < 3 {
		t.Errorf("%d looks", h.looks.n)
	}
	if u := h.Unseen(begin, begin+1); u < 0 || u > 1 {
		t.Errorf("%d of 1 ns unseen", u)
	}
}
