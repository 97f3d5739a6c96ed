package capacity

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"aiperf/internal/base/testhome"
)

// unreliable is a queue that fails a share of the requests at any load, and whose requests take twice as long from a cell on.
type unreliable struct {
	queue
	fails  float64
	stepAt int // 0 = never
	cells  int
}

// Cell implements Server.
func (u *unreliable) Cell(_ context.Context, load float64, looks []float64, done func(float64, []Request) bool) (LoadFidelity, error) {
	q := u.queue
	if u.cells++; u.stepAt > 0 && u.cells >= u.stepAt {
		q.service *= 2
	}
	list := q.run(load, looks[len(looks)-1])
	for i := range list {
		if r := &list[i]; q.r.Float64() < u.fails {
			r.Values[0], r.End, r.Known[0] = math.Inf(1), r.Start+.01, r.Start+.01
		}
	}
	show(list, looks, done)
	return LoadFidelity{}, nil
}

// TestNoFalseCapacity: there is no capacity and no lower bound if requests miss the objective at any load, or if the server is not the same any more when the answer is
// confirmed.
func TestNoFalseCapacity(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		name string
		s    unreliable
		seed uint64
		want string
	}{
		{"a steady server", unreliable{}, 1, Settled},
		{"half of the requests fail", unreliable{fails: .5}, 0, NotMet},
		{"8 % of the requests fail", unreliable{fails: .08}, 0, NotMet},
		{"8 % of the requests fail, and the cells are used up", unreliable{fails: .08}, 2, Many},
		{"half as fast from the eighth cell on", unreliable{stepAt: 8}, 1, Unsteady},
	} {
		c.s.queue = queue{r: rand.New(rand.NewPCG(c.seed, 2)), places: 4, service: .1, limit: .25}
		a, err := Find(t.Context(), &c.s, Options{Objectives: []Objective{{"latency", .25, .05}}, Precision: .07, Seconds: 600, Cells: 40, Size: 10, MaxLooks: 4})
		if err != nil {
			t.Fatal(err)
		}
		if settled := c.want == Settled; a.Why != c.want || settled != (a.AtLeast > 0) || settled != (a.Low > 0) || (a.Capacity > 0) != (settled || c.want == Many) {
			t.Errorf("%s: %s, capacity %g (%g to %g), at least %g, want %s", c.name, a.Why, a.Capacity, a.Low, a.High, a.AtLeast, c.want)
		}
		if c.want == NotMet && (a.Below.N < 20 || a.Below.Bad <= a.Below.Allowed || a.Below.Highest <= 0) {
			t.Errorf("%s: the answer rests on %+v", c.name, a.Below)
		}
	}
}

// TestEvidence: a share counts as met if it is certainly below the allowed one, or if it is at most that and well known.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		n, bad        float64
		meets, misses bool
	}{
		{0, 0, false, false},
		{50, 0, false, false}, // 0 of 50: at most 7.1 %
		{75, 0, true, false},  // at most 4.8 %
		{200, 8, false, false},
		{200, 5, true, false}, // half of what is allowed
		{400, 18, true, false},
		{400, 22, false, false},
		{400, 40, false, true},
	} {
		p := newPosterior(0, 1, .05)
		if c.n > 0 {
			p.put(observation{x: .5, share: c.bad / c.n, n: c.n, seconds: 10})
		}
		p.put(observation{x: .9, share: 1, n: 1000, seconds: 10}) // above the load in question
		if e := p.evidence(.6); e.meets() != c.meets || e.misses() != c.misses || e.N != int(c.n) {
			t.Errorf("%g of %g: %+v meets %t, misses %t", c.bad, c.n, e, e.meets(), e.misses())
		}
	}
}

// TestAtLeast: a load counts as met if its own requests and those of higher loads show it. A short cell alone does not.
func TestAtLeast(t *testing.T) {
	p := newPosterior(0, 3, .05)
	for _, c := range []struct {
		load, n float64
		want    float64
	}{
		{2, 400, 2}, {4, 20, 2}, // at 2 and above 0 of 420 are bad, at 4 alone 0 of 20
		{8, 30, 2}, {8, 30, 4}, // 0 of 80 at 4 and above
		{8, 20, 8}, // 0 of 80 at 8
	} {
		p.put(observation{x: math.Log(c.load), n: c.n, seconds: 10})
		if got := p.atLeast(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("after %g requests at %g: %g, want %g", c.n, c.load, got, c.want)
		}
	}
}
