package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/suggest"
)

// Objective is one service level objective. A request is good if its value of the metric is not worse than the bound.
type Objective struct {
	Metric *Metric
	Bound  float64 // in the metric's unit
}

// objectives parses and checks "TAG:VALUE TAG:VALUE". It skips objectives on metrics that this run does not have, as long as others remain. The
// command line warns about skipped ones.
func (s *Selection) objectives(text string) ([]Objective, error) {
	var goals []Objective
	var leftOut error
	where := s.opts.Spell.As("slos")
	for _, word := range strings.Fields(text) {
		tag, value, ok := strings.Cut(word, ":")
		if !ok || tag == "" || value == "" {
			return nil, fmt.Errorf("%s: %q is not TAG:VALUE, like request_latency:250", where, word)
		}
		bound, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(bound) || math.IsInf(bound, 0) || bound < 0 {
			return nil, fmt.Errorf("%s: %q of %s is not a number of 0 or more", where, value, tag)
		}
		m, known := Lookup(tag)
		switch {
		case !known:
			return nil, fmt.Errorf("%s: there is no metric %q%s; metrics of a request here are %s", where, tag, s.suggestion(tag), strings.Join(s.choices(), ", "))
		case !s.canBeGoal(m):
			text := fmt.Sprintf("%s: %s %s; metrics of a request here are %s", where, tag, s.whyNot(m), strings.Join(s.choices(), ", "))
			gated := perRequest(m) && !s.use[index[tag]]
			if leftOut = (&GoalError{text: text, Gated: gated, Why: s.whyNot(m)}); !gated {
				return nil, leftOut
			}
			continue
		}
		goals = slices.DeleteFunc(goals, func(g Objective) bool { return g.Metric == m }) // the last objective of a metric counts
		goals = append(goals, Objective{m, bound * m.Factor()})
	}
	if len(goals) == 0 {
		return nil, leftOut
	}
	return goals, nil
}

// GoalError is an objective that this run cannot check.
type GoalError struct {
	text  string
	Gated bool   // the metric has one number per request, but does not exist in this run
	Why   string // why the metric cannot be an objective; follows its tag in messages
}

// Error names the objective and the reason.
func (e *GoalError) Error() string { return e.text }

// canBeGoal reports whether every valid request may have a value of the metric.
func (s *Selection) canBeGoal(m *Metric) bool {
	return s.use[index[m.Tag]] && m.record != nil && m.InRecords && m.Flags&ErrorOnly == 0
}

// perRequest reports whether a metric has one number per successful request.
func perRequest(m *Metric) bool { return m.Kind == Record && !m.gaps && m.Flags&ErrorOnly == 0 }

// whyNot returns why a metric cannot be an objective.
func (s *Selection) whyNot(m *Metric) string {
	switch {
	case !perRequest(m):
		return "is not one number per successful request"
	case !s.use[index[m.Tag]]:
		return "does not exist in this run (" + s.needs(m) + ")"
	}
	return "is not reported per request"
}

// needs returns what the metric requires and the run does not have.
func (s *Selection) needs(m *Metric) string {
	o := &s.opts
	words := []struct {
		flag Flags
		has  bool
		text string
	}{
		{Streaming, o.Streaming, "needs " + o.Spell.As("endpoint.streaming")},
		{Tokens, o.ProducesTokens, "needs an endpoint that produces tokens"},
		{Input, o.TokenizesInput, "needs an endpoint with text input"},
		{Image, o.ImageInput, "needs an endpoint with image input"},
		{Audio, o.AudioInput, "needs an endpoint with audio input"},
		{VideoOutput, o.VideoOutput, "needs an endpoint that generates videos"},
		{UsageDiff, !o.ServerTokens, "needs client-side token counts"},
		{Schedule, o.FixedSchedule, "needs a fixed schedule"},
	}
	var out []string
	for _, w := range words {
		if m.Flags&w.flag != 0 && !w.has {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, ", ")
}

// choices lists the tags that can be objectives.
func (s *Selection) choices() []string {
	var tags []string
	for i := range table {
		if m := &table[i]; s.canBeGoal(m) {
			tags = append(tags, m.Tag)
		}
	}
	return tags
}

// suggestion returns the metric that an unknown tag probably means.
func (s *Selection) suggestion(tag string) string {
	if near := suggest.Name(tag, s.choices()); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// meets returns 1 if the row meets every objective, otherwise 0.
func (r *Row) meets(goals []Objective) float64 {
	for _, g := range goals {
		if v, _ := r.Value(g.Metric.Tag); !g.met(v) {
			return 0
		}
	}
	return 1
}

// met reports whether a value meets the objective. Equality does; a missing value (NaN) does not.
func (g *Objective) met(v float64) bool {
	if g.Metric.Better == Larger {
		return v >= g.Bound
	}
	return v <= g.Bound
}
