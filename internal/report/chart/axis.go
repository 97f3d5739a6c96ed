package chart

import (
	"encoding/json"
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
