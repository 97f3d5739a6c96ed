package rng

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// Numpy generates the numbers of numpy's default Generator (PCG64 seeded through a SeedSequence).
type Numpy struct{ pcg pcg64 }

// NewNumpy returns the generator of default_rng(seed).
func NewNumpy(seed uint64) *Numpy { return &Numpy{pcg: newPCG64(uint32(seed), uint32(seed>>32))} }

// Numpy returns the generator of default_rng(root seed). It uses the seed itself, of any size, not a derived one.
func (r *Root) Numpy() *Numpy { return &Numpy{pcg: newPCG64(words(r.digits)...)} }

// words splits a seed in decimal digits into 32-bit words, least significant first.
func words(digits string) []uint32 {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic("rng: seed " + digits)
	}
	var out []uint32
	for word := big.NewInt(1<<32 - 1); n.Sign() > 0; n.Rsh(n, 32) {
		out = append(out, uint32(new(big.Int).And(n, word).Uint64()))
	}
	return out
}

// Clone returns a copy of the generator in its current state.
func (n *Numpy) Clone() *Numpy {
	copied := *n
	return &copied
}

// Uint64 returns the next 64-bit output.
func (n *Numpy) Uint64() uint64 { return n.pcg.uint64() }

// Float64 returns a uniform number in [0, 1) with 53 bits.
func (n *Numpy) Float64() float64 { return float64(n.pcg.uint64()>>11) / (1 << 53) }

// Integers returns a uniform integer in [low, high), as integers(low, high) with 64-bit integers does. high must exceed low.
func (n *Numpy) Integers(low, high int) int {
	if high <= low {
		panic("rng: Integers needs low < high")
	}
	return low + int(n.upTo(uint64(high)-uint64(low)-1))
}

// Fill fills dst with uniform bytes, as integers(0, 256, dtype=uint8) does: four bytes of every 32-bit word, the lowest first. Unused bytes of the
// last word are lost, so n bytes always take Words(n) words.
func (n *Numpy) Fill(dst []byte) {
	for len(dst) >= 8 && !n.pcg.hasSpare {
		binary.LittleEndian.PutUint64(dst, n.pcg.uint64())
		dst = dst[8:]
	}
	for len(dst) > 0 {
		var word [4]byte
		binary.LittleEndian.PutUint32(word[:], n.pcg.uint32())
		dst = dst[copy(dst, word[:]):]
	}
}

// Words returns the number of 32-bit words that Fill takes for a number of bytes.
func Words(bytes int) uint64 { return (uint64(bytes) + 3) / 4 }

// Skip skips a number of 32-bit words, in a time that hardly depends on the number. Work on one stream can therefore begin anywhere in it.
func (n *Numpy) Skip(words uint64) {
	if words > 0 && n.pcg.hasSpare {
		n.pcg.hasSpare = false
		words--
	}
	n.pcg.advance(words / 2)
	if words%2 == 1 {
		n.pcg.uint32()
	}
}

// Shuffle shuffles count items by calling swap.
func (n *Numpy) Shuffle(count int, swap func(i, j int)) {
	for i := count - 1; i > 0; i-- {
		swap(i, int(n.masked(uint64(i))))
	}
}

// masked returns a uniform integer in [0, limit]: it draws as many bits as limit has until the number fits. shuffle uses this method.
func (n *Numpy) masked(limit uint64) uint64 {
	mask := uint64(1)<<bits.Len64(limit) - 1
	for {
		var v uint64
		if limit <= 1<<32-1 {
			v = uint64(n.pcg.uint32()) & mask
		} else {
			v = n.pcg.uint64() & mask
		}
		if v <= limit {
			return v
		}
	}
}

// upTo returns a uniform integer in [0, limit] by Lemire's method, with 32 bits if the limit fits.
func (n *Numpy) upTo(limit uint64) uint64 {
	switch {
	case limit == 0:
		return 0
	case limit == 1<<32-1:
		return uint64(n.pcg.uint32())
	case limit == 1<<64-1:
		return n.pcg.uint64()
	case limit < 1<<32-1:
		size := uint32(limit) + 1
		threshold := -size % size
		for {
			m := uint64(n.pcg.uint32()) * uint64(size)
			if uint32(m) >= threshold {
				return m >> 32
			}
		}
	}
	size := limit + 1
	threshold := -size % size
	for {
		hi, lo := bits.Mul64(n.pcg.uint64(), size)
		if lo >= threshold {
			return hi
		}
	}
}
