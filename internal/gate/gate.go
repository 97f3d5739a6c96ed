// Package gate judges finished runs by conditions that must not hold, for machines that wait for an exit status: gates, JUnit files,
// summaries of GitHub steps.
package gate

import (
	"fmt"
	"math"

	"aiperf/internal/metric"
	"aiperf/internal/objective"
)

// Gate is one condition under which a run fails: "time_to_first_token:p99>200", in the metric's display unit.
type Gate struct {
	Text  string // as it was written
	Tag   string // errorRate, or a metric
	Stat  metric.Stat
	Op    string // >, >=, <, <=
	Limit float64
}

// errorRate is the share of failed requests, in percent.
const errorRate = objective.ErrorRate

// Parse reads a condition. One that describes a good run is refused: every good run would fail.
func Parse(text string) (Gate, error) {
	l, err := objective.ParseLike(text, ">")
	if err != nil {
		return Gate{}, err
	}
	if good, certain := l.Good(); certain && good {
		return Gate{}, &SideError{Text: text, Good: true, Objective: l.Text, Condition: l.Opposite()}
	}
	return newGate(&l)
}

// SideError is a limit on the wrong side: a condition that good runs meet, or an objective that bad runs meet.
type SideError struct {
	Text                 string
	Good                 bool   // good runs meet it
	Objective, Condition string // what may have been meant
}

// Error says which runs meet the limit.
func (e *SideError) Error() string {
	if e.Good {
		return fmt.Sprintf("%q is true in a good run, so it would fail good runs", e.Text)
	}
	return fmt.Sprintf("%q describes a bad run", e.Text)
}

// Objective reads what must hold and returns the condition under which it does not, as Parse reads it.
func Objective(text string) (condition string, err error) {
	l, err := objective.Parse(text)
	if err != nil {
		return "", err
	}
	if good, certain := l.Good(); certain && !good {
		return "", &SideError{Text: text, Objective: l.Opposite(), Condition: l.Text}
	}
	condition = l.Opposite()
	_, err = newGate(&l)
	return condition, err
}

// newGate makes a gate of a limit whose statistic the metric has.
func newGate(l *objective.Limit) (Gate, error) {
	name := l.Stat
	if name == "" {
		name = "avg"
	}
	g := Gate{Text: l.Text, Tag: l.Tag, Op: l.Op, Limit: l.Value}
	var ok bool
	if g.Stat, ok = metric.StatByName(name); !ok {
		return g, fmt.Errorf("%q: reports have no statistic %s; they have avg, min, max, std, p1, p5, p10, p25, p50, p75, p90, p95 and p99", l.Text, name)
	}
	m, _ := metric.Lookup(g.Tag)
	if single := g.Tag == errorRate || m.Kind == metric.Derived; single && g.Stat != metric.Avg {
		return g, fmt.Errorf("%q: %s is one value of a run, without %s; write %s%s%g", l.Text, g.Tag, g.Stat, g.Tag, g.Op, g.Limit)
	}
	return g, nil
}

// Parsed reads several conditions that were read before.
func Parsed(texts []string) ([]Gate, error) {
	list := make([]Gate, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = Parse(text); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Outcome is what a gate says of a subject.
type Outcome string

// The outcomes. What is undecided stops a pipeline like a failure: nobody can say that the condition was kept.
const (
	Passed    Outcome = "passed"
	Failed    Outcome = "FAILED"
	Undecided Outcome = "undecided"
)

// Result is what one gate says of one subject.
type Result struct {
	Gate    *Gate
	Subject string
	Value   float64      // the mean over the runs; NaN: not measured
	Range   metric.Range // of the value, as far as the runs know it; {Value, Value}: it is exact
	Unit    string
	Outcome Outcome
	Doubt   string // why the figures of the subject are not trusted as a whole; "": they are
	ByValue bool   // judged by the stated value although there is a doubt, or the limit lies within the range
}

// Options say how runs are judged.
type Options struct {
	// AllowInvalid judges by the stated value where a verdict or a range would leave a gate undecided.
	AllowInvalid bool
	// Verdict adds a gate on the verdict of every run.
	Verdict bool
}

// Judge tries every gate on every subject. A gate passes if it holds at the worse end of what the value may be, and fails if it does not hold at the
// better end; in between it is undecided, as is every gate of a subject in doubt. What was not measured fails.
func Judge(gates []Gate, subjects []Subject, o Options) (list []Result) {
	for k := range subjects {
		s := &subjects[k]
		if o.Verdict {
			list = append(list, s.verdict())
		}
		for i := range gates {
			list = append(list, gates[i].judge(s, o))
		}
	}
	return list
}

func (g *Gate) judge(s *Subject, o Options) Result {
	r := Result{Gate: g, Subject: s.Name, Unit: g.unit(), Doubt: s.Doubt()}
	r.Value, r.Range = g.mean(s.Runs)
	switch {
	case r.Doubt != "" && !o.AllowInvalid:
		r.Outcome = Undecided
	case math.IsNaN(r.Value):
		r.Outcome = Failed
	default:
		r.Outcome = g.outcome(r.Range)
		if r.ByValue = r.Doubt != "" || r.Outcome == Undecided && o.AllowInvalid; r.ByValue {
			r.Outcome = g.outcome(metric.Range{Low: r.Value, High: r.Value})
		}
	}
	return r
}

// outcome judges a value that lies somewhere in a range.
func (g *Gate) outcome(r metric.Range) Outcome {
	low, high := g.hit(r.Low), g.hit(r.High)
	switch {
	case low && high:
		return Failed
	case low || high || math.IsNaN(r.Low) || math.IsNaN(r.High):
		return Undecided
	}
	return Passed
}

func (g *Gate) hit(v float64) bool {
	switch g.Op {
	case ">":
		return v > g.Limit
	case ">=":
		return v >= g.Limit
	case "<":
		return v < g.Limit
	}
	return v <= g.Limit
}

func (g *Gate) unit() string {
	if m, ok := metric.Lookup(g.Tag); ok {
		return m.Display
	}
	return "%"
}

// mean is the mean of the value over runs, and of the ends of its range; NaN when one lacks it.
func (g *Gate) mean(runs []*metric.Run) (v float64, r metric.Range) {
	if len(runs) == 0 {
		return math.NaN(), metric.Range{Low: math.NaN(), High: math.NaN()}
	}
	n := float64(len(runs))
	for _, run := range runs {
		one, of := g.value(run)
		v += one / n
		r.Low += of.Low / n
		r.High += of.High / n
	}
	return v, r
}

// value is the value of a run and its range.
func (g *Gate) value(run *metric.Run) (float64, metric.Range) {
	s := run.Profiling
	if g.Tag == errorRate {
		v := 100 * float64(s.Failed) / float64(s.Valid+s.Failed)
		return v, metric.Range{Low: v, High: v}
	}
	v := s.Value(g.Tag, g.Stat)
	return v, rangeOf(run.Validity, s, g.Tag, g.Stat, v)
}
