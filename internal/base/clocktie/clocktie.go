// Package clocktie bounds the difference between this machine's clock and a reference clock on another machine.
//
// Each exchange of a probe proves two limits, whatever the delays of its two directions: it came to the other machine after it was sent, and the
// answer came back after it was written. Limits of several exchanges hold together. A limit loosens with its age, because the clocks may drift apart by
// MaxDrift. The package does no input or output and reads no clock.
package clocktie

import (
	"fmt"
	"sort"
	"sync"
)

const (
	// MaxDrift is the assumed largest drift between two monotonic clocks: 1 ns in this many ns (100 ppm).
	MaxDrift = 10_000
	// neighbours is how many probes on each side of an instant take part in its interval. It limits how long an unnoticed step matters.
	neighbours = 16
	// mostProbes is how many probes are kept: 18 hours at two a second. Then the older half is dropped.
	mostProbes = 1 << 17
	// latest is the largest instant that a probe may hold, ns; sums of two instants cannot overflow.
	latest = 1 << 60
)

// Probe is one exchange. Instants are in ns and between 0 and 2^60.
type Probe struct {
	Sent     int64 // on this machine's clock, not after the probe was written
	Received int64 // on the reference clock, not before the probe came
	Answered int64 // on the reference clock, not after the answer was written
	Arrived  int64 // on this machine's clock, not before the answer came
}

// limits returns the range of the offset that the probe proves: high holds at Sent, and low at Arrived.
func (p Probe) limits() (low, high int64) { return p.Answered - p.Arrived, p.Received - p.Sent }

// check returns an error for a probe that no two clocks can produce.
func (p Probe) check() error {
	for _, at := range [...]int64{p.Sent, p.Received, p.Answered, p.Arrived} {
		if at < 0 || at > latest {
			return fmt.Errorf("the instant %d of a clock probe is outside 0 to 2^60", at)
		}
	}
	if p.Arrived < p.Sent || p.Answered < p.Received {
		return fmt.Errorf("a clock probe arrives %d ns before it was sent, or is answered %d ns before it was received", p.Sent-p.Arrived, p.Received-p.Answered)
	}
	if low, high := p.limits(); low > high+loosened(p.Arrived-p.Sent) {
		return fmt.Errorf("a clock probe took %d ns, of which the other machine claims %d ns", p.Arrived-p.Sent, p.Answered-p.Received)
	}
	return nil
}

// loosened returns by how much a limit of an age loosens, both in ns.
func loosened(age int64) int64 {
	if age < 0 {
		age = -age
	}
	return age/MaxDrift + 1
}

// Interval is a range that holds the offset, ns: the reference clock minus this machine's clock.
type Interval struct{ Low, High int64 }

// Offset returns the middle of the interval, ns.
func (i Interval) Offset() int64 { return i.Low + (i.High-i.Low)/2 }

// Bound returns the largest error of Offset, ns.
func (i Interval) Bound() int64 { return (i.High - i.Low + 1) / 2 }

// hull returns the smallest interval that holds both.
func (i Interval) hull(o Interval) Interval {
	return Interval{Low: min(i.Low, o.Low), High: max(i.High, o.High)}
}

// Stats describes the probes of a tie.
type Stats struct {
	Probes   int   // probes accepted
	Rejected int   // probes that no two clocks can produce, or that came out of order
	Steps    int   // times that a probe contradicted earlier ones: a clock was stepped, or drifted faster than MaxDrift
	Best     int64 // smallest bound of a single probe, ns
}

// probe is an accepted probe.
type probe struct {
	Probe
	segment int // number of contradictions before it
}

// Tie collects probes and bounds the offset at any instant. The zero value is ready. It is safe for concurrent use.
type Tie struct {
	mu     sync.Mutex
	probes []probe // in the order of Arrived
	stats  Stats
}

// Add takes a probe into account. The error says why a probe was rejected.
func (t *Tie) Add(p Probe) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := p.check()
	if n := len(t.probes); err == nil && n > 0 && p.Arrived < t.probes[n-1].Arrived {
		err = fmt.Errorf("a clock probe arrived at %d ns, after one that arrived at %d ns", p.Arrived, t.probes[n-1].Arrived)
	}
	if err != nil {
		t.stats.Rejected++
		return err
	}
	segment := t.stats.Steps
	if t.contradicts(p, segment) {
		segment++
		t.stats.Steps = segment
	}
	if len(t.probes) == mostProbes {
		t.probes = append(t.probes[:0], t.probes[mostProbes/2:]...)
	}
	t.probes = append(t.probes, probe{p, segment})
	low, high := p.limits()
	if bound := (Interval{low, max(low, high)}).Bound(); t.stats.Probes == 0 || bound < t.stats.Best {
		t.stats.Best = bound
	}
	t.stats.Probes++
	return nil
}

// contradicts reports whether a probe and those of a segment before it cannot all be true.
func (t *Tie) contradicts(p Probe, segment int) bool {
	n := len(t.probes)
	if n == 0 {
		return false
	}
	low, high := p.limits()
	return t.interval(p.Sent, n, segment).Low > high || t.interval(p.Arrived, n, segment).High < low
}

// interval intersects the limits of a segment's probes on both sides of a place in the list, at an instant. There must be such a probe next to the place.
func (t *Tie) interval(at int64, place, segment int) Interval {
	first := true
	var all Interval
	for i := max(0, place-neighbours); i < min(len(t.probes), place+neighbours); i++ {
		p := &t.probes[i]
		if p.segment != segment {
			continue
		}
		low, high := p.limits()
		one := Interval{low - loosened(at-p.Arrived), high + loosened(at-p.Sent)}
		if first {
			all, first = one, false
			continue
		}
		all = Interval{max(all.Low, one.Low), min(all.High, one.High)}
	}
	if all.Low > all.High { // a step too small to be noticed at once: neither limit can be trusted more than the other
		all = Interval{all.High, all.Low}
	}
	return all
}

// At returns the interval of the offset at an instant of this machine's clock. ok is false without probes.
func (t *Tie) At(at int64) (i Interval, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.probes)
	if n == 0 {
		return Interval{}, false
	}
	place := sort.Search(n, func(k int) bool { return t.probes[k].Arrived > at })
	before, after := &t.probes[max(0, place-1)], &t.probes[min(n-1, place)]
	i = t.interval(at, place, before.segment)
	if after.segment != before.segment { // the step was somewhere between the two
		i = i.hull(t.interval(at, place, after.segment))
	}
	return i, true
}

// Reference converts an instant of this machine's clock to the reference clock. bound is the largest error, ns. ok is false without probes.
func (t *Tie) Reference(at int64) (reference, bound int64, ok bool) {
	i, ok := t.At(at)
	return at + i.Offset(), i.Bound(), ok
}

// Local converts an instant of the reference clock to this machine's clock. bound is the largest error, ns. ok is false without probes.
func (t *Tie) Local(reference int64) (at, bound int64, ok bool) {
	at = t.lastArrival()
	for range 3 { // the offset changes by at most 1/MaxDrift of the distance, so each round gains four digits
		i, known := t.At(at)
		if !known {
			return 0, 0, false
		}
		at = reference - i.Offset()
	}
	i, _ := t.At(at)
	bound = max(i.High+at-reference, reference-i.Low-at, 0)
	return at, bound + loosened(bound), true
}

func (t *Tie) lastArrival() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.probes); n > 0 {
		return t.probes[n-1].Arrived
	}
	return 0
}

// Stats returns counts of the probes so far.
func (t *Tie) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}
