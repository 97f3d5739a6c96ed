package clock

import (
	"sync/atomic"
	"time"
)

// maxStep is how far, in ns, the real-time clock may move against the monotonic one before it counts as stepped. Both are slewed
// alike, so they part only when somebody sets the time; what is allowed covers the noise of reading two clocks.
const maxStep = int64(time.Millisecond)

// Tie converts readings of the system's real-time clock (kernel receive stamps) to instants. The two clocks are tied once; a later
// step of the real-time clock is noticed, never followed.
type Tie struct {
	offset  int64        // real-time ns minus instant
	stepped atomic.Int64 // largest step seen, ns, signed; 0 = none
}

// NewTie ties the clocks now. It takes the best of several readings, so that losing the processor in the middle of one does no harm.
func NewTie() *Tie { return &Tie{offset: measure()} }

// Instant converts real-time ns to an instant.
func (t *Tie) Instant(wall int64) int64 { return wall - t.offset }

// Real converts an instant to real-time ns.
func (t *Tie) Real(at int64) int64 { return at + t.offset }

// Now reads both clocks: the current instant, and whether the real-time clock still runs beside it as it did when they were tied.
func (t *Tie) Now() (at int64, ok bool) {
	now := time.Now()
	at = int64(now.Sub(base)) + 1
	if d := now.UnixNano() - at - t.offset; d > maxStep || d < -maxStep {
		return at, !t.Stepped()
	}
	return at, t.stepped.Load() == 0
}

// Stepped measures again and tells whether the real-time clock was set since the clocks were tied. Once stepped, always stepped.
func (t *Tie) Stepped() bool {
	if t.stepped.Load() != 0 {
		return true
	}
	if d := measure() - t.offset; d > maxStep || d < -maxStep {
		t.stepped.CompareAndSwap(0, d)
		return true
	}
	return false
}

// Step is the step that was noticed, in ns; 0 = none.
func (t *Tie) Step() int64 { return t.stepped.Load() }

// measure gives real-time ns minus instant, from the tightest of a few bracketed readings.
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
