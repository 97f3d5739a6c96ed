package rng

import "math"

// maxRedraws is the maximum number of draws to get a normal number that is not negative.
const maxRedraws = 10000

// PositiveInt draws a count ≥ 1 from a normal distribution: the ceiling of a draw that is not negative. If deviation ≤ 0, it draws nothing and
// returns the mean, rounded half to even. A negative mean is the caller's error and counts as 0.
func (p *Python) PositiveInt(mean, deviation float64) int {
	if deviation <= 0 {
		return max(1, int(math.RoundToEven(mean)))
	}
	return max(1, int(math.Ceil(p.NonNegative(mean, deviation))))
}

// NonNegative draws from a normal distribution until the number is not negative. After 10,000 draws it returns the mean, or 0 if the mean is
// negative.
func (p *Python) NonNegative(mean, deviation float64) float64 {
	for range maxRedraws {
		if x := p.Gauss(mean, deviation); x >= 0 {
			return x
		}
	}
	return max(0, mean)
}
