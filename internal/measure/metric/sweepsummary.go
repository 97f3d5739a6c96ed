package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// NamedValue is a swept value and its name.
type NamedValue struct {
	Name  string
	Value any // int, float64, bool, string, or a value of a file
}

// SweepCell is one cell of a sweep and its successful runs.
type SweepCell struct {
	Label  string
	Values []NamedValue // by full path
	Short  []NamedValue // by the names in files
	Model  string
	Runs   []*Run
}

// Mean returns the mean of a statistic over the runs of a cell that have it; NaN if none has.
func (c *SweepCell) Mean(tag string, stat Stat) float64 {
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

// Holds reports whether a value meets the condition. A missing value does not.
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

// String returns the condition as it is written.
func (c *Condition) String() string {
	return fmt.Sprintf("%s:%s:%s:%g", c.Tag, c.Stat, c.Op, c.Limit)
}

// Breach returns the first condition that a cell violates; nil if it meets all.
func (c *SweepCell) Breach(conditions []Condition) *Condition {
	for i := range conditions {
		if one := &conditions[i]; !one.Holds(c.Mean(one.Tag, one.Stat)) {
			return one
		}
	}
	return nil
}

// SweepSummary combines the cells of a sweep.
type SweepSummary struct {
	Confidence float64
	Trials     int    // runs per cell
	Mode       string // repeated or independent
	Runs       int    // runs of all cells
	Failed     []FailedRun
	Names      []string // names of the parameters
	Cells      []SweepCell
	Conditions []Condition
	Combined   int // number of requested cells
}

// Best is the best cell by one criterion.
type Best struct {
	Name  string // best_throughput, best_latency_p99
	Cell  *SweepCell
	Value float64
	Unit  string
}

// measured returns the cells with a result, and those of them that meet the conditions.
func (s *SweepSummary) measured() (all, feasible []*SweepCell) {
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

// Feasible returns the numbers of cells that meet the conditions and that do not.
func (s *SweepSummary) Feasible() (yes, no int) {
	all, feasible := s.measured()
	return len(feasible), len(all) - len(feasible)
}

// latency returns the latency metric for comparing cells: TTFT if every cell has it.
func latency(cells []*SweepCell) string {
	for _, c := range cells {
		if math.IsNaN(c.Mean("time_to_first_token", P99)) {
			return "request_latency"
		}
	}
	return "time_to_first_token"
}

// Best returns the best cells, without criteria that a cell has no value for.
func (s *SweepSummary) Best() (list []Best) {
	all, cells := s.measured()
	if len(cells) == 0 {
		cells = all
	}
	for _, of := range []struct {
		name, tag string
		stat      Stat
		sign      float64
	}{{"best_throughput", "request_throughput", Avg, -1}, {"best_latency_p99", latency(cells), P99, 1}} {
		if len(cells) == 0 || slices.ContainsFunc(cells, func(c *SweepCell) bool { return math.IsNaN(c.Mean(of.tag, of.stat)) }) {
			continue
		}
		best := slices.MinFunc(cells, func(a, b *SweepCell) int {
			return cmp.Compare(of.sign*a.Mean(of.tag, of.stat), of.sign*b.Mean(of.tag, of.stat))
		})
		list = append(list, Best{of.name, best, best.Mean(of.tag, of.stat), table[index[of.tag]].Display})
	}
	return list
}

// Pareto returns the cells that no other cell beats in throughput and latency. A cell beats another if it is at least as good in both and better in
// one.
func (s *SweepSummary) Pareto() (list []*SweepCell) {
	all, cells := s.measured()
	if len(s.Conditions) == 0 {
		cells = all
	}
	tag := latency(cells)
	point := func(c *SweepCell) (float64, float64) { return c.Mean("request_throughput", Avg), c.Mean(tag, P99) }
	for _, c := range cells {
		rate, late := point(c)
		if math.IsNaN(rate) || math.IsNaN(late) {
			return nil
		}
		if !slices.ContainsFunc(cells, func(o *SweepCell) bool {
			r, l := point(o)
			return r >= rate && l <= late && (r > rate || l < late)
		}) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *SweepCell) int { return compareValues(a.Short, b.Short) })
	return list
}

// compareValues compares cells by their values: numbers by size, other values by their text.
func compareValues(a, b []NamedValue) int {
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

// SummaryOf returns a summary of existing values: statistics by tag, NaN = missing.
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
