package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCurve(t *testing.T) {
	var s Steps
	s.Span(10, 30, 1)
	s.Span(20, 40, 1)
	s.Span(40, 40, 7) // no time, no trace
	c := new(Running).Curve(s)
	want := Curve{{10, 1}, {20, 2}, {30, 1}, {40, 0}}
	if len(c) != len(want) {
		t.Fatalf("%v", c)
	}
	for i := range want {
		if c[i] != want[i] {
			t.Errorf("point %d is %v, not %v", i, c[i], want[i])
		}
	}
	w := Weigh(c.Segments(nil, 0, 50)) // 0 for 20 ns, 1 for 20, 2 for 10
	if w.Avg != 0.8 || w.Min != 0 || w.Max != 2 || w.P50 != 1 || w.P90 != 2 || math.Abs(w.Std-math.Sqrt(0.56)) > 1e-15 {
		t.Errorf("%+v", w)
	}
	if w := Weigh(c.Within(nil, c, 0, 50)); w.Avg != 4.0/3 || w.Min != 1 {
		t.Errorf("active: %+v", w)
	}
	if w := Weigh(c.Within(nil, c, 41, 50)); w != (TimeWeighted{}) {
		t.Errorf("nothing active: %+v", w)
	}
	if w := Weigh(c.Segments(nil, 25, 35)); w.Avg != 1.5 {
		t.Errorf("inner window: %+v", w)
	}
	if w := Weigh(c.Segments(nil, 50, 50)); w != (TimeWeighted{}) {
		t.Errorf("no window: %+v", w)
	}
}

func TestPer(t *testing.T) {
	rate := Curve{{0, 10}, {20, 30}, {40, 0}}
	users := Curve{{10, 2}, {30, 0}}
	got := rate.Per(users, nil)
	for _, c := range []struct {
		at   int64
		want float64
	}{{0, 0}, {10, 5}, {20, 15}, {30, 0}, {40, 0}} {
		v := 0.0
		for _, p := range got {
			if p.T <= c.at {
				v = p.V
			}
		}
		if v != c.want {
			t.Errorf("at %d: %v, not %v", c.at, v, c.want)
		}
	}
}

// TestCurveAgainstSampling compares the integral with one made ns by ns.
func TestCurveAgainstSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type span struct {
			a, b int64
			r    float64
		}
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span {
			a := rapid.Int64Range(0, 50).Draw(t, "from")
			return span{a, a + rapid.Int64Range(0, 30).Draw(t, "len"), float64(rapid.IntRange(1, 9).Draw(t, "rate"))}
		}), 1, 12).Draw(t, "spans")
		var s Steps
		for _, x := range spans {
			s.Span(x.a, x.b, x.r)
		}
		from, to := rapid.Int64Range(-5, 40).Draw(t, "window from"), rapid.Int64Range(41, 90).Draw(t, "window to")
		got := Weigh(new(Running).Curve(s).Segments(nil, from, to))
		sum, top := 0.0, 0.0
		for at := from; at < to; at++ {
			v := 0.0
			for _, x := range spans {
				if x.a <= at && at < x.b {
					v += x.r
				}
			}
			sum += v
			top = max(top, v)
		}
		if math.Abs(got.Avg-sum/float64(to-from)) > 1e-12*math.Max(1, got.Avg) || got.Max != top {
			t.Fatalf("avg %v max %v, not %v %v", got.Avg, got.Max, sum/float64(to-from), top)
		}
	})
}

