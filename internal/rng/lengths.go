package rng

import "math"

// maxRedraws bounds the search for a normal number that is not negative.
const maxRedraws = 10000

// PositiveInt draws a count ≥ 1 from a normal distribution: without a deviation the mean rounded half to even, else the ceiling of a draw that
// is not negative. It draws nothing when deviation ≤ 0. A negative mean is the caller's error and counts as 0.
func (p *Python) PositiveInt(mean, deviation float64) int {
	if deviation <= 0 {
		return max(1, int(math.RoundToEven(mean)))
	}
	return max(1, int(math.Ceil(p.NonNegative(mean, deviation))))
}

// NonNegative draws from a normal distribution again until the number is not negative, at most 10,000 times; then it is the mean, at least 0.
func (p *Python) NonNegative(mean, deviation float64) float64 {
	for range maxRedraws {
		if x := p.Gauss(mean, deviation); x >= 0 {
			return x
		}
	}
	return max(0, mean)
}
