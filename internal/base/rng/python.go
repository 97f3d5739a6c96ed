package rng

import (
	"math"
	"math/bits"
)

// Python generates the numbers of CPython 3.11's random.Random. Float64 conversions round each product before an addition. Otherwise some machines
// would fuse the two and draw another number.
type Python struct {
	mt       mersenne
	spare    float64 // second value of the last pair of normals
	hasSpare bool    // spare is valid
}

// Float64 returns a uniform number in [0, 1) with 53 bits.
func (p *Python) Float64() float64 {
	a := p.mt.uint32() >> 5
	b := p.mt.uint32() >> 6
	return (float64(float64(a)*(1<<26)) + float64(b)) / (1 << 53)
}

// Bits returns k random bits, 1 ≤ k ≤ 64.
func (p *Python) Bits(k int) uint64 {
	if k <= 32 {
		return uint64(p.mt.uint32() >> (32 - k))
	}
	low := uint64(p.mt.uint32())
	return low | uint64(p.mt.uint32()>>(64-k))<<32
}

// Below returns a uniform integer in [0, n), as randrange(n) does. Python's choice takes the same index in a list of n. n must be positive.
func (p *Python) Below(n int) int {
	if n <= 0 {
		panic("rng: Below needs a positive limit")
	}
	k := bits.Len64(uint64(n))
	r := p.Bits(k)
	for r >= uint64(n) {
		r = p.Bits(k)
	}
	return int(r)
}

// Between returns a uniform integer in [low, high], both included, as randint does.
func (p *Python) Between(low, high int) int { return low + p.Below(high-low+1) }

// Uniform returns a uniform number between low and high.
func (p *Python) Uniform(low, high float64) float64 {
	return low + float64((high-low)*p.Float64())
}

// Index returns an index below n, drawn as by choices (choice draws differently).
func (p *Python) Index(n int) int { return int(math.Floor(p.Float64() * float64(n))) }

// Sample returns k distinct indices below n in the order drawn.
func (p *Python) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("rng: sample larger than population")
	}
	room := 21
	if k > 5 {
		room += 1 << (2 * int(math.Ceil(math.Log(float64(3*k))/math.Log(4))))
	}
	out := make([]int, k)
	if n <= room {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range out {
			j := p.Below(n - i)
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	taken := make(map[int]bool, k)
	for i := range out {
		j := p.Below(n)
		for taken[j] {
			j = p.Below(n)
		}
		taken[j] = true
		out[i] = j
	}
	return out
}

// Shuffle shuffles n items by calling swap, as random.shuffle does. Upstream's samplers use Numpy.Shuffle.
func (p *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, p.Below(i+1))
	}
}

// Gauss returns a normal number. It draws numbers in pairs and stores the second one for the next call, whatever that call's mean and deviation.
func (p *Python) Gauss(mean, deviation float64) float64 {
	z := p.spare
	if p.hasSpare {
		p.hasSpare = false
	} else {
		angle := p.Float64() * (2 * math.Pi)
		radius := math.Sqrt(-2 * math.Log(1-p.Float64()))
		z = math.Cos(angle) * radius
		p.spare = math.Sin(angle) * radius
		p.hasSpare = true
	}
	return mean + float64(z*deviation)
}

// Exponential returns an exponentially distributed number with the given rate (1/mean).
func (p *Python) Exponential(rate float64) float64 {
	return -math.Log(1-p.Float64()) / rate
}

// Gamma returns a gamma-distributed number with mean shape·scale. Both must be positive.
func (p *Python) Gamma(shape, scale float64) float64 {
	switch {
	case shape > 1:
		return p.gammaCheng(shape) * scale
	case shape == 1:
		return -math.Log(1-p.Float64()) * scale
	default:
		return p.gammaAhrensDieter(shape) * scale
	}
}

// gammaCheng is R.C.H. Cheng's rejection method GB (1977), for shapes above 1.
func (p *Python) gammaCheng(shape float64) float64 {
	root := math.Sqrt(float64(2*shape) - 1)
	offset := shape - 2*math.Ln2
	slope := shape + root
	bound := 1 + math.Log(4.5)
	for {
		u := p.Float64()
		if u <= 1e-7 || u >= 0.9999999 {
			continue
		}
		w := 1 - p.Float64()
		v := math.Log(u/(1-u)) / root
		x := shape * math.Exp(v)
		z := u * u * w
		r := offset + float64(slope*v) - x
		if r+bound-float64(4.5*z) >= 0 || r >= math.Log(z) {
			return x
		}
	}
}

// gammaAhrensDieter is the rejection method GS of Ahrens and Dieter (1974), for shapes below 1.
func (p *Python) gammaAhrensDieter(shape float64) float64 {
	b := (math.E + shape) / math.E
	for {
		var x float64
		q := b * p.Float64()
		if q <= 1 {
			x = math.Pow(q, 1/shape)
		} else {
			x = -math.Log((b - q) / shape)
		}
		u := p.Float64()
		if q > 1 && u <= math.Pow(x, shape-1) || q <= 1 && u <= math.Exp(-x) {
			return x
		}
	}
}