// TestWithinAgainstSampling compares what a mask leaves of a curve with one made ns by ns.
func TestWithinAgainstSampling(t *testing.T) {
	type span struct{ a, b int64 }
	draw := func(t *rapid.T, name string) []span {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span {
			a := rapid.Int64Range(0, 50).Draw(t, "from")
			return span{a, a + rapid.Int64Range(0, 30).Draw(t, "len")}
		}), 0, 8).Draw(t, name)
	}
	curve := func(list []span) (Curve, func(int64) float64) {
		var s Steps
		for _, x := range list {
			s.Span(x.a, x.b, 1)
		}
		return new(Running).Curve(s), func(at int64) (v float64) {
			for _, x := range list {
				if x.a <= at && at < x.b {
					v++
				}
			}
			return v
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c, value := curve(draw(t, "curve"))
		mask, open := curve(draw(t, "mask"))
		from, to := rapid.Int64Range(-5, 60).Draw(t, "window from"), rapid.Int64Range(-5, 90).Draw(t, "window to")
		var ns int64
		var sum float64
		for at := from; at < to; at++ {
			if open(at) > 0 {
				ns++
				sum += value(at)
			}
		}
		var gotNs int64
		var got float64
		for _, x := range c.Within(nil, mask, from, to) {
			gotNs += x.Dt
			got += float64(x.Dt) * x.V
		}
		if gotNs != ns || got != sum {
			t.Fatalf("%d ns with an integral of %v, not %d and %v", gotNs, got, ns, sum)
		}
	})
}

// TestRestsOfRounding: a rest from rounding counts as 0; a value of a millionth of the largest one stays.
func TestRestsOfRounding(t *testing.T) {
	var s Steps
	s.Add(0, 1e6)
	s.Add(1, 1-1e6)
	s.Add(2, -1)
	s.Add(3, 0.1)
	s.Add(3, 0.2)
	s.Add(4, -0.3)
	c := new(Running).Curve(s)
	for i, want := range []float64{1e6, 1, 0} {
		if c[i].V != want {
			t.Errorf("value %d is %v, want %v", i, c[i].V, want)
		}
	}
	if last := c[len(c)-1]; last.V != 0 {
		t.Errorf("0.1 + 0.2 - 0.3 leaves %v, want 0", last.V)
	}
}

// TestPerHasNoRepeats: a quotient that does not change gives one point.
func TestPerHasNoRepeats(t *testing.T) {
	c := Curve{{0, 2}, {1, 4}, {2, 6}}.Per(Curve{{0, 1}, {1, 2}, {2, 3}}, nil)
	if len(c) != 1 || c[0] != (Point{0, 2}) {
		t.Errorf("%v, want one point of 2", c)
	}
}

// TestWeighLikeSorting: the levels are those of the sorted segments, also with equal values and with lengths of any size.
func TestWeighLikeSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "values")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Segment {
			return Segment{rapid.Int64Range(1, 1e9).Draw(t, "Dt"), float64(rapid.IntRange(0, values).Draw(t, "V"))}
		}), 1, 200).Draw(t, "segments")
		sorted := slices.Clone(list)
		slices.SortFunc(sorted, func(a, b Segment) int { return cmp.Compare(a.V, b.V) })
		var total int64
		for _, x := range sorted {
			total += x.Dt
		}
		level := func(share float64) float64 {
			var passed int64
			for _, x := range sorted {
				if passed += x.Dt; float64(passed)/float64(total) >= share {
					return x.V
				}
			}
			return math.NaN()
		}
		got := Weigh(list)
		want := [6]float64{sorted[0].V, sorted[len(sorted)-1].V, level(0.5), level(0.9), level(0.95), level(0.99)}
		if have := [6]float64{got.Min, got.Max, got.P50, got.P90, got.P95, got.P99}; have != want {
			t.Errorf("%v, want %v", have, want)
		}
	})
}

// BenchmarkWeigh describes the curves of a long run: random values, and whole numbers that rise and fall.
func BenchmarkWeigh(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, value := range map[string]func(i int) float64{
		"random": func(int) float64 { return r.Float64() },
		"waves":  func(i int) float64 { return float64(min(i%1000, 1000-i%1000)) },
		"rising": func(i int) float64 { return float64(i) },
	} {
		b.Run(name, func(b *testing.B) {
			list := make([]Segment, 1_000_000)
			for i := range list {
				list[i] = Segment{1 + r.Int64N(100_000), value(i)}
			}
			again := make([]Segment, len(list))
			for b.Loop() {
				copy(again, list)
				Weigh(again)
			}
		})
	}
}
