package explanation

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/association"
)

// curve is a sum of steps and ramps over time: of the requests in flight, or of their tokens. It is exact at every instant.
type curve struct {
	at   []int64
	step []float64 // sum of the steps up to at[i], included
	rate []float64 // sum of the rates per ns up to at[i], included
	turn []float64 // sum of rate x (instant - zero)
	zero int64
}

// curvePoint is an event of a curve.
type curvePoint struct {
	at         int64
	step, rate float64
}

func newCurve(list []curvePoint, zero int64) *curve {
	sorting.Stable(list, func(a, b curvePoint) int { return cmp.Compare(a.at, b.at) })
	c := &curve{zero: zero}
	var step, rate, turn float64
	for _, e := range list {
		step, rate, turn = step+e.step, rate+e.rate, turn+e.rate*float64(e.at-zero)
		c.at, c.step, c.rate, c.turn = append(c.at, e.at), append(c.step, step), append(c.rate, rate), append(c.turn, turn)
	}
	return c
}

// value returns the value just before an instant.
func (c *curve) value(at int64) float64 {
	k := sort.Search(len(c.at), func(i int) bool { return c.at[i] >= at }) - 1
	if k < 0 {
		return 0
	}
	return c.step[k] + c.rate[k]*float64(at-c.zero) - c.turn[k]
}

// flight holds what was in flight over time, of the requests of one server or of all.
type flight struct {
	requests *curve // requests in flight
	prefill  *curve // of these before their first token; nil = unknown
	ahead    *curve // input tokens of these
	tokens   *curve // input and output tokens of the requests in flight
	worked   *curve // input tokens prefilled so far, each evenly from the start to the first token
}

// flights computes the curves over the chosen records, failed ones and warm-up included.
func (c *collector) flights(chosen func(i int) bool) *flight {
	q, fresh := c.q, c.fresh()
	osl, _ := q.Column("output_sequence_length")
	isl, _ := q.Column("input_sequence_length")
	known := func(v []float64, i int) float64 {
		if v == nil || math.IsNaN(v[i]) {
			return 0
		}
		return v[i]
	}
	var requests, prefill, ahead, tokens, worked []curvePoint
	zero := slices.Min(q.Start)
	for i := range q.Len() {
		if !chosen(i) {
			continue
		}
		start, end := q.Start[i], max(q.End[i], q.Start[i]+1)
		first := c.first[i]
		if first == 0 || first > end {
			first = end
		}
		first = max(first, start+1)
		in, out := known(isl, i), known(osl, i)
		requests = append(requests, curvePoint{at: start, step: 1}, curvePoint{at: end, step: -1})
		prefill = append(prefill, curvePoint{at: start, step: 1}, curvePoint{at: first, step: -1})
		ahead = append(ahead, curvePoint{at: start, step: known(fresh, i)}, curvePoint{at: first, step: -known(fresh, i)})
		tokens = append(tokens, curvePoint{at: start, step: in}, curvePoint{at: end, step: -in})
		if first < end && out > 0 {
			each := out / float64(end-first)
			tokens = append(tokens, curvePoint{at: first, rate: each}, curvePoint{at: end, step: -out, rate: -each})
		}
		each := known(fresh, i) / float64(first-start)
		worked = append(worked, curvePoint{at: start, rate: each}, curvePoint{at: first, rate: -each})
	}
	f := &flight{requests: newCurve(requests, zero), tokens: newCurve(tokens, zero), worked: newCurve(worked, zero)}
	if has(q, "time_to_first_token") {
		f.prefill, f.ahead = newCurve(prefill, zero), newCurve(ahead, zero)
	}
	return f
}

// load adds what else was in flight at the origin of each request.
func (c *collector) load() {
	all := c.flights(func(int) bool { return true })
	_, phrase := c.when()
	verb, _ := c.when()
	own := truth(c.decode) // at its first token, a request is itself in flight
	add := func(f fact, of *curve, self func(k int) float64) {
		f.verb = verb
		c.number(f, func(k, _ int) float64 { return math.Max(0, math.Round((of.value(c.origin[k])-self(k))*1e3)/1e3) })
	}
	one := func(int) float64 { return own }
	none := func(int) float64 { return 0 }
	at := "when they " + phrase
	add(fact{name: "requests_in_flight", label: "other requests in flight " + at, unit: "requests", what: phrase + " while others were in flight"}, all.requests, one)
	if all.prefill != nil {
		self := none
		if c.decode {
			self = one // value is that just before the first token
		}
		add(fact{name: "requests_in_prefill", label: "requests in prefill " + at, unit: "requests", what: phrase + " while others were in prefill"}, all.prefill, self)
		if fresh := c.fresh(); fresh != nil {
			before := none
			if c.decode {
				before = func(k int) float64 { return fresh[c.index[k]] }
			}
			add(fact{name: "prefill_tokens_ahead", label: "input tokens of requests in prefill " + at, unit: "tokens"}, all.ahead, before)
		}
	}
	if isl, ok := c.q.Column("input_sequence_length"); ok {
		self := none
		if c.decode {
			self = func(k int) float64 { return isl[c.index[k]] }
		}
		add(fact{name: "tokens_in_flight", label: "tokens of other requests in flight " + at, unit: "tokens"}, all.tokens, self)
	}
	urls := c.urls()
	if len(urls) < 2 {
		return
	}
	same := make([]*flight, len(urls))
	for n := range urls {
		same[n] = c.flights(func(i int) bool { return c.q.URL[i] == n })
	}
	c.number(fact{name: "requests_in_flight_same_server", label: "other requests in flight at the same server " + at}, func(k, i int) float64 {
		if n := c.q.URL[i]; n < len(same) {
			return math.Max(0, same[n].requests.value(c.origin[k])-own)
		}
		return math.NaN()
	})
	c.withinServers(len(urls))
}

// withinServers replaces the values of the last fact by their places among the requests of the same server, in percent. A slow server always has more
// requests in flight; without this the fact would only repeat which server it was.
func (c *collector) withinServers(servers int) {
	f := &c.facts[len(c.facts)-1]
	f.label, f.unit, f.what = f.label+", compared with other requests of this server", "% of them lower", ""
	by := make([][]float64, servers)
	for k, i := range c.index {
		if n := c.q.URL[i]; n < servers && !math.IsNaN(f.Values[k]) {
			by[n] = append(by[n], f.Values[k])
		}
	}
	for _, list := range by {
		slices.Sort(list)
	}
	for k, i := range c.index {
		if n := c.q.URL[i]; n < servers && len(by[n]) > 0 && !math.IsNaN(f.Values[k]) {
			f.Values[k] = 100 * association.Place(by[n], f.Values[k])
		}
	}
}
