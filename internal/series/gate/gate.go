// Package gate judges finished runs by conditions that must not be true, for programs that check the exit status. It also writes JUnit files and
// summaries of GitHub steps.
package gate

import (
	"fmt"
	"math"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
)

// Gate is one condition under which a run fails: "time_to_first_token:p99>200", in the metric's display unit.
type Gate struct {
	Text  string // as the user wrote it
	Tag   string // errorRate, or a metric
	Stat  metric.Stat
	Op    string // >, >=, <, <=
	Limit float64
}

// errorRate is the share of failed requests, in percent.
const errorRate = objective.ErrorRate

// Parse reads a condition. It refuses one that describes a good run, because every good run would fail.
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

// SideError means that the limit is on the wrong side: a condition that good runs meet, or an objective that bad runs meet.
type SideError struct {
	Text                 string
	Good                 bool   // good runs meet it
	Objective, Condition string // the likely intended expressions
}

// Error says which runs meet the limit.
func (e *SideError) Error() string {
	if e.Good {
		return fmt.Sprintf("%q is true in a good run, so it would fail good runs", e.Text)
	}
	return fmt.Sprintf("%q describes a bad run", e.Text)
}

// Objective reads an objective and returns the condition that violates it, as Parse reads it.
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

// newGate makes a gate from a limit, if the metric has the statistic.
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
	if g.single() && g.Stat != metric.Avg {
		return g, fmt.Errorf("%q: %s is one value of a run, without %s; write %s%s%g", l.Text, g.Tag, g.Stat, g.Tag, g.Op, g.Limit)
	}
	return g, nil
}

// single reports whether a run has one value of the metric, and not one for each request.
func (g *Gate) single() bool {
	m, ok := metric.Lookup(g.Tag)
	return !ok || m.Kind == metric.Derived
}

// Parsed parses conditions that are known to be valid.
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

// Outcome is the outcome of a gate for a subject.
type Outcome string

// The outcomes. An undecided gate stops a pipeline like a failure, because nobody can say that the condition was avoided.
const (
	Passed    Outcome = "passed"
	Failed    Outcome = "FAILED"
	Undecided Outcome = "undecided"
)

// Result is the result of one gate for one subject.
type Result struct {
	Gate    *Gate
	Subject string
	Value   float64      // mean over the runs; NaN: not measured
	Range   metric.Range // range of the value, as far as the runs know it; {Value, Value}: it is exact
	Unit    string
	Outcome Outcome
	Doubt   string // why the figures of the subject cannot be trusted as a whole; "": they can
	ByValue bool   // judged by the stated value, although there is a doubt or the limit lies within the range
	Remedy  Remedy // what may decide an undecided gate
}

// Remedy is what may decide an undecided gate.
type Remedy int

// The remedies.
const (
	RemoveCause    Remedy = iota // the sentence of the gate names the cause
	QuieterMachine               // the value is known only approximately, or the client was the limit
	PollMoreOften                // the value is known only to within the pause between two polls of a job
	AwaitAnswers                 // slow requests without an answer are not part of the value
)

// Options says how runs are judged.
type Options struct {
	// AllowInvalid judges by the stated value where a verdict or a range would leave a gate undecided.
	AllowInvalid bool
	// Verdict adds a gate on the verdict of every run.
	Verdict bool
}

// Judge applies every gate to every subject. A gate passes if it passes at the worse end of the range of the value, and fails if it fails at the
// better end. In between it is undecided, as is every gate of a subject in doubt. A value that was not measured fails.
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
	if r.Outcome == Undecided {
		r.Remedy = s.remedy(r.Range)
	}
	return r
}

// outcome judges a value with a range.
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

// mean returns the mean of the value over runs, and of the ends of its range; NaN if one run has no value.
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

// value returns the value of a run and its range.
func (g *Gate) value(run *metric.Run) (float64, metric.Range) {
	s := run.Profiling
	if g.Tag == errorRate {
		v := 100 * float64(s.Failed) / float64(s.Valid+s.Failed)
		return v, metric.Range{Low: v, High: v}
	}
	v := s.Value(g.Tag, g.Stat)
	return v, rangeOf(run.Validity, s, g.Tag, g.Stat, v)
}
