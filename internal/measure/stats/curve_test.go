package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCurve(t *testing.T) {
	var s Steps
	s.Span(10, 30, 1)
	s.Span(20, 40, 1)
	s.Span(40, 40, 7) // no time, no trace
	c := s.Curve()
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
	got := rate.Per(users)
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
		got := Weigh(s.Curve().Segments(nil, from, to))
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
		return s.Curve(), func(at int64) (v float64) {
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
	c := s.Curve()
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
	c := Curve{{0, 2}, {1, 4}, {2, 6}}.Per(Curve{{0, 1}, {1, 2}, {2, 3}})
	if len(c) != 1 || c[0] != (Point{0, 2}) {
		t.Errorf("%v, want one point of 2", c)
	}
}
