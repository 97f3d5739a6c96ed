package clock

import (
	"testing"
	"time"
)

// TestUnseen: bytes can have waited unseen only as long as every moment before the read was a blind one.
func TestUnseen(t *testing.T) {
	const ms = int64(time.Millisecond)
	var l blindLog
	for i := range int64(10) { // ticks of 20 ms: 0..200
		l.add(blindTick{from: i * 20 * ms, to: (i + 1) * 20 * ms, blind: ms / 10})
	}
	l.ring[5].blind = 70 * ms // a wait of 70 ms that ended between 100 and 120
	l.ring[8].blind = 20 * ms // 160..180 is blind from end to end
	for _, c := range []struct {
		name           string
		from, to, want int64 // in tenths of a ms
	}{
		{"a calm tick", 0, 350, 1},
		{"no longer than the window", 1190, 1191, 1},
		{"right after the wait", 0, 1190, 703}, // 70 ms of its own tick, a tenth of each calm one that they reach
		{"the window begins inside the wait", 800, 1190, 390},
		{"a tick later nothing of it is left", 0, 1390, 1},
		{"back through a tick that is blind from end to end", 0, 1800, 201},
		{"an empty window", 1000, 1000, 0},
	} {
		got := l.unseen(c.from*ms/10, c.to*ms/10, c.to*ms/10)
		if d := got - c.want*ms/10; d < -ms/2 || d > ms/2 {
			t.Errorf("%s: %v, want %v", c.name, time.Duration(got), time.Duration(c.want*ms/10))
		}
	}
}

// TestUnseenBeforeALaterRead: the stamp of a read is that of its last byte, and the read may come long after it.
func TestUnseenBeforeALaterRead(t *testing.T) {
	const ms = int64(time.Millisecond)
	var l blindLog
	for i := range int64(10) {
		l.add(blindTick{from: i * 20 * ms, to: (i + 1) * 20 * ms})
	}
	l.ring[5].blind = 50 * ms // ended between 100 and 120: it began at 50 at the earliest
	for _, c := range []struct{ at, read, want int64 }{
		{70, 110, 20}, // a byte stamped at 70 and read in the tick of the wait: others of the read may be from 50 on
		{70, 75, 0},   // read before the wait ended: then it had not begun
		{40, 110, 0},  // stamped before the wait could begin
		{110, 115, 50},
		{130, 135, 0},
	} {
		if got := l.unseen(0, c.at*ms, c.read*ms); got != c.want*ms {
			t.Errorf("stamped at %d, read at %d: %v unseen, want %d ms", c.at, c.read, time.Duration(got), c.want)
		}
	}
}

// TestUnseenBeyondTheLog: a window that began before the log is unseen if the log is blind throughout, and not otherwise.
func TestUnseenBeyondTheLog(t *testing.T) {
	var blind, calm blindLog
	for i := range int64(2 * blindTicks) {
		blind.add(blindTick{from: i * 10, to: (i + 1) * 10, blind: 10})
		calm.add(blindTick{from: i * 10, to: (i + 1) * 10})
	}
	end := int64(2 * blindTicks * 10)
	if got := blind.unseen(5, end, end); got != end-5 {
		t.Errorf("blind throughout: %d of %d", got, end-5)
	}
	if got := calm.unseen(5, end, end); got != 0 {
		t.Errorf("never blind: %d", got)
	}
}

func TestBeats(t *testing.T) {
	var ended []int64
	h := &Heartbeat{next: beatsPerTick, onEnd: func(upTo int64) { ended = append(ended, upTo) }}
	h.tick.from = Now()
	h.beat(int64(100*time.Microsecond), false)
	if len(ended) != 0 {
		t.Error("a tick ended after one beat")
	}
	h.beat(int64(300*time.Millisecond), false)
	h.beat(int64(6*time.Millisecond), false)
	h.beat(int64(4*time.Millisecond), false)
	got := h.Stalls()
	if got.Count != 2 || got.Longest != 300*time.Millisecond || got.Total != 306*time.Millisecond {
		t.Errorf("%+v, want two stalls, the longest of 300 ms, 306 ms together", got)
	}
	if len(ended) != 2 {
		t.Errorf("%d ticks ended; a stall ends one at once", len(ended))
	}
	if got := h.Unseen(ended[0]-int64(time.Second), ended[0], ended[0]); got < int64(300*time.Millisecond) || got > int64(310*time.Millisecond) {
		t.Errorf("right after a stall of 300 ms %v are unseen", time.Duration(got))
	}
	h.Mark()
	if got := h.Stalls(); got.Count != 0 || got.Longest != 0 || got.Total != 0 {
		t.Errorf("after Mark %+v", got)
	}
}

// TestHeartbeatLooks: it beats on its own thread, and what is final moves on.
func TestHeartbeatLooks(t *testing.T) {
	ends := make(chan int64, 1000)
	h := StartHeartbeat(func(upTo int64) { ends <- upTo })
	begin := Now()
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
	if u := h.Unseen(begin, begin+1, begin+1); u < 0 || u > 1 {
		t.Errorf("%d of 1 ns unseen", u)
	}
}
