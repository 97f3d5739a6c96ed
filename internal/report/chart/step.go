package chart

import "math"

// RoundStep returns the smallest of 1, 2 and 5 times a power of ten that is at least v: the distance between two ticks. v is above 0.
func RoundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= v {
			return k * power
		}
	}
	return 10 * power
}
