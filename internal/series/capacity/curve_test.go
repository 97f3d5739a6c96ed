package capacity

import (
	"math"
	"testing"
)

// TestIsotonic: neighbours that fall are pooled by weight, by hand.
func TestIsotonic(t *testing.T) {
	got := Isotonic([]float64{1, 3, 2, 4, 0}, []float64{1, 1, 3, 1, 1})
	for i, want := range []float64{1, 13.0 / 6, 13.0 / 6, 13.0 / 6, 13.0 / 6} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("%v", got)
		}
	}
	if out := Isotonic(nil, nil); len(out) != 0 {
		t.Error(out)
	}
}
