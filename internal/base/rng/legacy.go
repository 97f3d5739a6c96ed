package rng

import "math/bits"

// Legacy generates the numbers of numpy's RandomState (MT19937), from which SGLang's benchmark draws its lengths.
type Legacy struct{ mt mersenne }

// Legacy returns the generator of RandomState(root seed). RandomState takes a seed of 32 bits: the low two words of a wider seed are folded into one,
// as in the Python tool.
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

// Clone returns a copy of the generator in its current state.
func (l *Legacy) Clone() *Legacy {
	copied := *l
	return &copied
}
