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

var pattern = regexp.MustCompile(`^\s*([a-z0-9_]+)\s*(?::\s*([a-z0-9]+))?\s*(>=|<=|>|<)\s*([-+0-9.eE]+)\s*(%|[a-zA-Z][a-zA-Z/]*)?\s*$`)

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

// check refuses a unit that is not the metric's, and a statistic that it never has.
func (g *Gate) check(unit string) error {
	if own := g.unit(); unit != "" && !strings.EqualFold(unit, own) {
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

// Subject is what is judged: a run, or a cell of a sweep.
type Subject struct {
	Name string // "" = the one run
	Runs []*metric.Run
	// Fault says why there is no result, empty: there is one.
	Fault string
}

// Result is what came of one gate for one subject.
type Result struct {
	Gate    *Gate
	Subject string
	Value   float64 // the mean over the runs; NaN: not measured
	Unit    string
	Failed  bool
}

// Judge tries every gate on every subject. What was not measured fails: nobody can say that it was kept.
func Judge(gates []Gate, subjects []Subject) (list []Result) {
	for _, s := range subjects {
		for i := range gates {
			g := &gates[i]
			r := Result{Gate: g, Subject: s.Name, Value: g.mean(s.Runs), Unit: g.unit()}
			r.Failed = math.IsNaN(r.Value) || g.hit(r.Value)
			list = append(list, r)
		}
	}
	return list
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

// mean is the mean of the value over runs, NaN when one lacks it.
func (g *Gate) mean(runs []*metric.Run) float64 {
	if len(runs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, r := range runs {
		s := r.Profiling
		if g.Tag == errorRate {
			sum += 100 * float64(s.Failed) / float64(s.Valid+s.Failed)
		} else {
			sum += s.Value(g.Tag, g.Stat)
		}
	}
	return sum / float64(len(runs))
}

// Sentence says what came of a gate.
func (r *Result) Sentence() string {
	of := ""
	if r.Subject != "" {
		of = r.Subject + ": "
	}
	name := r.Gate.Tag
	if r.Gate.Tag != errorRate {
		name += " " + r.Gate.Stat.String()
	}
	switch {
	case math.IsNaN(r.Value):
		return fmt.Sprintf("%s%s was not measured, so %q cannot be ruled out", of, name, r.Gate.Text)
	case r.Failed:
		return fmt.Sprintf("%s%s is %s %s: %s", of, name, figure(r.Value), r.Unit, r.Gate.Text)
	}
	return fmt.Sprintf("%s%s is %s %s: not %s", of, name, figure(r.Value), r.Unit, r.Gate.Text)
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Failures counts the gates that failed.
func Failures(list []Result) (n int) {
	for i := range list {
		if list[i].Failed {
			n++
		}
	}
	return n
}
