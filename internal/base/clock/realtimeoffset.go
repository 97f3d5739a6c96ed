package clock

import (
	"sync/atomic"
	"time"
)

// maxStep is the largest change, in ns, of the difference between the real-time and the monotonic clock that does not count as a step. Both are
// slewed alike, so the difference changes only when the time is set. The margin covers the noise of reading two clocks.
const maxStep = int64(time.Millisecond)

// RealTimeOffset converts readings of the system's real-time clock (kernel receive stamps) to instants. It measures the offset of the two clocks
// once. It detects a later step of the real-time clock but does not correct for it.
type RealTimeOffset struct {
	offset  int64        // real-time ns minus instant
	stepped atomic.Int64 // largest step seen, ns, signed; 0 = none
}

// NewRealTimeOffset measures the offset now. It takes the best of several readings, so that a pause in the middle of one does no harm.
func NewRealTimeOffset() *RealTimeOffset { return &RealTimeOffset{offset: measure()} }

// Instant converts real-time ns to an instant.
func (t *RealTimeOffset) Instant(wall int64) int64 { return wall - t.offset }

// Real converts an instant to real-time ns.
func (t *RealTimeOffset) Real(at int64) int64 { return at + t.offset }

// Now returns the current instant. ok is false if the offset to the real-time clock has changed since it was measured.
func (t *RealTimeOffset) Now() (at int64, ok bool) {
	now := time.Now()
	at = int64(now.Sub(base)) + 1
	if d := now.UnixNano() - at - t.offset; d > maxStep || d < -maxStep {
		return at, !t.Stepped()
	}
	return at, t.stepped.Load() == 0
}

// Stepped measures again and reports whether the real-time clock was ever stepped since the offset was measured.
func (t *RealTimeOffset) Stepped() bool {
	if t.stepped.Load() != 0 {
		return true
	}
	if d := measure() - t.offset; d > maxStep || d < -maxStep {
		t.stepped.CompareAndSwap(0, d)
		return true
	}
	return false
}

// Step returns the detected step in ns; 0 = none.
func (t *RealTimeOffset) Step() int64 { return t.stepped.Load() }

// measure returns real-time ns minus instant, from the tightest of several bracketed readings.
func measure() int64 {
	var best, offset int64
	for i := range 20 {
		before := Now()
		wall := time.Now().UnixNano()
		after := Now()
		if gap := after - before; i == 0 || gap < best {
			best, offset = gap, wall-(before+gap/2)
		}
	}
	return offset
}
