package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/stats"
)

// Named is a swept value and what it is called.
type Named struct {
	Name  string
	Value any // int, float64, bool, string, or what a file holds
}

// SweptCell is one cell of a sweep and its successful runs.
type SweptCell struct {
	Label  string
	Values []Named // by whole path
	Short  []Named // as files call them
	Model  string
	Runs   []*Run
}

// Mean is the mean of a statistic over the runs of a cell that have it, NaN if none has.
func (c *SweptCell) Mean(tag string, stat Stat) float64 {
	var v []float64
	for _, r := range c.Runs {
		if x := r.Profiling.Value(tag, stat); !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return math.NaN()
	}
	return stats.Mean(v)
}

// Condition is one condition of a service level.
type Condition struct {
	Tag   string
	Stat  Stat
	Op    string // lt, le, gt, ge
	Limit float64
}

// Holds tells whether a value keeps the condition; what was not measured does not.
func (c *Condition) Holds(v float64) bool {
	switch {
	case math.IsNaN(v):
		return false
	case c.Op == "lt":
		return v < c.Limit
	case c.Op == "le":
		return v <= c.Limit
	case c.Op == "gt":
		return v > c.Limit
	}
	return v >= c.Limit
}

// String is the condition as it is written.
func (c *Condition) String() string {
	return fmt.Sprintf("%s:%s:%s:%g", c.Tag, c.Stat, c.Op, c.Limit)
}

// Breach is the first condition that a cell does not keep, nil if it keeps all.
func (c *SweptCell) Breach(conditions []Condition) *Condition {
	for i := range conditions {
		if one := &conditions[i]; !one.Holds(c.Mean(one.Tag, one.Stat)) {
			return one
		}
	}
	return nil
}

// Swept is what the cells of a sweep add up to.
type Swept struct {
	Confidence float64
	Trials     int    // runs of a cell
	Mode       string // repeated or independent
	Runs       int    // of all cells
	Failed     []FailedRun
	Names      []string // of the parameters
	Cells      []SweptCell
	Conditions []Condition
	Combined   int // cells that were asked for
}

// Best is the cell that is best in one thing.
type Best struct {
	Name  string // best_throughput, best_latency_p99
	Cell  *SweptCell
	Value float64
	Unit  string
}

// measured are the cells with a result; those that keep the conditions, if some do.
func (s *Swept) measured() (all, feasible []*SweptCell) {
	for i := range s.Cells {
		if c := &s.Cells[i]; len(c.Runs) > 0 {
			all = append(all, c)
			if c.Breach(s.Conditions) == nil {
				feasible = append(feasible, c)
			}
		}
	}
	return all, feasible
}

// Feasible counts the cells that keep the conditions and those that do not.
func (s *Swept) Feasible() (yes, no int) {
	all, feasible := s.measured()
	return len(feasible), len(all) - len(feasible)
}

// latency is the latency that cells are compared by: of the first token where every cell has it.
func latency(cells []*SweptCell) string {
	for _, c := range cells {
		if math.IsNaN(c.Mean("time_to_first_token", P99)) {
			return "request_latency"
		}
	}
	return "time_to_first_token"
}

// Best lists the best cells; what some cell lacks is left out.
func (s *Swept) Best() (list []Best) {
	all, cells := s.measured()
	if len(cells) == 0 {
		cells = all
	}
	for _, of := range []struct {
		name, tag string
		stat      Stat
		sign      float64
	}{{"best_throughput", "request_throughput", Avg, -1}, {"best_latency_p99", latency(cells), P99, 1}} {
		if len(cells) == 0 || slices.ContainsFunc(cells, func(c *SweptCell) bool { return math.IsNaN(c.Mean(of.tag, of.stat)) }) {
			continue
		}
		best := slices.MinFunc(cells, func(a, b *SweptCell) int {
			return cmp.Compare(of.sign*a.Mean(of.tag, of.stat), of.sign*b.Mean(of.tag, of.stat))
		})
		list = append(list, Best{of.name, best, best.Mean(of.tag, of.stat), table[index[of.tag]].Display})
	}
	return list
}

// Pareto lists the cells that no other cell beats in throughput and latency: is at least as good in both and better in one.
func (s *Swept) Pareto() (list []*SweptCell) {
	all, cells := s.measured()
	if len(s.Conditions) == 0 {
		cells = all
	}
	tag := latency(cells)
	point := func(c *SweptCell) (float64, float64) { return c.Mean("request_throughput", Avg), c.Mean(tag, P99) }
	for _, c := range cells {
		rate, late := point(c)
		if math.IsNaN(rate) || math.IsNaN(late) {
			return nil
		}
		if !slices.ContainsFunc(cells, func(o *SweptCell) bool {
			r, l := point(o)
			return r >= rate && l <= late && (r > rate || l < late)
		}) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *SweptCell) int { return compareValues(a.Short, b.Short) })
	return list
}

// compareValues orders cells by their values, numbers by size and anything else by its text.
func compareValues(a, b []Named) int {
	for i := range min(len(a), len(b)) {
		x, okX := asFloat(a[i].Value)
		y, okY := asFloat(b[i].Value)
		order := cmp.Compare(fmt.Sprint(a[i].Value), fmt.Sprint(b[i].Value))
		if okX && okY {
			order = cmp.Compare(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// SummaryOf makes a summary of values that were measured before: statistics by tag, NaN where there is none.
func SummaryOf(values map[string][Stats]float64, valid, failed int64) *Summary {
	s := &Summary{Valid: valid, Failed: failed, byTag: map[string]int{}}
	for i := range table {
		if v, ok := values[table[i].Tag]; ok {
			s.byTag[table[i].Tag] = len(s.Results)
			s.Results = append(s.Results, Result{&table[i], v})
		}
	}
	return s
}
