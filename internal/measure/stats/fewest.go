package stats

// Numbers of values from which a percentile describes more than the largest value.
const (
	FewestForP90 = 10
	FewestForP99 = 100
)
