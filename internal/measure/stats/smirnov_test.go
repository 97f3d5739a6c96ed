package stats

import (
	"math"
	"testing"
)

// TestSmirnov: p-values of SciPy's ks_2samp(method="exact"), and the asymptotic one near the exact one.
func TestSmirnov(t *testing.T) {
	var c, d []float64
	for i := range 60 {
		c = append(c, float64(i*7919%101)/10)
	}
	for i := range 45 {
		d = append(d, float64(i*104729%97)/9)
	}
	for _, one := range []struct {
		a, b []float64
		want float64
	}{{[]float64{1, 2, 3, 4, 5.5, 6, 7, 8}, []float64{2.5, 3.5, 9, 10, 11}, 0.16472416472416468}, {c, d, 0.9980575422061961}, {c, c, 1}} {
		if got := Smirnov(one.a, one.b); math.Abs(got-one.want) > 1e-12 {
			t.Errorf("%v, want %v", got, one.want)
		}
	}
	long := make([]float64, exactSmirnov+1)
	for i := range long {
		long[i] = float64(i)
	}
	if p := Smirnov(long, long[:100]); p > 1e-6 {
		t.Errorf("samples of different distributions: p = %v", p)
	}
}

// TestSmirnovOfNothing: a value that is none ends the test, and not never.
func TestSmirnovOfNothing(t *testing.T) {
	for _, samples := range [][2][]float64{{{math.NaN(), 1}, {2, 3}}, {{1, 2}, {3, math.NaN()}}} {
		if p := Smirnov(samples[0], samples[1]); !math.IsNaN(p) {
			t.Errorf("%v: p = %v", samples, p)
		}
	}
}
