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
	points []curvePoint // in the order of their instants
	zero   int64
}

// curvePoint is an event of a curve. In a finished curve each value includes those of all earlier events.
type curvePoint struct {
	at   int64
	step float64
	rate float64 // per ns
	turn float64 // sum of rate x (instant - zero)
}

func newCurve(points []curvePoint, zero int64) *curve {
	sorting.Stable(points, func(a, b curvePoint) int { return cmp.Compare(a.at, b.at) })
	var sum curvePoint
	for i := range points {
		p := &points[i]
		sum = curvePoint{p.at, sum.step + p.step, sum.rate + p.rate, sum.turn + p.rate*float64(p.at-zero)}
		*p = sum
	}
	return &curve{points: points, zero: zero}
}

// value returns the value just before an instant.
func (c *curve) value(at int64) float64 {
	k := sort.Search(len(c.points), func(i int) bool { return c.points[i].at >= at }) - 1
	if k < 0 {
		return 0
	}
	p := &c.points[k]
	return p.step + p.rate*float64(at-c.zero) - p.turn
}

// flight makes the curves of what was in flight over time, of the requests of one server or of all: failed ones and warm-up included.
type flight struct {
	c               *collector
	index           []int // the chosen records
	isl, osl, fresh []float64
}

// stay is when a request was in flight and what it brought.
type stay struct {
	start, first, end int64 // first: of the first token
	in, fresh, out    float64
}

// flights chooses the records of the curves.
func (c *collector) flights(chosen func(i int) bool) *flight {
	f := &flight{c: c, fresh: c.fresh()}
	f.osl, _ = c.q.Column("output_sequence_length")
	f.isl, _ = c.q.Column("input_sequence_length")
	for i := range c.q.Len() {
		if chosen(i) {
			f.index = append(f.index, i)
		}
	}
	return f
}

// curve makes the curve of the events that add appends for each request.
func (f *flight) curve(add func(list []curvePoint, s *stay) []curvePoint) *curve {
	q := f.c.q
	known := func(v []float64, i int) float64 {
		if v == nil || math.IsNaN(v[i]) {
			return 0
		}
		return v[i]
	}
	list := make([]curvePoint, 0, 2*len(f.index))
	for _, i := range f.index {
		s := stay{start: q.Start[i], first: f.c.first[i], end: max(q.End[i], q.Start[i]+1), in: known(f.isl, i), fresh: known(f.fresh, i), out: known(f.osl, i)}
		if s.first == 0 || s.first > s.end {
			s.first = s.end
		}
		s.first = max(s.first, s.start+1)
		list = add(list, &s)
	}
	return newCurve(list, slices.Min(q.Start))
}

// requests is the number of requests in flight.
func (f *flight) requests() *curve {
	return f.curve(func(list []curvePoint, s *stay) []curvePoint {
		return append(list, curvePoint{at: s.start, step: 1}, curvePoint{at: s.end, step: -1})
	})
}

// prefill is the number of requests in flight before their first token.
func (f *flight) prefill() *curve {
	return f.curve(func(list []curvePoint, s *stay) []curvePoint {
		return append(list, curvePoint{at: s.start, step: 1}, curvePoint{at: s.first, step: -1})
	})
}

// ahead is the number of input tokens of requests in flight before their first token.
func (f *flight) ahead() *curve {
	return f.curve(func(list []curvePoint, s *stay) []curvePoint {
		return append(list, curvePoint{at: s.start, step: s.fresh}, curvePoint{at: s.first, step: -s.fresh})
	})
}

// tokens is the number of input and output tokens of the requests in flight.
func (f *flight) tokens() *curve {
	return f.curve(func(list []curvePoint, s *stay) []curvePoint {
		list = append(list, curvePoint{at: s.start, step: s.in}, curvePoint{at: s.end, step: -s.in})
		if s.first < s.end && s.out > 0 {
			each := s.out / float64(s.end-s.first)
			list = append(list, curvePoint{at: s.first, rate: each}, curvePoint{at: s.end, step: -s.out, rate: -each})
		}
		return list
	})
}

// worked is the number of input tokens prefilled so far, each prompt evenly from the start to the first token.
func (f *flight) worked() *curve {
	return f.curve(func(list []curvePoint, s *stay) []curvePoint {
		each := s.fresh / float64(s.first-s.start)
		return append(list, curvePoint{at: s.start, rate: each}, curvePoint{at: s.first, rate: -each})
	})
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
	add(fact{name: "requests_in_flight", label: "other requests in flight " + at, unit: "requests", what: phrase + " while others were in flight"}, all.requests(), one)
	if has(c.q, "time_to_first_token") {
		self := none
		if c.decode {
			self = one // value is that just before the first token
		}
		add(fact{name: "requests_in_prefill", label: "requests in prefill " + at, unit: "requests", what: phrase + " while others were in prefill"}, all.prefill(), self)
		if fresh := c.fresh(); fresh != nil {
			before := none
			if c.decode {
				before = func(k int) float64 { return fresh[c.index[k]] }
			}
			add(fact{name: "prefill_tokens_ahead", label: "input tokens of requests in prefill " + at, unit: "tokens"}, all.ahead(), before)
		}
	}
	if isl, ok := c.q.Column("input_sequence_length"); ok {
		self := none
		if c.decode {
			self = func(k int) float64 { return isl[c.index[k]] }
		}
		add(fact{name: "tokens_in_flight", label: "tokens of other requests in flight " + at, unit: "tokens"}, all.tokens(), self)
	}
	urls := c.urls()
	if len(urls) < 2 {
		return
	}
	same := make([]*curve, len(urls))
	for n := range urls {
		same[n] = c.flights(func(i int) bool { return c.q.URL[i] == n }).requests()
	}
	c.number(fact{name: "requests_in_flight_same_server", label: "other requests in flight at the same server " + at}, func(k, i int) float64 {
		if n := c.q.URL[i]; n < len(same) {
			return math.Max(0, same[n].value(c.origin[k])-own)
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
