package termdraw

import "aiperf/internal/measure/stats"

// Of returns the distribution of a sketch for drawing.
func Of(name, unit string, s *stats.Sketch) Distribution {
	p := s.Percentiles(50, 90, 99)
	d := Distribution{Name: name, Unit: unit, Min: s.Min, Max: s.Max, P50: p[0], P90: p[1], P99: p[2]}
	s.Each(func(v float64, n int64) bool {
		d.Bins = append(d.Bins, Count{Value: v, N: n})
		return true
	})
	return d
}
