package comparison

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestSharesByHand: the difference of two shares is that of B less that of A, and its interval is that of A against B with the sign turned.
func TestSharesByHand(t *testing.T) {
	a, b := errorsOf(&Run{Values: map[string][]float64{"request_latency": make([]float64, 90)}, Failed: 10}), errorsOf(&Run{Values: map[string][]float64{"request_latency": make([]float64, 150)}, Failed: 50})
	there, back := Shares(&a, &b), Shares(&b, &a)
	if math.Abs(there.Log-0.15) > 1e-12 || math.Abs(back.Log+0.15) > 1e-12 {
		t.Errorf("10 of 100 and 50 of 200 failed: %g and %g, want 0.15 more", there.Log, back.Log)
	}
	low, high := there.Limits(0.95)
	if l, h := back.Limits(0.95); math.Abs(l+high) > 1e-12 || math.Abs(h+low) > 1e-12 {
		t.Errorf("%g to %g, and the other way %g to %g", low, high, l, h)
	}
	// MOVER by hand: each end is as far as the two limits that speak for it, squared and added.
	la, ua := a.Limits(0.95)
	lb, ub := b.Limits(0.95)
	if l, h := 0.15-math.Hypot(0.25-lb, ua-0.1), 0.15+math.Hypot(ub-0.25, 0.1-la); math.Abs(low-l) > 1e-12 || math.Abs(high-h) > 1e-12 || low < 0.05 || high > 0.25 {
		t.Errorf("%g to %g, want %g to %g", low, high, l, h)
	}
}

func near(a float64, b *float64) bool {
	if b == nil {
		return math.IsInf(a, 0)
	}
	return math.Abs(a-*b) <= 1e-6*math.Max(1, math.Abs(*b))
}

// TestAgainstReference: estimates, limits, batches and differences of series with and without memory equal those of an implementation in
// NumPy and SciPy (testdata/reference.json).
func TestAgainstReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Series []struct {
			X, Y []float64
			Kx   int
			Ky   int
			Mean []*float64
			Q    []struct {
				P         float64
				Q         float64
				Low, High *float64
				N         float64
				K         int
				Diff      []*float64
			}
		}
		Welch struct {
			A, B         []float64
			P, Low, High float64
		}
	}
	if err := json.Unmarshal(text, &ref); err != nil || len(ref.Series) != 3 {
		t.Fatal(err)
	}
	for i, s := range ref.Series {
		m := Mean(s.X)
		low, high := m.Limits(0.95)
		if m.Batches != s.Kx || batches(s.Y) != s.Ky || !near(m.Value, s.Mean[0]) || !near(low, s.Mean[1]) || !near(high, s.Mean[2]) {
			t.Errorf("series %d: mean %v [%v, %v], %d batches", i, m.Value, low, high, m.Batches)
		}
		for _, q := range s.Q {
			a, b := Quantile(s.X, q.P), Quantile(s.Y, q.P)
			low, high := a.Limits(0.95)
			if a.Batches != q.K || !near(a.Value, &q.Q) || !near(low, q.Low) || !near(high, q.High) || !near(a.Effective, &q.N) {
				t.Errorf("series %d, p %v: %v [%v, %v], %v effective, %d batches, want %+v", i, q.P, a.Value, low, high, a.Effective, a.Batches, q)
			}
			d := OneEach(&a, &b, 0.01)
			low, high = d.Limits(0.95)
			if !near(d.Log, q.Diff[0]) || !near(low, q.Diff[1]) || !near(high, q.Diff[2]) {
				t.Errorf("series %d, p %v: difference %v [%v, %v], want %v", i, q.P, d.Log, low, high, q.Diff)
			}
		}
	}
	d, p := Several(ref.Welch.A, ref.Welch.B, false)
	low, high := d.Limits(0.95)
	if math.Abs(p-ref.Welch.P) > 1e-9 || !near(low, &ref.Welch.Low) || !near(high, &ref.Welch.High) {
		t.Errorf("Welch: p %v [%v, %v], want %+v", p, low, high, ref.Welch)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.04, 0.01, 0.03})
	for i, want := range []float64{0.06, 0.03, 0.06} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v", got)
		}
	}
}
