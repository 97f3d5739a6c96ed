package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSketch: exact while there are few values, within 0.05 % later; moments are exact always.
func TestSketch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	levels := []float64{0, 1, 50, 90, 99, 100}
	for _, c := range []struct {
		n    int
		most float64
	}{{1, 0}, {7, 0}, {4096, 0}, {4097, 5e-4}, {200_000, 5e-4}} {
		var s Sketch
		values := make([]float64, c.n)
		for i := range values {
			values[i] = math.Exp(r.NormFloat64()*2 + 18)
			s.Add(values[i])
		}
		slices.Sort(values)
		got := s.Percentiles(levels...)
		for i, l := range levels {
			if want := Percentile(values, l); math.Abs(got[i]-want) > (c.most+1e-12)*want {
				t.Errorf("%d values, p%v: %v, want %v", c.n, l, got[i], want)
			}
		}
		if want := Mean(values); math.Abs(s.Mean()-want) > 1e-9*want {
			t.Errorf("%d values: mean %v, want %v", c.n, s.Mean(), want)
		}
		if want := PopulationStd(values); math.Abs(s.Std()-want) > 1e-6*(want+1e-9) {
			t.Errorf("%d values: std %v, want %v", c.n, s.Std(), want)
		}
		n, last := int64(0), math.Inf(-1)
		s.Each(func(v float64, k int64) bool {
			if v < last {
				t.Errorf("%v after %v", v, last)
			}
			n, last = n+k, v
			return true
		})
		if n != int64(c.n) || s.Min != values[0] || s.Max != values[c.n-1] {
			t.Errorf("%d of %d values, from %v to %v", n, c.n, s.Min, s.Max)
		}
	}
}

func TestSketchOfZeros(t *testing.T) {
	var s Sketch
	if p := s.Percentiles(50); !math.IsNaN(p[0]) || !math.IsNaN(s.Mean()) || !math.IsNaN(s.Std()) {
		t.Errorf("of nothing: %v %v %v", p, s.Mean(), s.Std())
	}
	for range 3000 {
		s.Add(0)
		s.Add(100)
		s.Add(math.NaN())
	}
	if p := s.Percentiles(25, 75); s.Count != 6000 || p[0] != 0 || math.Abs(p[1]-100) > .05 {
		t.Errorf("%d values, quartiles %v", s.Count, p)
	}
}

// TestSketchOfBothSigns: negative values, zeros and positive ones keep their order and their precision when they are counted in buckets.
func TestSketchOfBothSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s Sketch
	values := make([]float64, 9000)
	for i := range values {
		switch i % 3 {
		case 0:
			values[i] = -math.Exp(r.NormFloat64())
		case 1:
			values[i] = math.Exp(r.NormFloat64())
		}
		s.Add(values[i])
	}
	slices.Sort(values)
	levels := []float64{0, 1, 25, 34, 50, 65, 75, 99, 100}
	for i, got := range s.Percentiles(levels...) {
		if want := Percentile(values, levels[i]); math.Abs(got-want) > 5e-4*math.Abs(want) {
			t.Errorf("p%v: %v, want %v", levels[i], got, want)
		}
	}
	var below Sketch
	for range 3000 {
		below.Add(-1)
		below.Add(0)
	}
	if p := below.Percentiles(25, 75, 100); math.Abs(p[0]+1) > 5e-4 || p[1] != 0 || p[2] != 0 {
		t.Errorf("half -1, half 0: %v", p)
	}
}
