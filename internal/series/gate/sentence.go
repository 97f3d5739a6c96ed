package gate

import (
	"fmt"
	"math"
	"strconv"

	"aiperf/internal/measure/metric"
)

// Sentence describes the result: the outcome, the subject, the value with its range, the values that pass, and why it is undecided.
func (r *Result) Sentence() string {
	of := ""
	if r.Subject != "" {
		of = r.Subject + ": "
	}
	if r.Gate == &verdictGate {
		return fmt.Sprintf("%s: %s%s", r.Outcome, of, r.verdictClause())
	}
	return fmt.Sprintf("%s: %s%s%s", r.Outcome, of, r.finding(), r.reason())
}

// verdictClause describes the result of the gate on the verdict.
func (r *Result) verdictClause() string {
	switch {
	case r.Outcome == Passed:
		return "the verdict is valid or server limited"
	case r.Doubt == "":
		return "there is no verdict"
	case r.Outcome == Failed:
		return "the verdict is " + r.Doubt
	}
	return r.Doubt
}

// finding describes the value and what it has to be.
func (r *Result) finding() string {
	if math.IsNaN(r.Value) {
		return fmt.Sprintf("%s was not measured; required: %s", r.Gate.name(), r.Gate.required())
	}
	return fmt.Sprintf("%s is %s; required: %s", r.Gate.name(), r.figures(), r.Gate.required())
}

// name returns the metric of the gate and its statistic. One value of a run has no statistic.
func (g *Gate) name() string {
	if g.single() {
		return g.Tag
	}
	return g.Tag + " " + g.Stat.String()
}

// required returns the values that pass, with their unit.
func (g *Gate) required() string {
	words := map[string]string{">": "at most", ">=": "below", "<": "at least", "<=": "above"}[g.Op]
	return words + " " + strconv.FormatFloat(g.Limit, 'g', -1, 64) + " " + g.unit()
}

// figures returns the value with its unit, and its range if it is not exact.
func (r *Result) figures() string {
	return withRange(r.Value, r.Range, " "+r.Unit)
}

// withRange formats a value with its unit, and its range in brackets if it is not exact. The range may lie above the value, if requests without an answer
// are in the range only.
func withRange(v float64, of metric.Range, unit string) string {
	text := figure(v) + unit
	if of.Low == of.High {
		return text
	}
	if math.IsInf(of.High, 1) {
		return fmt.Sprintf("%s (at least %s%s)", text, figure(of.Low), unit)
	}
	return fmt.Sprintf("%s (%s to %s%s)", text, figure(of.Low), figure(of.High), unit)
}

// reason says why a gate is undecided, or that it was judged by the stated value nevertheless; "" otherwise.
func (r *Result) reason() string {
	switch {
	case r.ByValue && r.Doubt != "":
		return fmt.Sprintf(" (judged by the plain value, although %s)", r.Doubt)
	case r.ByValue:
		return " (judged by the plain value, although the limit lies within its range)"
	case r.Outcome == Undecided && r.Doubt != "":
		return fmt.Sprintf(" (cannot be judged: %s)", r.Doubt)
	case r.Outcome != Undecided:
		return ""
	case r.Remedy == PollMoreOften:
		return " (the limit lies within the range, because jobs are polled)"
	case r.Remedy == AwaitAnswers:
		return " (the limit lies within the range, because slow requests got no answer)"
	}
	return " (the limit lies within the range)"
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Count returns the number of results with an outcome.
func Count(list []Result, o Outcome) (n int) {
	for i := range list {
		if list[i].Outcome == o {
			n++
		}
	}
	return n
}
