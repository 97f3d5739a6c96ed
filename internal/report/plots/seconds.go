package plots

import (
	"math"
	"strings"
)

// secondsLine returns a figure of the timeline over the time since the first request, each value at the middle of its second.
func (s *Single) secondsLine(key string) (*line, error) {
	seconds, err := s.Run.Seconds()
	if err != nil {
		return nil, missing(err)
	}
	values, ok := seconds.Figure(key)
	if !ok {
		return nil, &Missing{What: "timeline " + key}
	}
	l := &line{title: secondsTitle(key)}
	var at []int64
	for i, v := range values {
		if !math.IsNaN(v) {
			at, l.y = append(at, seconds.At[i]+5e8), append(l.y, v)
		}
	}
	l.x, err = s.since(at)
	return l, err
}

// secondsUnits maps the suffixes of timeline keys to units.
var secondsUnits = []struct{ ending, unit string }{{"_ms", "ms"}, {"_w", "W"}, {"_percent", "%"}}

// secondsTitle formats a key of the timeline as a title: time_to_first_token_ms.p50 is "Time To First Token p50 (ms)".
func secondsTitle(key string) string {
	name, part, _ := strings.Cut(key, ".")
	unit := ""
	for _, u := range secondsUnits {
		if rest, ok := strings.CutSuffix(name, u.ending); ok {
			name, unit = rest, " ("+u.unit+")"
			break
		}
	}
	words := strings.Fields(strings.ReplaceAll(name, "_", " "))
	for i, w := range words {
		if words[i] = strings.ToUpper(w[:1]) + w[1:]; w == "gpu" || w == "kv" {
			words[i] = strings.ToUpper(w)
		}
	}
	if part != "" {
		words = append(words, part)
	}
	return strings.Join(words, " ") + unit
}
