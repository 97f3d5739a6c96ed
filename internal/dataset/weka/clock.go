package weka

import "slices"

// clock shortens the pauses of a trace: where no request of any of its agents begins for longer than the limit, what follows moves forward.
type clock struct {
	limit float64 // s
	gaps  []gap
}

// gap is a pause that is too long.
type gap struct{ from, to, before float64 } // before: s that were taken out before it

// newClock makes the clock of a trace whose requests begin at starts; limit nil = nothing is shortened.
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

// at is the place of an instant, s. One inside of what was taken out falls on its edge.
func (c *clock) at(t float64) float64 {
	taken := 0.0
	for _, g := range c.gaps {
		switch {
		case t < g.from:
			return t - g.before
		case t < g.to:
			return min(t, g.from+c.limit) - g.before
		}
		taken = g.before + g.to - g.from - c.limit
	}
	return t - taken
}
