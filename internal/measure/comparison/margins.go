package comparison

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/objective"
)

// usualMargin is the default margin: a smaller relative difference is irrelevant.
const usualMargin = 0.05

// SetMargins parses margins: "3%" for all, "tag:stat:3%" or "tag:3%" for one statistic or metric.
func (o *Options) SetMargins(texts []string) error {
	o.Margin, o.Margins = usualMargin, map[string]float64{}
	for _, text := range texts {
		key, value := "", text
		if i := strings.LastIndexByte(text, ':'); i >= 0 {
			key, value = longName(text[:i]), text[i+1:]
		}
		v, err := Percent(value)
		if err != nil {
			return err
		}
		if key == "" {
			o.Margin = v
			continue
		}
		known := false
		for _, s := range allStatistics() {
			known = known || key == s.tag || key == s.tag+":"+s.stat
		}
		if !known {
			return fmt.Errorf("%q: there is no statistic %s to compare; write for example ttft:p99:10%%", text, key)
		}
		o.Margins[key] = v
	}
	return nil
}

// Percent parses 5% or 5 as 0.05.
func Percent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, fmt.Errorf("%q is not a percentage from 0 to 100; write for example 5%%", text)
	}
	return v / 100, nil
}

// longName returns the name of a statistic with the tag of its metric instead of a short name, and with "mean" for "avg".
func longName(name string) string {
	tag, stat, found := strings.Cut(name, ":")
	if long, err := objective.Metric(tag); err == nil {
		tag = long
	}
	switch {
	case !found:
		return tag
	case stat == "avg" && slices.Contains(timed, tag):
		stat = "mean"
	}
	return tag + ":" + stat
}
