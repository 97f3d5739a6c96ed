package stats

import "testing"

// TestKnee: the first point with clearly less output than load; none while both grow alike, or after a single low point, and none for values that are not a growing load.
func TestKnee(t *testing.T) {
	for _, c := range []struct {
		load, output []float64
		want         int
	}{
		{[]float64{1, 2, 4, 8}, []float64{100, 198, 380, 420}, 3}, {[]float64{1, 2, 4}, []float64{100, 198, 390}, -1}, {[]float64{1, 2}, []float64{100, 90}, 1},
		{[]float64{1, 2, 4, 8}, []float64{100, 120, 400, 800}, -1}, {[]float64{1, 2, 4, 8, 16}, []float64{100, 120, 400, 420, 430}, 3},
		{[]float64{2, 1}, []float64{100, 90}, -1}, {[]float64{0, 1}, []float64{100, 100}, -1}, {nil, nil, -1}, {[]float64{1, 2}, []float64{0, 5}, -1},
	} {
		if got := Knee(c.load, c.output); got != c.want {
			t.Errorf("%v, %v: %d, want %d", c.load, c.output, got, c.want)
		}
	}
}
