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
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
		exact := values[max(1, int(math.Ceil(q*float64(len(values)))))-1]
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
