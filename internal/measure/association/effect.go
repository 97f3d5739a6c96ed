package association

import (
	"math"
	"slices"

	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/stats"
)

// side describes sorted values. middle is the median of the others.
func side(sorted []float64, middle float64) Side {
	s := Side{Known: len(sorted), Median: stats.Percentile(sorted, 50), Quarters: [2]float64{stats.Percentile(sorted, 25), stats.Percentile(sorted, 75)}}
	n := float64(len(sorted))
	above := func(x float64) float64 {
		k, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
		return (n - float64(k)) / n
	}
	less, _ := slices.BinarySearch(sorted, middle)
	s.Share, s.Above, s.Below = above(0), above(middle), float64(less)/n
	return s
}

// places are where the values of the requests lie among those of the other group, from 0 to 1.
type places struct {
	each []float64
	area float64 // chance that a slow request has the larger value; equal values count half
}

// newPlaces computes the places of v. rest and slow are the sorted values of the two groups.
func newPlaces(rest, slow, v []float64, is []bool) places {
	p := places{each: make([]float64, len(v))}
	for i, x := range v {
		if is[i] {
			p.each[i] = Place(rest, x)
			p.area += p.each[i]
		} else {
			p.each[i] = 1 - Place(slow, x)
		}
	}
	p.area /= float64(len(slow))
	return p
}

// Place returns the share of sorted values below x; equal ones count half.
func Place(sorted []float64, x float64) float64 {
	from, _ := slices.BinarySearch(sorted, x)
	to, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	return float64(from+to) / 2 / float64(len(sorted))
}

// interval returns the 95 % interval of the effect. Its standard error is that of batch means of what each request contributes (DeLong et al. 1988),
// and it is built on the logit of the area, so that it stays within -1 and 1.
func (p *places) interval(slow []bool) (low, high float64) {
	n, k := len(slow), 0
	for _, is := range slow {
		if is {
			k++
		}
	}
	part := make([]float64, n)
	for i, is := range slow {
		of := float64(n - k)
		if is {
			of = float64(k)
		}
		part[i] = (p.each[i] - p.area) * float64(n) / of
	}
	se, batches := comparison.BatchError(part)
	t, size := stats.StudentT(1-Level, float64(batches-1)), float64(max(1, Bunches(slow)))
	// Two intervals are joined. One has half a bunch more on either side, because an area of 0 or 1 is not known to be exactly that. The other is
	// that of the area itself, which may well be closer to 0 or 1.
	low, high = logitInterval((p.area*size+0.5)/(size+1), se, size, t)
	l, h := logitInterval(p.area, se, size, t)
	return 2*min(low, l) - 1, 2*max(high, h) - 1
}

// logitInterval returns the interval of an area with a standard error, computed on its logit. size bounds the error from below.
func logitInterval(area, se, size, t float64) (low, high float64) {
	spread := area * (1 - area)
	if spread == 0 {
		return area, area
	}
	half := t * max(se, math.Sqrt(spread/(3*size))) / spread
	logit := math.Log(area / (1 - area))
	at := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	return at(logit - half), at(logit + half)
}
