package rng

import "testing"

// TestReset: a stream that was used and reset is that of its seed, for scalars and arrays.
func TestReset(t *testing.T) {
	used := NewStream(7)
	used.Below(100)
	used.Numpy().Float64()
	used.Reset(1 << 40)
	fresh := NewStream(1 << 40)
	for range 1000 {
		if a, b := used.Below(1_000_000), fresh.Below(1_000_000); a != b {
			t.Fatalf("%d, want %d", a, b)
		}
	}
	if a, b := used.Numpy().Float64(), fresh.Numpy().Float64(); a != b || used.Seed() != fresh.Seed() {
		t.Errorf("%g, want %g", a, b)
	}
}
