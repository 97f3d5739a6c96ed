package stats

import "math"

// diminishing is the share of the growth of the load, in logarithms, below which the growth of the output counts as diminishing: a rule of thumb.
const diminishing = 0.75

// Knee returns the first point, by ascending load, whose output grew clearly less than its load since the point before; -1 = there is none, or the
// values are not amounts of a growing load.
func Knee(load, output []float64) int {
	for k := 1; k < len(load); k++ {
		if load[k-1] <= 0 || load[k] <= load[k-1] || !(output[k-1] > 0) || !(output[k] > 0) {
			return -1
		}
		if math.Log(output[k]/output[k-1])/math.Log(load[k]/load[k-1]) < diminishing {
			return k
		}
	}
	return -1
}
