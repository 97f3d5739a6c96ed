package metric

import (
	"math"
	"testing"
)

// TestWilson: intervals by hand, from the formula (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n) with z = 1.959964.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		correct, total int64
		low, high      float64
	}{
		{0, 10, 0, 0.277533}, {10, 10, 0.722467, 1}, {5, 10, 0.236593, 0.763407}, {81, 263, 0.255274, 0.366180}, {0, 0, 0, 1},
	} {
		low, high := Score{Correct: c.correct, Total: c.total}.Interval()
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.6f to %.6f, want %.6f to %.6f", c.correct, c.total, low, high, c.low, c.high)
		}
	}
	for n := int64(1); n < 100; n++ {
		if low, _ := (Score{Total: n}).Interval(); low != 0 {
			t.Errorf("none of %d right: from %g", n, low)
		}
		if _, high := (Score{Correct: n, Total: n}).Interval(); high != 1 {
			t.Errorf("all of %d right: to %g", n, high)
		}
	}
	a := Accuracy{Tasks: []Score{{"a", 1, 2, 1}, {"b", 0, 3, 0}}}
	if o := a.Overall(); o != (Score{"", 1, 5, 1}) || o.Rate() != 0.2 || o.UnparsedRate() != 0.2 || (Score{}).Rate() != 0 {
		t.Errorf("%+v", o)
	}
}
