package capacity

import (
	"context"
	"math"
	"slices"
	"testing"
)

// TestNotMetBeyondDoubt: one user alone breaks an objective when a tenth or more of its requests is bad and that is more than allowed beyond doubt.
func TestNotMetBeyondDoubt(t *testing.T) {
	for _, c := range []struct {
		bad, n  int
		allowed float64
		want    bool
	}{
		{10, 100, .01, true},
		{9, 100, .01, false},  // certainly more than 1 %, but not yet plainly
		{1, 3, .01, false},    // by chance
		{3, 3, .05, true},     // all of a few
		{10, 100, .1, false},  // as many as may
		{10, 100, .04, true},  // the lower limit is 4.9 %
		{10, 100, .06, false}, // it is not above 6 %
	} {
		list := make([]Request, c.n)
		for i := range list {
			list[i].Values = []float64{math.NaN(), 100} // at the limit is good; nobody knows the other figure
			if i < c.bad {
				list[i].Values[1] = 101
			}
		}
		s := &search{Options: Options{Objectives: []Objective{{"unknown", 1, 0}, {"latency", 100, c.allowed}}}}
		if name, broken := s.notMet(list); broken != c.want || broken && name != "latency" {
			t.Errorf("%d of %d bad, %g allowed: %v %q", c.bad, c.n, c.allowed, broken, name)
		}
	}
}

// observed is a server that records at which instants it is looked at.
type observed struct{ looks []float64 }

func (o *observed) Alone(context.Context) (float64, []Request, error) { return 1, nil, nil }

func (o *observed) Cell(_ context.Context, _ float64, looks []float64, done func(float64, []Request) bool) (LoadFidelity, error) {
	o.looks = slices.Clone(looks)
	for _, at := range looks {
		done(at, nil)
	}
	return LoadFidelity{}, nil
}

// TestLooks: a cell is looked at from its shortest length to its longest in equal factors, after the wash-in; once, at its end, when there is nothing to shorten.
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		looks             int
		shortest, longest float64
		want              []float64
	}{
		{1, 4, 32, []float64{35}},
		{4, 4, 32, []float64{7, 11, 19, 35}},
		{4, 10, 12, []float64{15}},
	} {
		var server observed
		s := &search{Options: Options{Objectives: []Objective{{"latency", 1, .01}}, MaxLooks: c.looks, Seconds: 1000}, server: &server, latency: .1, misses: map[float64]int{}}
		s.post = []*posterior{newPosterior(-1, 1, .01)}
		if _, err := s.cell(t.Context(), 0, c.shortest, c.longest, false); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(server.looks, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%d looks from %g to %g s: %v, want %v", c.looks, c.shortest, c.longest, server.looks, c.want)
		}
	}
}

// TestCellLine: the line of a cell gives the load with its unit, the outcome in words, and the time in which the client was paused.
func TestCellLine(t *testing.T) {
	for _, c := range []struct {
		cell       Cell
		unit, want string
	}{
		{Cell{Load: 15.271, Objective: "time_to_first_token p99 < 200 ms", Bad: .0248, N: 847, Seconds: 60, State: Open, Lost: .023}, "requests/s",
			"15.27 requests/s: undecided; 2.48 % of 847 requests missed time_to_first_token p99 < 200 ms in 60 s (this client was paused 2.3 % of the time)"},
		{Cell{Load: 8, Objective: "error_rate < 1 %", N: 100, Seconds: 5, State: Pass}, "users", "8 users: the objective is met; 0.00 % of 100 requests missed error_rate < 1 % in 5 s"},
		{Cell{Load: 14.47, Limited: true, State: Over}, "requests/s", "14.47 requests/s: not counted, because this client could not send that fast"},
	} {
		if got := c.cell.Line(c.unit); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
	for _, s := range []State{Over, Fail, Pass, Perhaps, Open} {
		if outcomes[s] == "" {
			t.Errorf("state %q has no words", s)
		}
	}
}

// shared is a server on which users share the time: with n users each request takes n×unit s.
type shared struct{ unit float64 }

func (s shared) Alone(context.Context) (float64, []Request, error) { return s.unit, nil, nil }

func (s shared) Cell(_ context.Context, users float64, looks []float64, done func(float64, []Request) bool) (LoadFidelity, error) {
	var list []Request
	took := users * s.unit
	for at := 0.0; at < looks[len(looks)-1]; at += took {
		for range int(users) {
			list = append(list, Request{Start: at, End: at + took, Values: []float64{took}, Known: []float64{at + took}})
		}
	}
	show(list, looks, done)
	return LoadFidelity{}, nil
}

// TestFewestUsers: no cell has fewer users than the fewest, and where those already miss an objective, the search says so.
func TestFewestUsers(t *testing.T) {
	for _, c := range []struct {
		fewest int
		why    string
		least  float64 // lowest load that was tried
	}{
		{0, Settled, 1},
		{4, Settled, 4},
		{16, NotMet, 16}, // ten users meet the limit, eleven miss it
	} {
		a, err := Find(t.Context(), shared{.01}, Options{
			Objectives: []Objective{{"latency", .105, .1}}, Concurrency: true, Fewest: c.fewest, Precision: .1, Seconds: 600, Cells: 40, Size: 10, MaxLooks: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for _, cell := range a.Cells {
			least = min(least, cell.Load)
		}
		if a.Why != c.why || math.Abs(least-c.least) > 1e-9 {
			t.Errorf("fewest %d: %s, lowest load %g", c.fewest, a.Why, least)
		}
		if want := c.why == Settled; want != (a.Capacity == 10) || a.Binding != "latency" {
			t.Errorf("fewest %d: capacity %g of %q", c.fewest, a.Capacity, a.Binding)
		}
	}
}
