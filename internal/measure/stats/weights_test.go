package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestWeightsLikeWeigh: averages, extremes and deviations are those of the stored segments, and percentiles at most 0.006 % lower.
func TestWeightsLikeWeigh(t *testing.T) {
	value := rapid.OneOf(rapid.Map(rapid.IntRange(0, 5), func(n int) float64 { return float64(n) }), rapid.Float64Range(0, 1e9), rapid.Float64Range(99.9, 100.1))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Segment {
			return Segment{rapid.Int64Range(1, 1e9).Draw(t, "Dt"), value.Draw(t, "V")}
		}), 0, 200).Draw(t, "segments")
		var w Weights
		for part := range slices.Chunk(list, 7) {
			w.Add(part)
		}
		got, want := w.Describe(), Weigh(slices.Clone(list))
		if got.Min != want.Min || got.Max != want.Max || math.Abs(got.Avg-want.Avg) > 1e-12*want.Avg || math.Abs(got.Std-want.Std) > 1e-7*want.Max {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for _, p := range [][2]float64{{got.P50, want.P50}, {got.P90, want.P90}, {got.P95, want.P95}, {got.P99, want.P99}} {
			if p[0] > p[1] || p[0] < p[1]*(1-0.61e-4) {
				t.Fatalf("percentile %v, want %v", p[0], p[1])
			}
		}
	})
}

// TestColumnValuesAndSeek: a column is read from any place on, and as a whole.
func TestColumnValuesAndSeek(t *testing.T) {
	var c Column
	const n = 2*chunkLen + 100
	for i := range n {
		c.Append(float64(i))
	}
	all := slices.Collect(c.Values())
	if len(all) != n || all[0] != 0 || all[n-1] != n-1 || !slices.IsSorted(all) {
		t.Errorf("%d values", len(all))
	}
	for range c.Values() {
		break // ends the reading
	}
	cursor := c.Cursor()
	for _, i := range []int{0, 1, chunkLen - 1, chunkLen, 2*chunkLen + 99, 5, 2 * chunkLen} {
		cursor.Seek(i)
		if got := cursor.Next(); got != float64(i) {
			t.Errorf("value %d is %v", i, got)
		}
		if got := cursor.Next(); i+1 < n && got != float64(i+1) {
			t.Errorf("after value %d comes %v", i, got)
		}
	}
	for _, i := range []int{n, n + 1, 3 * chunkLen, 9 * chunkLen} {
		if cursor.Seek(i); !math.IsNaN(cursor.Next()) {
			t.Errorf("there is a value %d", i)
		}
	}
}
