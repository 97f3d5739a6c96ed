// Package gate judges finished runs by conditions that must not hold, for machines that wait for an exit status: gates, JUnit files,
// summaries of GitHub steps.
package gate

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"aiperf/internal/metric"
	"aiperf/internal/setting"
	"aiperf/internal/suggest"
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
const errorRate = "error_rate"

var pattern = regexp.MustCompile(`^\s*([a-z0-9_]+)\s*(?::\s*([a-z0-9]+))?\s*(>=|<=|>|<)\s*([-+0-9.eE]+)\s*(%|[a-zA-Zµ][a-zA-Z/]*)?\s*$`)

// Parse reads a condition.
func Parse(text string) (Gate, error) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, fmt.Errorf("%q is no condition; write metric:stat>limit, as time_to_first_token:p99>200 or error_rate>1", text)
	}
	g := Gate{Text: strings.TrimSpace(text), Tag: m[1], Op: m[3]}
	var err error
	if g.Limit, err = strconv.ParseFloat(m[4], 64); err != nil {
		return g, fmt.Errorf("%q: %s is not a number", text, m[4])
	}
	name := m[2]
	if name == "" {
		name = "avg"
	}
	var ok bool
	if g.Stat, ok = metric.StatByName(name); !ok {
		return g, fmt.Errorf("%q: there is no statistic %s; known are avg, min, max, std and p1 to p99", text, name)
	}
	if _, known := metric.Lookup(g.Tag); !known && g.Tag != errorRate {
		names := []string{errorRate}
		for _, one := range metric.All() {
			names = append(names, one.Tag)
		}
		hint := ""
		if near := suggest.Name(g.Tag, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return g, fmt.Errorf("%q: there is no metric %s%s", text, g.Tag, hint)
	}
	return g, g.check(m[5])
}

// check takes a limit in another unit of time over, and refuses a unit that is not the metric's and a statistic that it never has.
func (g *Gate) check(unit string) error {
	if own := g.unit(); unit != "" && !strings.EqualFold(unit, own) && !g.convert(unit, own) {
		if own == "" {
			own = "plain numbers"
		}
		return fmt.Errorf("%q: limits of %s are in %s, not in %s", g.Text, g.Tag, own, unit)
	}
	m, _ := metric.Lookup(g.Tag)
	if single := g.Tag == errorRate || m.Kind == metric.Derived; single && g.Stat != metric.Avg {
		return fmt.Errorf("%q: %s is one value of a run, without %s; write %s%s%g", g.Text, g.Tag, g.Stat, g.Tag, g.Op, g.Limit)
	}
	return nil
}

// convert turns the limit from one unit of time into another; false: they are not both units of time.
func (g *Gate) convert(from, to string) bool {
	a, ok1 := setting.UnitSeconds(from)
	b, ok2 := setting.UnitSeconds(to)
	if ok1 && ok2 {
		g.Limit *= a / b
	}
	return ok1 && ok2
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
