package stats

import (
	"math"
	"math/bits"

	"aiperf/internal/base/binenc"
)

// subBits is the number of bits after the leading one that select a bucket: 1/32 relative width.
const subBits = 5

// Histogram counts nanoseconds in buckets of constant relative width (3 %). Its size does not depend on the number of samples. The zero value is
// empty. Negative samples count as zero.
type Histogram struct {
	Count int64
	Sum   float64 // ns
	Max   int64   // ns, exact
	bins  [(64 - subBits) << subBits]uint32
}

// Add counts one sample of ns.
func (h *Histogram) Add(ns int64) {
	ns = max(0, ns)
	h.Count++
	h.Sum += float64(ns)
	h.Max = max(h.Max, ns)
	h.bins[binOf(ns)]++
}

// Mean returns the exact mean in ns; 0 without samples.
func (h *Histogram) Mean() float64 {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / float64(h.Count)
}

// Quantile returns the q-quantile (0..1) in ns, interpolated between two samples as in Percentile. Its precision is that of a bucket: each sample
// counts as the upper end of its bucket, but at most as Max. It is 0 without samples.
func (h *Histogram) Quantile(q float64) int64 {
	if h.Count == 0 {
		return 0
	}
	at := min(max(q, 0), 1) * float64(h.Count-1)
	rank := int64(at)
	low, high := h.samples(rank)
	return low + int64(math.Round(float64(high-low)*(at-float64(rank))))
}

// samples returns the sample with an ascending rank (from 0) and the next one, or the last one twice.
func (h *Histogram) samples(rank int64) (at, next int64) {
	at, next = -1, h.Max
	var seen int64
	for i, n := range h.bins {
		seen += int64(n)
		if at < 0 && seen > rank {
			at = min(binEnd(i), h.Max)
		}
		if seen > rank+1 {
			return at, min(binEnd(i), h.Max)
		}
	}
	return at, next
}

// binOf returns the bucket of a number. Small numbers have their own bucket. For larger ones it depends on the leading bit and the subBits after it.
func binOf(ns int64) int {
	lead := bits.Len64(uint64(ns)) - 1 - subBits
	if lead <= 0 {
		return int(ns)
	}
	return lead<<subBits + int(ns>>lead)
}

// binEnd returns the largest number of a bucket.
func binEnd(bin int) int64 {
	lead := bin>>subBits - 1
	if lead <= 0 {
		return int64(bin)
	}
	return (int64(bin&(1<<subBits-1)|1<<subBits)+1)<<lead - 1
}

// Visit encodes or decodes the histogram.
func (h *Histogram) Visit(c *binenc.Coder) {
	c.Int64(&h.Count)
	c.Float64(&h.Sum)
	c.Int64(&h.Max)
	var used []histogramBin
	for i, n := range h.bins {
		if n > 0 {
			used = append(used, histogramBin{int64(i), int64(n)})
		}
	}
	binenc.Slice(c, &used, func(c *binenc.Coder, b *histogramBin) {
		c.Int64(&b.index)
		c.Int64(&b.count)
	})
	if !c.Reading() {
		return
	}
	*h = Histogram{Count: h.Count, Sum: h.Sum, Max: h.Max}
	sum := int64(0)
	for _, b := range used {
		if b.index < 0 || b.index >= int64(len(h.bins)) || b.count < 0 || b.count > math.MaxUint32 {
			c.Fail("%d samples in bucket %d of a histogram", b.count, b.index)
			return
		}
		h.bins[b.index] = uint32(b.count)
		sum += b.count
	}
	if c.Err() == nil && sum != h.Count {
		c.Fail("a histogram of %d samples has %d", h.Count, sum)
	}
}

// histogramBin is a bucket with samples.
type histogramBin struct{ index, count int64 }

// Merge adds the samples of another histogram.
func (h *Histogram) Merge(o *Histogram) {
	h.Count += o.Count
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
	for i, n := range o.bins {
		h.bins[i] += n
	}
}
