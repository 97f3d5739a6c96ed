package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDescribeManyLikeSorting: what is counted bit by bit equals what is sorted.
func TestDescribeManyLikeSorting(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64(), rapid.Map(rapid.IntRange(-2, 3), func(n int) float64 { return float64(n) }))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(number, 1, 300).Draw(t, "values")
		got, want := describeMany(slices.Values(list)), Describe(slices.Clone(list))
		if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max {
			t.Fatalf("%+v, want %+v", got, want)
		}
		near := func(a, b float64) bool {
			return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*math.Abs(b)
		}
		if !near(got.Avg, want.Avg) || !near(got.Sum, want.Sum) || !near(got.Std, want.Std) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for i := range Levels {
			if got.P[i] != want.P[i] && !(math.IsNaN(got.P[i]) && math.IsNaN(want.P[i])) {
				t.Fatalf("p%v is %v, want %v", Levels[i], got.P[i], want.P[i])
			}
		}
	})
	if d := describeMany(slices.Values([]float64(nil))); d.Count != 0 || !math.IsNaN(d.Avg) || !math.IsNaN(d.P[4]) {
		t.Errorf("no values: %+v", d)
	}
}
