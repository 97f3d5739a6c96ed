package ui

import (
	"math"
	"testing"
)

// TestTail: the p99 of one second and of several is exceeded by at most 1 % of the values; of fewer than 100 it is the largest.
func TestTail(t *testing.T) {
	var none, few, many, more tail
	if v := none.p99(); !math.IsNaN(v) {
		t.Errorf("of nothing: %g", v)
	}
	for _, v := range []float64{3, 1, 2} {
		few.add(v)
	}
	if v := few.p99(); v != 3 {
		t.Errorf("of 1, 2 and 3: %g", v)
	}
	for i := range 300 {
		many.add(float64((i * 7) % 300))
		more.add(float64((i*7)%300) + 0.5)
	}
	if v := many.p99(); v != 296 {
		t.Errorf("of 0 to 299: %g", v)
	}
	many.merge(&more)
	if v := many.p99(); v != 296.5 || many.count != 600 {
		t.Errorf("of 0, 0.5, 1 … 299.5: %g of %d", v, many.count)
	}
	few.merge(&none)
	if v := few.p99(); v != 3 || few.count != 3 {
		t.Errorf("with nothing: %g of %d", v, few.count)
	}
}
