package plan

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/series/gate"
)

// clientLimited is the doubt about a cell whose client could not send its load.
const clientLimited = string(metric.VerdictClientLimited)

// judgeConditions returns the result of a cell for conditions. A condition is certain if it has the same outcome at both ends of its metric's range. One
// certain violation decides alone; otherwise all must certainly hold.
func judgeConditions(swept *metric.SweepCell, list []metric.Condition) verdict {
	v := verdict{margin: margin(swept, list)}
	for _, r := range swept.Runs {
		if r.Validity == nil {
			continue
		}
		switch r.Validity.ClientDoubt() {
		case metric.ClientWasLimit:
			v.doubt = clientLimited
			return v
		case metric.ClientMayBeLimit:
			v.doubt = metric.ClientMayBeLimit
			return v
		}
	}
	for k := range list {
		c := &list[k]
		r := rangeOf(swept, c.Tag, c.Stat)
		switch low, high := c.Holds(r.Low), c.Holds(r.High); {
		case !low && !high:
			v.doubt, v.breach = "", c
			return v
		case low != high && v.doubt == "":
			v.doubt = unsure(c.Tag, c.Stat, r) + fmt.Sprintf(", around its limit of %g", c.Limit)
		}
	}
	v.feasible = len(swept.Runs) > 0 && v.doubt == ""
	return v
}

// rangeOf returns the range of the mean of a statistic over the runs of a cell that have it; {NaN, NaN}: none has. Both ends are computed as SweepCell
// computes the mean, so a mean of exact figures is its own range.
func rangeOf(swept *metric.SweepCell, tag string, stat metric.Stat) metric.Range {
	var low, high []float64
	for _, run := range swept.Runs {
		if r := gate.RangeOf(run, tag, stat); !math.IsNaN(r.Low) {
			low, high = append(low, r.Low), append(high, r.High)
		}
	}
	mean := metric.Range{Low: stats.Mean(low), High: math.Inf(1)}
	if !slices.Contains(high, math.Inf(1)) {
		mean.High = stats.Mean(high)
	}
	return mean
}

// objectiveDoubt says why the objective of a cell is not known well enough to compare it with other cells; "" = it is, or the search does not use it.
func (q *search) objectiveDoubt(swept *metric.SweepCell, feasible bool) string {
	s := q.run.Sweep
	if seeksBoundary(s) || !feasible && s.ConstraintMode != "eic" {
		return ""
	}
	tag := s.Objectives[0].Metric
	r := rangeOf(swept, tag, q.objective)
	if b := (metric.Bounds{tag: {q.objective: r}}); math.IsNaN(r.Low) || b.Certain(tag, q.objective, swept.Mean(tag, q.objective)) {
		return ""
	}
	return unsure(tag, q.objective, r)
}

// unsure describes the range of a statistic.
func unsure(tag string, stat metric.Stat, r metric.Range) string {
	name := tag
	if m, ok := metric.Lookup(tag); ok && m.Kind != metric.Derived {
		name += " " + stat.String()
	}
	if math.IsInf(r.High, 1) {
		return fmt.Sprintf("%s is %s or more", name, terminal.Figure(r.Low))
	}
	return fmt.Sprintf("%s lies between %s and %s", name, terminal.Figure(r.Low), terminal.Figure(r.High))
}

// margin returns the smallest relative distance to the limit of a condition, negative if it is violated; NaN: not measured.
func margin(swept *metric.SweepCell, list []metric.Condition) float64 {
	least := math.NaN()
	for k := range list {
		c := &list[k]
		v := swept.Mean(c.Tag, c.Stat)
		if math.IsNaN(v) || c.Limit == 0 {
			continue
		}
		m := (c.Limit - v) / math.Abs(c.Limit)
		if c.Op == "gt" || c.Op == "ge" {
			m = -m
		}
		if math.IsNaN(least) || m < least {
			least = m
		}
	}
	return least
}

// evidence returns the cells that are meaningful.
func (q *search) evidence() (list []probe) {
	for _, p := range q.probes {
		if p.doubt == "" {
			list = append(list, p)
		}
	}
	return list
}

// maxTries limits the tries of a cell that its client cannot measure; maxUncertain those of a cell whose figures are only approximate, because
// disturbances of the machine pass. A planner does not see such a cell and requests it again.
const (
	maxTries     = 3
	maxUncertain = 6
)

// givenUp says that the last cell was tried often enough; empty = it was not.
func (q *search) givenUp() string {
	n, limited, last := 0, 0, len(q.probes)-1
	for k := last; k >= 0 && q.probes[k].unknown() != "" && slices.Equal(q.probes[k].values, q.probes[last].values); k-- {
		n++
		if q.probes[k].unknown() == clientLimited {
			limited++
		}
	}
	if limited < maxTries && n < maxUncertain {
		return ""
	}
	return fmt.Sprintf("%s was run %d times without a valid measurement: %s", q.cells[last].Label, n, q.probes[last].unknown())
}

// unknown says what a cell leaves undecided, for the search or for one of its service levels; empty = nothing.
func (p *probe) unknown() string {
	if p.doubt != "" {
		return p.doubt
	}
	for _, t := range p.tiers {
		if t.doubt != "" {
			return t.doubt
		}
	}
	return ""
}
