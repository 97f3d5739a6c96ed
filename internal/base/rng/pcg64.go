package rng

import "math/bits"

// pcg64 is O'Neill's PCG XSL-RR 128/64. Like numpy, it returns 32 bits from the low half of a word and stores the high half for the next call.
type pcg64 struct {
	hi, lo       uint64 // state
	incHi, incLo uint64 // stream, odd
	spare        uint32
	hasSpare     bool // spare is valid
}

const (
	pcgMulHi = 2549297995355413924
	pcgMulLo = 4865540595714422341
)

func newPCG64(entropy ...uint32) pcg64 {
	words := seedSequence(entropy)
	var g pcg64
	g.incHi = words[2]<<1 | words[3]>>63
	g.incLo = words[3]<<1 | 1
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, words[1], 0)
	g.hi, _ = bits.Add64(g.hi, words[0], carry)
	g.step()
	return g
}

func (g *pcg64) step() {
	hi, lo := mul128(g.hi, g.lo, pcgMulHi, pcgMulLo)
	g.hi, g.lo = add128(hi, lo, g.incHi, g.incLo)
}

// advance skips a number of steps at once (F. Brown, Random number generation with arbitrary strides, 1994). It squares the step x -> ax + c once for
// every bit of the number.
func (g *pcg64) advance(steps uint64) {
	mulHi, mulLo := uint64(pcgMulHi), uint64(pcgMulLo)
	addHi, addLo := g.incHi, g.incLo
	for ; steps > 0; steps >>= 1 {
		if steps&1 == 1 {
			g.hi, g.lo = mul128(g.hi, g.lo, mulHi, mulLo)
			g.hi, g.lo = add128(g.hi, g.lo, addHi, addLo)
		}
		hi, lo := add128(mulHi, mulLo, 0, 1)
		addHi, addLo = mul128(addHi, addLo, hi, lo)
		mulHi, mulLo = mul128(mulHi, mulLo, mulHi, mulLo)
	}
}

func mul128(aHi, aLo, bHi, bLo uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(aLo, bLo)
	return hi + aHi*bLo + aLo*bHi, lo
}

func add128(aHi, aLo, bHi, bLo uint64) (hi, lo uint64) {
	lo, carry := bits.Add64(aLo, bLo, 0)
	hi, _ = bits.Add64(aHi, bHi, carry)
	return hi, lo
}

func (g *pcg64) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

func (g *pcg64) uint32() uint32 {
	if g.hasSpare {
		g.hasSpare = false
		return g.spare
	}
	w := g.uint64()
	g.spare, g.hasSpare = uint32(w>>32), true
	return uint32(w)
}

// seedSequence spreads a seed over four 64-bit words as numpy's SeedSequence does: it hashes and mixes a pool of four words, and then mixes in any
// further words. The seed is given as 32-bit words, least significant first.
func seedSequence(entropy []uint32) [4]uint64 {
	const poolSize = 4
	hash := uint32(0x43b0d7e5)
	hashWord := func(v uint32) uint32 {
		v ^= hash
		hash *= 0x931e8875
		v *= hash
		return v ^ v>>16
	}
	mix := func(x, y uint32) uint32 {
		r := x*0xca01f9dd - y*0x4973f715
		return r ^ r>>16
	}
	var pool [poolSize]uint32
	rest := entropy[copy(pool[:], entropy):]
	for i := range pool {
		pool[i] = hashWord(pool[i])
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				pool[to] = mix(pool[to], hashWord(pool[from]))
			}
		}
	}
	for _, word := range rest {
		for to := range pool {
			pool[to] = mix(pool[to], hashWord(word))
		}
	}
	hash = 0x8b51f9dd
	var words [8]uint32
	for i := range words {
		v := pool[i%poolSize] ^ hash
		hash *= 0x58f38ded
		v *= hash
		words[i] = v ^ v>>16
	}
	var out [4]uint64
	for i := range out {
		out[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return out
}
