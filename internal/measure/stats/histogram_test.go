package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHistogramQuantilesAreWithinABucket(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var whole, left, right Histogram
	values := make([]int64, 20000)
	for i := range values {
		values[i] = int64(math.Exp(r.NormFloat64()*3 + 10))
		whole.Add(values[i])
		if i%3 == 0 {
			left.Add(values[i])
		} else {
			right.Add(values[i])
		}
	}
	left.Merge(&right)
	slices.Sort(values)
	floats := make([]float64, len(values))
	for i, v := range values {
		floats[i] = float64(v)
	}
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
		exact := int64(Percentile(floats, 100*q))
		got := whole.Quantile(q)
		if got < exact || float64(got) > 1.04*float64(exact)+1 {
			t.Errorf("quantile %v: %d, exact %d", q, got, exact)
		}
		if m := left.Quantile(q); m != got {
			t.Errorf("quantile %v of merged halves: %d, of the whole %d", q, m, got)
		}
	}
	if left.Count != whole.Count || left.Max != whole.Max || math.Abs(left.Mean()-whole.Mean()) > 1e-6*whole.Mean() {
		t.Error("a merged histogram differs from the whole in count, maximum or mean")
	}
}

// TestHistogramInterpolates: quantiles of few samples lie between them, as those of the summary do. The samples are small enough to have buckets
// for themselves.
func TestHistogramInterpolates(t *testing.T) {
	var h Histogram
	if q := h.Quantile(0.5); q != 0 {
		t.Errorf("median of nothing: %d", q)
	}
	for _, v := range []int64{30, 10, 20} {
		h.Add(v)
	}
	for _, c := range []struct {
		q    float64
		want int64
	}{{-1, 10}, {0, 10}, {0.25, 15}, {0.5, 20}, {0.9, 28}, {1, 30}, {2, 30}} {
		if got := h.Quantile(c.q); got != c.want {
			t.Errorf("quantile %v of 10, 20, 30: %d, want %d", c.q, got, c.want)
		}
	}
}
