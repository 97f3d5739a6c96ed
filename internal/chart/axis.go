package chart

import (
	"encoding/json"
	"regexp"
	"strings"
)

// statistic is a word in parentheses that is no unit.
var statistic = regexp.MustCompile(`^(p[0-9.]+|avg|mean|median|min|max|std|sum|count|log)$`)

// Unit is the unit of the axis: what stands in the last parentheses of its title, "ms" of "Time to First Token (p50) (ms)", or a title without
// parentheses. It is "" for names of categories, for an axis without ticks and for a title that has a statistic alone.
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

// MarshalJSON writes the unit beside the fields: a page shows it after each value.
func (a Axis) MarshalJSON() ([]byte, error) {
	type fields Axis
	return json.Marshal(struct {
		fields
		Unit string
	}{fields(a), a.Unit()})
}
