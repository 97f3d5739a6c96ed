package comparison

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/measure/metric"
)

// The timestamps of a run may be approximate. Then its summary has limits for each statistic (validity.bounds). A statistic whose limits are far
// apart is not judged; other statistics of the same run are. Close limits widen the interval of their statistic.

// statOf returns the statistic's key in summaries.
func (s *statistic) statOf() metric.Stat {
	if stat, ok := metric.StatByName(s.stat); ok {
		return stat
	}
	return metric.Avg // mean
}

// stretch returns the lower and the upper limit of a statistic as factors of its value; 1 and 1 if it is exact. The factors are those of the whole
// run, even if its start is skipped.
func (s *statistic) stretch(r *Run) (low, high float64) {
	stated := r.Stated[s.tag][s.statOf()]
	if !(stated > 0) {
		return 1, 1
	}
	of := r.Bounds.Of(s.tag, s.statOf(), stated)
	return min(1, max(minRemainder, of.Low/stated)), max(1, of.High/stated)
}

// doubt returns why a statistic of a run is too inexact to be judged; "" if it is not.
func (s *statistic) doubt(r *Run) string {
	stat := s.statOf()
	stated, ok := r.Stated[s.tag][stat]
	if !ok || r.Bounds.Certain(s.tag, stat, stated) {
		return ""
	}
	of := r.Bounds.Of(s.tag, stat, stated)
	high := fmt.Sprintf("%.4g %s", of.High, s.unit)
	if math.IsInf(of.High, 1) {
		high = "any value"
	}
	return fmt.Sprintf("%s: %s %s is known only as %.4g to %s", r.Path, strings.ReplaceAll(s.tag, "_", " "), s.stat, of.Low, high)
}

// widen extends the interval of a statistic by the limits of its value.
func (s *statistic) widen(e *Estimate, r *Run) {
	low, high := s.stretch(r)
	if low == 1 && high == 1 {
		return
	}
	plain := e.limits
	e.limits = func(level float64) (float64, float64) {
		l, h := plain(level)
		return l * low, h * high
	}
}

// ends returns the lowest and the highest possible values of a side, given the limits of its statistics and the disturbance of its machine.
func (s *statistic) ends(side []Run, values []float64) (least, most []float64) {
	least, most = make([]float64, len(values)), make([]float64, len(values))
	for i, v := range values {
		low, high := s.stretch(&side[i])
		calmest := s.undisturbedValue(&side[i], v)
		least[i], most[i] = min(v, calmest)*low, max(v, calmest)*high
	}
	return least, most
}
