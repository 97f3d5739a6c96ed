package rng

import "math/bits"

// Legacy draws as numpy's RandomState does (MT19937), which SGLang's benchmark takes its lengths from.
type Legacy struct{ mt mersenne }

// Legacy returns the generator of RandomState(root seed). Its seed has 32 bits: of a wider one the low two words are folded into one, as the
// Python tool does.
func (r *Root) Legacy() *Legacy {
	var seed uint32
	for _, word := range words(r.digits)[:min(2, len(words(r.digits)))] {
		seed ^= word
	}
	l := &Legacy{}
	l.mt.fill(seed)
	return l
}

// Integers returns a uniform integer in [low, high), as randint(low, high) does. high must exceed low.
func (l *Legacy) Integers(low, high int) int {
	if high <= low {
		panic("rng: Integers needs low < high")
	}
	limit := uint64(high) - uint64(low) - 1
	if limit == 0 {
		return low
	}
	mask := uint64(1)<<bits.Len64(limit) - 1
	for {
		v := uint64(l.mt.uint32())
		if limit > 1<<32-1 {
			v = v<<32 | uint64(l.mt.uint32())
		}
		if v &= mask; v <= limit {
			return low + int(v)
		}
	}
}

// Clone returns a generator that goes on from the same place.
func (l *Legacy) Clone() *Legacy {
	copied := *l
	return &copied
}
