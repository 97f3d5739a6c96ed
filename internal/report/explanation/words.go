package explanation

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
)

// spell spells a setting as on the command line.
var spell = config.FlagOf

// percent formats a share.
func percent(v float64) string {
	switch p := 100 * v; {
	case p == 0, p >= 9.5:
		return fmt.Sprintf("%.0f %%", p)
	case p < 0.05:
		return "less than 0.1 %"
	default:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + " %"
	}
}

// sentence says what a fact is among the slow requests and among the others.
func sentence(f *fact, of *Finding) string {
	if f.TwoValued || f.what != "" && of.Rest.Median == 0 && of.Effect > 0 {
		return fmt.Sprintf("%s of the slow requests %s; %s of the others %s.", percent(of.Slow.Share), f.what, percent(of.Rest.Share), f.verb)
	}
	if f.what != "" && of.Slow.Median == 0 {
		return fmt.Sprintf("Only %s of the slow requests %s; %s of the others %s.", percent(of.Slow.Share), f.what, percent(of.Rest.Share), f.verb)
	}
	if a, b := quantity(of.Slow.Median, f.unit), quantity(of.Rest.Median, f.unit); a == b {
		side, slow, rest := "above", of.Slow.Above, of.Rest.Above
		if of.Effect < 0 {
			side, slow, rest = "below", of.Slow.Below, of.Rest.Below
		}
		return fmt.Sprintf("%s of the slow requests had %s %s %s; %s of the others had.", percent(slow), f.label, side, b, percent(rest))
	}
	return fmt.Sprintf("Median of %s: %s for the slow requests, %s for the others.", f.label, quantity(of.Slow.Median, f.unit), quantity(of.Rest.Median, ""))
}

// quantity formats a number with its unit.
func quantity(v float64, unit string) string {
	text := figure(v)
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// figure formats a number; whole ones have no decimals.
func figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return terminal.Count(int64(v))
	}
	return terminal.Figure(v)
}

// Name returns the name of the metric for people.
func (e *Explanation) Name() string {
	if e.Metric.Short != "" {
		return e.Metric.Short
	}
	return e.Metric.Header
}

// Headline says which requests are slow.
func (e *Explanation) Headline() string {
	side := "above"
	if e.Low {
		side = "below"
	}
	why := ""
	if e.Lowered {
		why = fmt.Sprintf("; p%g leaves too few slow requests, or too few bunches of them", e.first())
	}
	text := fmt.Sprintf("%s of %s requests are slow: %s %s %s %s (p%g%s). Their median is %s %s, that of the others %s %s.",
		terminal.Count(e.Slow), terminal.Count(e.Slow+e.Rest), e.Name(), side, terminal.Figure(e.Threshold), e.Unit, e.Level, why,
		terminal.Figure(e.Median[1]), e.Unit, terminal.Figure(e.Median[0]), e.Unit)
	if e.Failed > 0 {
		text += fmt.Sprintf(" %s failed and are not compared.", terminal.Count(e.Failed))
	}
	return text
}

// first returns the percentile that is tried first.
func (e *Explanation) first() float64 {
	if e.Low {
		return 100 - levels[0]
	}
	return levels[0]
}

// Nothing says that no fact is significant; "" if one is.
func (e *Explanation) Nothing() string {
	switch {
	case len(e.Named()) > 0:
		return ""
	case e.Bunches.Count < fewestBunches:
		return fmt.Sprintf("The slow requests came in only %s. That is too few to tell what goes together with being slow. A longer run has more, and so may a lower percentile.", bunches(e.Bunches.Count))
	case e.Bunches.Together:
		return "Otherwise no recorded fact differs between the slow requests and the others by more than chance alone can make."
	}
	return "Nothing found: no recorded fact differs between the slow requests and the others by more than chance alone can make."
}

// When says how the slow requests lie in time; "" if they are spread as chance spreads them.
func (e *Explanation) When() string {
	b := &e.Bunches
	if !b.Together {
		return ""
	}
	share := float64(b.Rest) / float64(max(1, e.Rest))
	text := fmt.Sprintf("The slow requests came together: %s of them were sent in %s, which take %s of the time and have %s of the others",
		percent(float64(b.Slow)/float64(e.Slow)), terminal.Plural(len(b.Stretches), "part")+" of the run", percent(b.Share), percent(share))
	if len(b.Stretches) == 1 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "which take ", "which takes "), "and have ", "and has ")
	}
	var list []string
	for _, s := range b.Stretches {
		if len(list) == mostStretches {
			list = append(list, "and more")
			break
		}
		list = append(list, fmt.Sprintf("%s to %s s", second(s.From-b.Start), second(s.To-b.Start)))
	}
	return text + " (" + strings.Join(list, ", ") + ")."
}

// mostStretches is how many stretches of time a sentence names.
const mostStretches = 4

// second formats an instant in s.
func second(ns int64) string {
	v := float64(ns) / 1e9
	if v >= 100 {
		return terminal.Count(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.3g", v)
}

// Caveat says what an association is not.
const Caveat = "These facts go together with being slow. They need not be its cause: whatever differs at the same time shows up as well."

// DefinitionSentence says that a finding is part of the metric.
func (e *Explanation) DefinitionSentence(f *Finding) string {
	return strings.TrimSuffix(f.Sentence, ".") + fmt.Sprintf(", by definition of %s: %s.", e.Name(), f.Definition)
}

// bunches formats a number of bunches.
func bunches(n int) string {
	if n == 1 {
		return "one bunch"
	}
	return terminal.Count(n) + " bunches"
}
