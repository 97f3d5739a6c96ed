package load

import (
	"testing"

	"aiperf/internal/base/rng"
)

// TestCheckIntervals: a block has as many intervals as were asked for, none is negative or endless, and time passes.
func TestCheckIntervals(t *testing.T) {
	for _, c := range []struct {
		list []float64
		ok   bool
	}{{[]float64{0, 1}, true}, {[]float64{1}, false}, {[]float64{1, -1}, false}, {[]float64{1, 1e9}, false}, {[]float64{0, 0}, false}, {nil, false}} {
		if err := checkIntervals(c.list, 2); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.list, err)
		}
	}
}

// TestSeedOf: a phase always gets the same seed, and JSON holds it exactly.
func TestSeedOf(t *testing.T) {
	seed := uint64(7)
	a, b := SeedOf(rng.New(&seed), "profiling"), SeedOf(rng.New(&seed), "warmup")
	if a != SeedOf(rng.New(&seed), "profiling") || a == b || uint64(float64(a)) != a {
		t.Error(a, b)
	}
}
