package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The widest range of a statistic that still counts as certain. The larger of the two limits applies.
const (
	certainRange = 0.04 // share of the stated value
	certainTime  = 0.05 // ms; timestamps are not more precise
)

// unbounded stands for a rate over no time. It is finite, so that sums and percentiles with it remain numbers. Values above limitless result from it.
const (
	unbounded = 1e300
	limitless = 1e140 // its square is finite
)

// ApproximateMark precedes an approximate figure.
const ApproximateMark = "~"

// Range holds the limits of an approximate statistic, in the metric's display unit. High may be +Inf.
type Range struct{ Low, High float64 }

// Width returns High - Low.
func (r Range) Width() float64 { return r.High - r.Low }

// Bounds holds the ranges of the inexact statistics, by metric tag and statistic.
type Bounds map[string]map[Stat]Range

// Of returns the range of a statistic whose stated value is v; {v, v} if it is exact.
func (b Bounds) Of(tag string, s Stat, v float64) Range {
	if r, ok := b[tag][s]; ok {
		return r
	}
	return Range{v, v}
}

// Certain reports whether the range of a statistic is narrow enough: at most 4 % of its stated value v, or 50 µs for a time.
func (b Bounds) Certain(tag string, s Stat, v float64) bool {
	r, ok := b[tag][s]
	if !ok {
		return true
	}
	limit := certainRange * math.Abs(v)
	if m, ok := Lookup(tag); ok && m.Display == "ms" {
		limit = max(limit, certainTime)
	}
	return r.Width() <= limit
}

// set stores a range unless the statistic is exact.
func (b Bounds) set(tag string, s Stat, low, high float64) {
	low, high = min(low, high), max(low, high)
	if high >= limitless {
		high = math.Inf(1)
	}
	if low == high || math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) {
		return
	}
	if b[tag] == nil {
		b[tag] = map[Stat]Range{}
	}
	b[tag][s] = Range{low, high}
}

// jsonRange is a Range in files, which omit an infinite upper limit.
type jsonRange struct {
	Low  float64  `json:"low"`
	High *float64 `json:"high"`
}

// UnmarshalJSON reads {"low": x, "high": y}; without "high" there is no upper limit.
func (r *Range) UnmarshalJSON(data []byte) error {
	var j jsonRange
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Range{j.Low, math.Inf(1)}
	if j.High != nil {
		r.High = *j.High
	}
	if r.High < r.Low {
		return fmt.Errorf("the range from %v to %v is empty", r.Low, r.High)
	}
	return nil
}

// UnmarshalText reads the key of a statistic, for example "p99".
func (s *Stat) UnmarshalText(text []byte) error {
	stat, ok := StatByName(string(text))
	if !ok {
		return fmt.Errorf("%q is not a statistic", text)
	}
	*s = stat
	return nil
}

// estimate is one statistic with its range.
type estimate struct {
	tag   string
	stat  Stat
	value float64
	Range
}

// Metrics and statistics that determine whether a run is certain.
var (
	judgedTags  = []string{"time_to_first_token", "inter_token_latency", "request_latency"}
	judgedStats = []Stat{Avg, P50, P90, P99}
)

// judgedEstimates returns the statistics that determine whether the run is certain, without those that are certainly too low.
func (s *Summary) judgedEstimates() (list []estimate) {
	if s == nil {
		return nil
	}
	for _, tag := range judgedTags {
		r, ok := s.Get(tag)
		for _, stat := range judgedStats {
			if ok && r.Has(stat) && !s.isUnderstated(tag, stat) {
				list = append(list, estimate{tag, stat, r.Values[stat], s.Bounds.Of(tag, stat, r.Values[stat])})
			}
		}
	}
	return list
}

// doubtful returns the judged statistics that are not certain.
func (s *Summary) doubtful() []estimate {
	return slices.DeleteFunc(s.judgedEstimates(), func(e estimate) bool { return s.Bounds.Certain(e.tag, e.stat, e.value) })
}

// precision returns the accuracy of the judged statistics: the widest range as a share of its value. It ignores ranges below the error of the
// timestamps.
func (s *Summary) precision() (share float64) {
	for _, e := range s.judgedEstimates() {
		if w := e.Width(); w > certainTime && e.value > 0 {
			share = max(share, w/e.value)
		}
	}
	return share
}

// ranges lists statistics with their ranges, one clause per metric: "TTFT (avg 56.1 to 75 ms, p90 61 to 158 ms)".
func ranges(list []estimate) string {
	var clauses []string
	for i := 0; i < len(list); {
		tag, stats := list[i].tag, []string(nil)
		for ; i < len(list) && list[i].tag == tag; i++ {
			e := list[i]
			stats = append(stats, fmt.Sprintf("%s %s to %s ms", e.stat, figure(e.Low, 3), figure(e.High, 3)))
		}
		clauses = append(clauses, fmt.Sprintf("%s (%s)", shortName(tag), strings.Join(stats, ", ")))
	}
	return join(clauses)
}

// shortName returns the name of a metric in sentences.
func shortName(tag string) string {
	switch tag {
	case "request_latency":
		return "request latency"
	case "inter_token_latency":
		return "ITL"
	}
	if m, ok := Lookup(tag); ok && m.Short != "" {
		return m.Short
	}
	return tag
}
