package weka

import "slices"

// clock shortens the pauses of a trace. If no request of any agent starts for longer than the limit, the rest of the trace moves forward.
type clock struct {
	limit float64 // s
	gaps  []gap
}

// gap is a pause that is too long.
type gap struct{ from, to, removedBefore float64 } // removedBefore: seconds removed before this gap

// newClock returns the clock of a trace whose requests begin at starts. A nil limit shortens nothing.
func newClock(starts []float64, limit *float64) *clock {
	c := &clock{}
	if limit == nil {
		return c
	}
	c.limit = *limit
	slices.Sort(starts)
	taken := 0.0
	for i := 1; i < len(starts); i++ {
		if d := starts[i] - starts[i-1]; d > c.limit {
			c.gaps = append(c.gaps, gap{starts[i-1], starts[i], taken})
			taken += d - c.limit
		}
	}
	return c
}

// at returns the shortened time of an instant, in s. An instant in a removed pause maps to its edge.
func (c *clock) at(t float64) float64 {
	taken := 0.0
	for _, g := range c.gaps {
		switch {
		case t < g.from:
			return t - g.removedBefore
		case t < g.to:
			return min(t, g.from+c.limit) - g.removedBefore
		}
		taken = g.removedBefore + g.to - g.from - c.limit
	}
	return t - taken
}
