package association

import (
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/stats"
)

// mostShifts bounds the number of shifts, and is the number of random orders, that are tried.
const mostShifts = 1024

// fewestBlocks is the smallest number of blocks of the run for which random orders are tried.
const fewestBlocks = 10

// chanceOf returns the p-value of the hypothesis that slowness and a fact have nothing to do with each other. u are the centred ranks of the fact. Dependence
// between neighbours makes the usual tests far too ready to see something; this one is checked by simulation in the tests of this package.
//
// If batch means show that one of the two series has forgotten its past after a twentieth or a tenth of the run, its blocks of this size may be put in any
// order. The sums of random orders then show what chance does. The blocks have random lengths: a fact that alternates between requests, like the
// server of a round robin, would otherwise keep its beat. If both remember longer, the slow requests are moved around the run as on a ring.
func chanceOf(slow []bool, u []float64) float64 {
	var at []int
	is := make([]float64, len(slow))
	for i, yes := range slow {
		if yes {
			at = append(at, i)
			is[i] = 1
		}
	}
	_, k := comparison.BatchError(u)
	_, ofSlow := comparison.BatchError(is)
	if k = max(k, ofSlow); k >= fewestBlocks {
		return orderTest(at, u, k)
	}
	return shiftTest(at, u)
}

// orderTest compares the sum of u over the slow requests with the sums for random orders of blocks.
func orderTest(at []int, u []float64, blocks int) float64 {
	n := len(u)
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(at))))
	observed := 0.0
	for _, i := range at {
		observed += u[i]
	}
	sums := make([]float64, mostShifts)
	edges, to, order := make([]int, blocks+1), make([]int, blocks), make([]int, blocks)
	for j := range sums {
		for b := 1; b < blocks; b++ {
			edges[b] = r.IntN(n)
		}
		edges[blocks] = n
		slices.Sort(edges)
		for b := range order {
			order[b] = b
		}
		r.Shuffle(blocks, func(a, b int) { order[a], order[b] = order[b], order[a] })
		position := r.IntN(n) // the ring is turned as well
		for _, b := range order {
			to[b] = position - edges[b]
			position += edges[b+1] - edges[b]
		}
		b := 0
		for _, i := range at {
			for i >= edges[b+1] {
				b++
			}
			sums[j] += u[(i+to[b])%n]
		}
	}
	return tail(observed, sums, math.Inf(1))
}

// shiftTest compares the sum of u over the slow requests with the sums for all shifts around the ring, which keeps how both are bunched.
func shiftTest(at []int, u []float64) float64 {
	n := len(u)
	sums := make([]float64, min(n, mostShifts))
	for j := range sums {
		by := j * n / len(sums)
		for _, i := range at {
			if i += by; i >= n {
				i -= n
			}
			sums[j] += u[i]
		}
	}
	others := apart(sums)
	return tail(sums[0], others, effectiveShifts(others))
}

// Limits of the shifts that are excluded around the one that is tested.
const (
	alike   = 0.2     // correlation from which the sum of a shift says the same as that of its neighbour
	mostOut = 1. / 12 // share of the run on each side
)

// apart returns the sums of the shifts that are not close to the observed one, which is the first. A true association shows at the neighbours as well: they
// would make chance look stronger than it is.
func apart(sums []float64) []float64 {
	n, square := len(sums), 0.0
	for _, v := range sums {
		square += v * v
	}
	width := 0
	for width < int(mostOut*float64(n)) {
		width++
		c := 0.0
		for j := range sums {
			c += sums[j] * sums[(j+width)%n]
		}
		if c < alike*square {
			break
		}
	}
	return sums[width : n-width+1]
}

// tail returns the two-sided p-value of an observed sum, whose mean by chance is 0, among other sums. It is the largest of three: the share of the sums
// that are at least as extreme; the tail of a Pearson type III distribution with their deviation and skewness (Mielke and Berry 2001), which reaches
// beyond their number; and Student's with the degrees of freedom of their deviation, because neighbouring shifts say nearly the same.
func tail(observed float64, all []float64, freedom float64) float64 {
	n := float64(len(all))
	variance, cube := 0.0, 0.0
	for _, d := range all {
		variance += d * d
		cube += d * d * d
	}
	variance /= n
	if !(variance > 0) {
		return 1
	}
	deviation := math.Sqrt(variance)
	z, skew := observed/deviation, cube/n/(variance*deviation)
	if z < 0 {
		z, skew = -z, -skew
	}
	extreme := 0
	for _, d := range all {
		if math.Abs(d) > math.Abs(observed)*(1+1e-12) {
			extreme++
		}
	}
	p := max(float64(extreme)/n, 2*pearsonTail(z, skew))
	if !math.IsInf(freedom, 1) {
		p = max(p, 2*stats.StudentCDF(-z, freedom))
	}
	return min(1, p)
}

// pearsonTail returns the chance of more than z deviations above the mean, for a Pearson type III distribution with this skewness.
func pearsonTail(z, skew float64) float64 {
	if math.Abs(skew) < 1e-2 {
		return stats.NormalCDF(-z)
	}
	shape := 4 / (skew * skew)
	x := shape + z*math.Sqrt(shape)*math.Copysign(1, skew)
	if x <= 0 { // beyond the end of the distribution
		return 0
	}
	if skew > 0 {
		return stats.GammaTail(shape, x)
	}
	return 1 - stats.GammaTail(shape, x)
}

// effectiveShifts returns the degrees of freedom of the variance of the shifts: their number divided by the sum of their squared autocorrelations
// (Bayley and Hammersley 1946).
func effectiveShifts(all []float64) float64 {
	n, sum, variance := len(all), 0.0, 0.0
	for _, d := range all {
		variance += d * d / float64(n)
	}
	if !(variance > 0) {
		return 1
	}
	for lag := 1; lag <= n/2; lag++ {
		c := 0.0
		for j := range n - lag {
			c += all[j] * all[j+lag]
		}
		c /= float64(n-lag) * variance
		sum += c * c * (1 - float64(lag)/float64(n))
	}
	return max(1, float64(n)/(1+2*sum)-1)
}
