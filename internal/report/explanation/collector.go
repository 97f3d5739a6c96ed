package explanation

import (
	"math"
	"slices"

	"aiperf/internal/measure/association"
	"aiperf/internal/report/runfiles"
)

// fact is a fact with its words.
type fact struct {
	association.Fact
	name, label, unit string
	// what says for sentences: of a two-valued fact, what is true of a request with the value 1 ("went to http://b"); of a number with many zeros, what is
	// true above 0. "" = the sentence compares medians.
	what string
	verb string // auxiliary of what: were, had, did
}

// collector collects facts of the compared requests.
type collector struct {
	*population
	e   *Explanation
	run *runfiles.Run
	q   *runfiles.Requests
	sum *runfiles.Summary // nil = the run has none

	decode bool    // the metric is about the time after the first token
	window float64 // median length of what the metric measures, ns: events up to here after the origin can matter
	origin []int64 // when what the metric measures begins, by compared request: wall clock, ns
	first  []int64 // first token of every record; 0 = none
	facts  []fact
}

// decoding lists the metrics whose time begins with the first token.
var decoding = map[string]bool{
	"inter_token_latency": true, "decode_duration": true, "output_token_throughput_per_user": true, "time_to_second_token": true,
}

func newCollector(e *Explanation, run *runfiles.Run, q *runfiles.Requests, sum *runfiles.Summary, p *population) *collector {
	c := &collector{population: p, e: e, run: run, q: q, sum: sum, decode: decoding[e.Metric.Tag]}
	c.first = firstTokens(q)
	if c.decode && !q.Has("time_to_first_token") {
		c.decode = false
	}
	var lengths []float64
	for k, i := range p.index {
		at := q.Start[i]
		if c.decode && c.first[i] > 0 {
			at = c.first[i]
		}
		c.origin = append(c.origin, at)
		switch {
		case e.Unit == "ms" && !c.decode:
			lengths = append(lengths, p.values[k]*1e6)
		default:
			lengths = append(lengths, float64(q.End[i]-at))
		}
	}
	slices.Sort(lengths)
	c.window = max(1e6, percentile(lengths, 50))
	return c
}

// firstTokens returns when the first token of every record came, in ns of the wall clock; 0 = never.
func firstTokens(q *runfiles.Requests) []int64 {
	first := make([]int64, q.Len())
	ttft, ok := q.Column("time_to_first_token")
	for i := range first {
		if ok && !math.IsNaN(ttft[i]) {
			first[i] = q.Start[i] + int64(ttft[i]*1e6)
		}
	}
	return first
}

// collect collects all facts that the files have.
func (c *collector) collect() error {
	c.request()
	c.load()
	c.pauses()
	c.connection()
	c.servers()
	if err := c.prefixes(); err != nil {
		return err
	}
	if err := c.gauges(); err != nil {
		return err
	}
	return c.gpus()
}

// number adds a numeric fact; values returns that of a record.
func (c *collector) number(f fact, value func(k, i int) float64) {
	f.Values = make([]float64, len(c.index))
	for k, i := range c.index {
		f.Values[k] = value(k, i)
	}
	c.facts = append(c.facts, f)
}

// column adds a metric of the records as a fact; without the metric it adds nothing.
func (c *collector) column(tag string, f fact) {
	if v, ok := c.q.Column(tag); ok && tag != c.e.Metric.Tag {
		f.name = tag
		c.number(f, func(_, i int) float64 { return v[i] })
	}
}

// truth converts a bool to a value of a two-valued fact.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// when returns the words for the instant of a request at which its surroundings are looked at.
func (c *collector) when() (verb, phrase string) {
	if c.decode {
		return "had", "had their first token"
	}
	return "were", "were sent"
}

// missing notes what the run does not contain.
func (c *collector) missing(text string) { c.e.Missing = append(c.e.Missing, text) }
