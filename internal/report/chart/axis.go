package chart

import (
	"encoding/json"
	"math"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// statistic matches a word in parentheses that is not a unit.
var statistic = lazyregexp.New(`^(p[0-9.]+|avg|mean|median|min|max|std|sum|count|log)$`)

// Unit returns the unit of the axis: the text in the last parentheses of its title, "ms" in "Time to First Token (p50) (ms)", or the whole title
// without parentheses. It is "" for category names, for an axis without ticks, and for a title that contains only a statistic.
func (a *Axis) Unit() string {
	if a.Scale == Category || a.Ticks != nil && len(a.Ticks) == 0 {
		return ""
	}
	title := strings.TrimSuffix(a.Title, " (log)")
	open := strings.LastIndexByte(title, '(')
	if open < 0 {
		return title
	}
	last, ok := strings.CutSuffix(title[open+1:], ")")
	if !ok || statistic.MatchString(last) {
		return ""
	}
	return last
}

// MarshalJSON adds the unit to the fields: a page shows it after each value.
func (a Axis) MarshalJSON() ([]byte, error) {
	type fields Axis
	return json.Marshal(struct {
		fields
		Unit string
	}{fields(a), a.Unit()})
}

// nearZero is the share of the largest value below which the smallest is near zero.
const nearZero = 0.7

// NearZero reports whether an axis of these values should include zero. If they are all far from zero, such an axis would put them into one corner.
func NearZero(values []float64) bool {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return !(high > 0 && low > nearZero*high)
}
