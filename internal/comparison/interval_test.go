package comparison

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

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
