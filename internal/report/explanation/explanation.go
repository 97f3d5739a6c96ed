// Package explanation compares the slow requests of a finished run with the others, over everything that the files of the run say about each request.
// It says what goes together with being slow, and never what caused it.
package explanation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/association"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
)

// Options says what is explained.
type Options struct {
	Metric string  // a metric with one value per request
	Level  float64 // percentile from which a request is slow; 0 = the highest of 99, 95 and 90 with enough slow requests
	Low    bool    // the requests below the percentile are the slow ones, for metrics of which more is better
	Model  bool    // also fit the model of the server
}

// Explanation is what goes together with being slow in a run.
type Explanation struct {
	Metric    *metric.Metric
	Unit      string
	Level     float64 // percentile
	Low       bool
	Lowered   bool    // the level is not the first that was tried
	Threshold float64 // in Unit
	Slow      int     // requests beyond the threshold
	Rest      int
	Failed    int // requests without a value because they failed; they are not compared
	Median    [2]float64
	Seconds   float64   // from the first to the last start
	Facts     []Finding // all tested facts, the strongest first
	Bunches   Bunches
	Missing   []string // what the run does not contain, and how to record it
	Server    *ServerModel
}

// Finding is a fact and how it goes together with being slow.
type Finding struct {
	Name  string // key for programs
	Label string // for people
	Unit  string // "" for two-valued facts
	// Definition says why the metric contains the fact, so that an association is expected; "" = it does not.
	Definition string
	TwoValued  bool
	Sentence   string
	association.Finding
}

// Bunches is how slow requests lie in time.
type Bunches struct {
	Count     int // of bunches of slow requests
	P, Holm   float64
	Together  bool // they are closer to each other than chance explains
	Stretches []association.Stretch
	Slow      int     // slow requests in the stretches
	Rest      int     // other requests in the stretches
	Share     float64 // of the time of the run
	Start     int64   // first start of a request, wall clock, ns
}

// DefaultMetric is explained if nothing else is asked for.
const DefaultMetric = "time_to_first_token"

// levels are the thresholds that are tried without an explicit one. A high one leaves the worst requests, but these may be of one or two bad moments,
// from which nothing can be learnt: the highest with enough bunches of slow requests is used.
var levels = []float64{99, 95, 90}

// fewestBunches is the number of bunches that is enough.
const fewestBunches = 10

// Explain compares the slow requests of a run with the others.
func Explain(run *runfiles.Run, o Options) (*Explanation, error) {
	q, err := run.Requests()
	if err != nil {
		return nil, err
	}
	e := &Explanation{}
	v, err := e.choose(q, o)
	if err != nil {
		return nil, err
	}
	p, err := e.split(q, v, o)
	if err != nil {
		return nil, err
	}
	sum, err := run.Summary()
	if err != nil && !isMissing(err) {
		return nil, err
	}
	c := newCollector(e, run, q, sum, p)
	if err := c.collect(); err != nil {
		return nil, err
	}
	e.rank(c, p)
	if o.Model {
		e.Server = c.serverModel()
	}
	return e, nil
}

// Named returns the significant findings, without those that the metric contains by definition.
func (e *Explanation) Named() (list []*Finding) {
	for i := range e.Facts {
		if f := &e.Facts[i]; f.Significant() && f.Definition == "" {
			list = append(list, f)
		}
	}
	return list
}

// Defined returns the significant findings that are expected, because the metric contains them.
func (e *Explanation) Defined() (list []*Finding) {
	for i := range e.Facts {
		if f := &e.Facts[i]; f.Significant() && f.Definition != "" {
			list = append(list, f)
		}
	}
	return list
}

// population is the compared requests, in the order of their starts.
type population struct {
	index  []int     // in the records
	values []float64 // of the metric
	slow   []bool
}

// split divides the requests at the threshold.
func (e *Explanation) split(q *runfiles.Requests, v []float64, o Options) (*population, error) {
	p := &population{}
	for i := range q.Len() {
		switch {
		case q.Warmup[i] || q.Cancelled[i]:
		case q.Failure[i] != "":
			e.Failed++
		case !math.IsNaN(v[i]):
			p.index = append(p.index, i)
		}
	}
	slices.SortStableFunc(p.index, func(a, b int) int { return cmp.Compare(q.Start[a], q.Start[b]) })
	for _, i := range p.index {
		p.values = append(p.values, v[i])
	}
	if err := e.threshold(p.values, o); err != nil {
		return nil, err
	}
	var of [2][]float64
	p.slow = make([]bool, len(p.values))
	for i, x := range p.values {
		k := 0
		if p.slow[i] = e.isSlow(x); p.slow[i] {
			k = 1
		}
		of[k] = append(of[k], x)
	}
	e.Rest, e.Slow = len(of[0]), len(of[1])
	for k := range of {
		slices.Sort(of[k])
		e.Median[k] = percentile(of[k], 50)
	}
	e.Seconds = float64(q.Start[p.index[len(p.index)-1]]-q.Start[p.index[0]]) / 1e9
	return p, nil
}

// isSlow reports whether a value is beyond the threshold.
func (e *Explanation) isSlow(v float64) bool {
	if e.Low {
		return v < e.Threshold
	}
	return v > e.Threshold
}

// rank tests all facts, and whether the slow requests came together.
func (e *Explanation) rank(c *collector, p *population) {
	starts := make([]int64, len(p.index))
	for i, k := range p.index {
		starts[i] = c.q.Start[k]
	}
	b := &e.Bunches
	b.Count = association.Bunches(p.slow)
	b.P, b.Start = association.Bunching(p.slow), starts[0]
	tested := make([]association.Fact, len(c.facts))
	for i := range c.facts {
		tested[i] = c.facts[i].Fact
	}
	ranked, more := association.Rank(p.slow, tested, b.P)
	b.Holm = more[0]
	for _, f := range ranked {
		of := &c.facts[f.Fact]
		one := Finding{Name: of.name, Label: of.label, Unit: of.unit, TwoValued: of.TwoValued, Definition: e.definition(of.name), Finding: f}
		one.Sentence = sentence(of, &one)
		e.Facts = append(e.Facts, one)
	}
	if b.Together = b.Holm <= association.Level && e.Seconds > 0; b.Together {
		b.Stretches = association.Stretches(starts, p.slow)
		for _, s := range b.Stretches {
			b.Slow, b.Rest = b.Slow+s.Slow, b.Rest+s.Rest
			b.Share += float64(s.To-s.From) / 1e9 / e.Seconds
		}
	}
}

// isMissing reports whether a run has no file of this kind.
func isMissing(err error) bool { return errors.Is(err, runfiles.ErrNone) || errors.Is(err, fsNotExist) }

// tooFew is the error of a run with too few requests for a threshold.
func (e *Explanation) tooFew(have, need int) error {
	failed := ""
	if e.Failed > 0 {
		failed = fmt.Sprintf(" (%d failed)", e.Failed)
	}
	return fmt.Errorf("the run has %s with a value of %s%s, too few to explain its p%g: at least %d are needed, so that %d are slow",
		plural(have, "request"), e.Metric.Tag, failed, e.Level, need, association.FewestSlow)
}
