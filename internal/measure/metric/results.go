package metric

import (
	"math"

	"aiperf/internal/measure/stats"
)

// summary converts the totals to results, in the order of the exports.
func (t *totals) summary(curves map[string]stats.TimeWeighted) *Summary {
	s := &Summary{Valid: t.nValid, Failed: t.nFailed, byTag: map[string]int{}}
	for i := range table {
		m := &table[i]
		if !t.set.use[i] || t.slice && m.Flags&WholeRun != 0 {
			continue
		}
		values, ok := t.result(i, m, curves)
		if !ok {
			continue
		}
		s.byTag[m.Tag] = len(s.Results)
		s.Results = append(s.Results, Result{m, values})
	}
	return s
}

// result returns the statistics of one metric; false if it has no value.
func (t *totals) result(i int, m *Metric, curves map[string]stats.TimeWeighted) ([Stats]float64, bool) {
	switch m.Kind {
	case Record:
		return distribution(&t.dist[i], m.Factor()), t.dist[i].Count > 0
	case Sweep:
		c, ok := curves[m.Tag]
		return weighted(c), ok
	case Adjustment:
		if a := t.adjusted[index[m.base]]; a != nil {
			return *a, true
		}
		return noStats(), false
	}
	values := noStats()
	values[Avg] = t.get(m.Tag) / m.Factor()
	return values, !math.IsNaN(values[Avg]) && !math.IsInf(values[Avg], 0)
}

// distribution converts a distribution to display units.
func distribution(d *stats.Distribution, factor float64) [Stats]float64 {
	v := noStats()
	v[Avg], v[Min], v[Max], v[Std], v[Sum] = d.Avg/factor, d.Min/factor, d.Max/factor, d.Std/factor, d.Sum/factor
	for k, p := range d.P {
		v[P1+Stat(k)] = p / factor
	}
	v[Count] = float64(d.Count)
	return v
}

func weighted(w stats.TimeWeighted) [Stats]float64 {
	v := noStats()
	v[Avg], v[Min], v[Max], v[Std] = w.Avg, w.Min, w.Max, w.Std
	v[P50], v[P90], v[P95], v[P99] = w.P50, w.P90, w.P95, w.P99
	return v
}

// adjust returns the finite statistics of ascending values with one infinite value per failure, by nearest rank.
func adjust(sorted []float64, failed int64, factor float64) *[Stats]float64 {
	if len(sorted) == 0 {
		return nil
	}
	n := len(sorted) + int(failed)
	v := noStats()
	for k, level := range stats.Levels {
		if at := int(math.RoundToEven(level / 100 * float64(n-1))); at < len(sorted) {
			v[P1+Stat(k)] = sorted[at] / factor
		}
	}
	v[Min] = sorted[0] / factor
	v[Count] = float64(n)
	return &v
}
