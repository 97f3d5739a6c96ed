package stats

import "math"

// diminishing is the share of the growth of the load, in logarithms, below which the growth of the output counts as diminishing: a rule of thumb.
const diminishing = 0.75

// Knee returns the first point, by ascending load, whose output grew clearly less than its load since the point before, and so to every later
// point: a single low point before further growth is not a knee. -1 = there is none, or the values are not amounts of a growing load.
func Knee(load, output []float64) int {
	for k := range load {
		if load[k] <= 0 || k > 0 && load[k] <= load[k-1] || !(output[k] > 0) {
			return -1
		}
	}
	for k := 1; k < len(load); k++ {
		little := true
		for to := k; to < len(load); to++ {
			little = little && math.Log(output[to]/output[k-1])/math.Log(load[to]/load[k-1]) < diminishing
		}
		if little {
			return k
		}
	}
	return -1
}
