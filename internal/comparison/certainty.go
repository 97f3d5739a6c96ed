package comparison

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/metric"
)

// The instants of a run may be known only approximately. Then its summary has limits for every statistic (validity.bounds). A statistic whose limits are
// far apart is not judged; others, of the same run, are. Limits that are close widen the interval of their statistic.

// statOf is a statistic as summaries call it.
func (s *statistic) statOf() metric.Stat {
	if stat, ok := metric.StatByName(s.stat); ok {
		return stat
	}
	return metric.Avg // mean
}

// stretch is by which factors the lower and the upper limit of a statistic differ from its value; 1 and 1: it is exact. The factors are those of the whole
// run, also where its start is left out.
func (s *statistic) stretch(r *Run) (low, high float64) {
	stated := r.Stated[s.tag][s.statOf()]
	if !(stated > 0) {
		return 1, 1
	}
	of := r.Bounds.Of(s.tag, s.statOf(), stated)
	return min(1, max(leastLeft, of.Low/stated)), max(1, of.High/stated)
}

// doubt says that a statistic of a run is known too roughly to be judged; "": it is not.
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

// widen takes the limits of a statistic into its interval.
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

// ends are the values of a side at the lower and at the upper end of what they may be, because of their limits and of their machine.
func (s *statistic) ends(side []Run, values []float64) (least, most []float64) {
	least, most = make([]float64, len(values)), make([]float64, len(values))
	for i, v := range values {
		low, high := s.stretch(&side[i])
		calmest := s.calmest(&side[i], v)
		least[i], most[i] = min(v, calmest)*low, max(v, calmest)*high
	}
	return least, most
}
