package chart

import (
	"math"
	"testing"
)

// TestRoundStep checks that a step is round, reaches its argument, and that the next smaller round number does not.
func TestRoundStep(t *testing.T) {
	for v, want := range map[float64]float64{0.03: 0.05, 0.1: 0.1, 0.7: 1, 1: 1, 1.1: 2, 2: 2, 4: 5, 5.01: 10, 99: 100, 1001: 2000} {
		if got := RoundStep(v); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
