package convert

import (
	"math/rand/v2"
	"testing"
)

// TestTimes checks that every bucket counts its instants, whatever their order.
func TestTimes(t *testing.T) {
	for seed := range uint64(50) {
		draws := rand.New(rand.NewPCG(seed, 1))
		var list []float64
		var c times
		for range 1 + draws.IntN(300) {
			ms := (draws.Float64() - 0.3) * float64(int64(1)<<draws.IntN(40))
			list = append(list, ms)
			c.add(ms)
		}
		got := c.result()
		want := make([]int64, len(got.Counts))
		from := c.origin + c.width*float64(int((c.first-c.origin)/c.width))
		for _, ms := range list {
			at := int((ms - from) / got.BucketMs)
			if at < 0 || at >= len(want) {
				t.Fatalf("seed %d: %g lies in none of %d buckets of %g from %g", seed, ms, len(want), got.BucketMs, from)
			}
			want[at]++
		}
		for i := range want {
			if want[i] != got.Counts[i] {
				t.Fatalf("seed %d: %v, want %v", seed, got.Counts, want)
			}
		}
		if len(list) > 100 && c.last-c.first > 1000 && len(want) < 16 {
			t.Errorf("seed %d: only %d buckets", seed, len(want))
		}
	}
}

// TestTokens checks that buckets have powers of two as bounds and count all lengths, and that the mean is exact.
func TestTokens(t *testing.T) {
	var c tokens
	sum, n := 0.0, 0
	for i := int64(1); i < 5000; i += 7 {
		c.add(i)
		sum += float64(i)
		n++
	}
	r := c.result()
	total := int64(0)
	for _, b := range r.Buckets {
		total += b.Count
	}
	if r.Mean != sum/float64(n) || total != int64(n) || r.Min != 1 || r.Max != 4999 || r.P50 < 2425 || r.P50 > 2575 {
		t.Errorf("%+v", r)
	}
	if (&tokens{}).result() != nil {
		t.Error("figures of nothing")
	}
}
