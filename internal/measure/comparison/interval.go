// Package comparison tests whether two servers, or two versions of one, differ. It computes intervals of runs whose requests are not independent,
// tests differences, and words the outcomes. All computations use logarithms, so that differences are relative.
package comparison

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// batchMeans returns the means of k consecutive batches of equal size.
func batchMeans(y []float64, k int) []float64 {
	out := make([]float64, k)
	for i := range out {
		from, to := i*len(y)/k, (i+1)*len(y)/k
		out[i] = stats.Mean(y[from:to])
	}
	return out
}

// lag1 returns the correlation of neighbouring values.
func lag1(b []float64) float64 {
	m, all, pairs := stats.Mean(b), 0.0, 0.0
	for i := range b {
		d := b[i] - m
		all += d * d
		if i > 0 {
			pairs += d * (b[i-1] - m)
		}
	}
	if all == 0 {
		return 0
	}
	return pairs / all
}

// batches returns the number of batches of a series. It starts at 20 and halves the number down to 5 while neighbouring means look dependent: above
// the one-sided 10 % limit of independent values (Law and Carson 1979; Steiger et al. 2005).
func batches(y []float64) int {
	k := min(20, len(y))
	for k > 5 && dependent(batchMeans(y, k)) {
		k = max(5, k/2)
	}
	return k
}

func dependent(means []float64) bool {
	k := float64(len(means))
	return lag1(means) > 1.2816*math.Sqrt((k-2)/(k*k-1))-1/k
}

func normalZ(level float64) float64 { return stats.NormalQuantile((1 + level) / 2) }

// Estimate is a statistic of one run. Low and High are the ends of its interval at a level; +Inf means that there is no upper end.
type Estimate struct {
	Value     float64
	Effective float64 // equivalent number of independent requests
	Batches   int
	limits    func(level float64) (low, high float64)
}

// Limits returns the ends of the interval at a level, 0 to 1.
func (e *Estimate) Limits(level float64) (low, high float64) { return e.limits(level) }

// Mean estimates a mean by batch means and Student's t, on logarithms.
func Mean(y []float64) Estimate {
	k := batches(y)
	m := stats.Mean(y)
	se := stats.SampleStd(batchMeans(y, k)) / math.Sqrt(float64(k)) / m
	return Estimate{Value: m, Batches: k, Effective: float64(len(y)), limits: func(level float64) (float64, float64) {
		if k < 2 {
			return 0, math.Inf(1)
		}
		h := stats.StudentT(level, float64(k-1)) * se
		return m * math.Exp(-h), m * math.Exp(h)
	}}
}

// shareLimits returns Clopper-Pearson limits of a share with an effective size (Korn and Graubard 1998).
func shareLimits(p float64, n, k int, se, level float64) (low, high, effective float64) {
	nf := float64(n)
	effective = nf
	if p > 0 && p < 1 {
		se = max(se, math.Sqrt(p*(1-p)/nf))
		ratio := normalZ(level) / stats.StudentT(level, float64(k-1))
		effective = min(nf, p*(1-p)/(se*se)*ratio*ratio)
	}
	x, a := p*effective, 1-level
	if x > 0 {
		low = stats.BetaQuantile(a/2, x, effective-x+1)
	}
	high = 1
	if effective-x > 1e-12 {
		high = stats.BetaQuantile(1-a/2, x+1, effective-x)
	}
	return low, high, effective
}

// Quantile estimates a quantile. Its limits are order statistics at the limits of the share below it (Woodruff 1952).
func Quantile(y []float64, p float64) Estimate {
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	q := stats.Percentile(sorted, 100*p)
	below := make([]float64, len(y))
	for i, v := range y {
		if v <= q {
			below[i] = 1
		}
	}
	k := batches(below)
	se := stats.SampleStd(batchMeans(below, k)) / math.Sqrt(float64(k))
	n := len(y)
	_, _, effective := shareLimits(p, n, k, se, 0.95)
	at := func(rank float64) float64 {
		i := int(math.Floor(rank))
		if i >= n-1 {
			return sorted[n-1]
		}
		return sorted[i] + (rank-float64(i))*(sorted[i+1]-sorted[i])
	}
	return Estimate{Value: q, Batches: k, Effective: effective, limits: func(level float64) (float64, float64) {
		low, high, _ := shareLimits(p, n, k, se, level)
		a, b := low*float64(n+1)-1, high*float64(n+1)-1
		l, u := 0.0, math.Inf(1)
		if a >= 0 {
			l = at(a)
		}
		if b <= float64(n-1) {
			u = at(b)
		}
		return l, u
	}}
}

// Rate estimates how much ends per second between two instants. at are the instants in s, and weights the amounts; nil means 1 each. The interval
// uses the means of equal time spans and Student's t.
func Rate(at, weights []float64, from, to float64) Estimate {
	spans := func(k int) []float64 {
		out := make([]float64, k)
		for i, t := range at {
			if t < from || t >= to {
				continue
			}
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			out[min(k-1, int((t-from)/(to-from)*float64(k)))] += w * float64(k) / (to - from)
		}
		return out
	}
	k := 20
	for k > 5 && dependent(spans(k)) {
		k /= 2
	}
	b := spans(k)
	m, se := stats.Mean(b), stats.SampleStd(b)/math.Sqrt(float64(k))
	return Estimate{Value: m, Batches: k, Effective: float64(len(at)), limits: func(level float64) (float64, float64) {
		h := stats.StudentT(level, float64(k-1)) * se
		return max(0, m-h), m + h
	}}
}

// Drift measures whether a series changed from beginning to end. z is the statistic of Mann and Kendall over the medians of 20 batches; change is the
// change over the whole series relative to the median (Theil and Sen). The number of batches is fixed, because a trend looks like dependence and
// would reduce the number of batches.
func Drift(y []float64) (z, change float64) {
	const k = 20
	if len(y) < k {
		return 0, 0
	}
	b := make([]float64, k)
	for i := range b {
		part := slices.Clone(y[i*len(y)/k : (i+1)*len(y)/k])
		b[i] = median(part)
	}
	return trend(b)
}

// trend computes Drift for values that are far apart in time.
func trend(b []float64) (z, change float64) {
	k, s := float64(len(b)), 0.0
	var slopes []float64
	for i := range b {
		for j := i + 1; j < len(b); j++ {
			switch {
			case b[j] > b[i]:
				s++
			case b[j] < b[i]:
				s--
			}
			slopes = append(slopes, (b[j]-b[i])/float64(j-i))
		}
	}
	sign := 0.0
	if s != 0 {
		sign = math.Copysign(1, s)
	}
	z = (s - sign) / math.Sqrt(k*(k-1)*(2*k+5)/18)
	return z, median(slopes) * (k - 1) / median(slices.Clone(b))
}

// median returns the median of y and sorts y.
func median(y []float64) float64 {
	slices.Sort(y)
	return stats.Percentile(y, 50)
}

// Difference is the relative difference of B to A, on logarithms.
type Difference struct {
	Log    float64
	limits func(level float64) (low, high float64)
}

// Limits returns the ends of the interval at a level, as logarithms.
func (d *Difference) Limits(level float64) (low, high float64) { return d.limits(level) }

// OneEach returns the difference of two runs, one per side, by MOVER (Zou and Donner 2008). Its interval is widened by the noise between runs, a
// relative standard deviation, because a single run cannot show it.
func OneEach(a, b *Estimate, noise float64) Difference {
	d := math.Log(b.Value) - math.Log(a.Value)
	return Difference{Log: d, limits: func(level float64) (float64, float64) {
		la, ua := a.Limits(level)
		lb, ub := b.Limits(level)
		z := normalZ(level) * noise
		low := math.Pow(math.Log(b.Value)-math.Log(lb), 2) + math.Pow(math.Log(ua)-math.Log(a.Value), 2) + 2*z*z
		high := math.Pow(math.Log(ub)-math.Log(b.Value), 2) + math.Pow(math.Log(a.Value)-math.Log(la), 2) + 2*z*z
		return d - math.Sqrt(low), d + math.Sqrt(high)
	}}
}

// Shares returns the difference of two shares.
func Shares(a, b *Estimate) Difference {
	d := b.Value - a.Value
	return Difference{Log: d, limits: func(level float64) (float64, float64) {
		la, ua := a.Limits(level)
		lb, ub := b.Limits(level)
		return d - math.Hypot(b.Value-lb, ua-a.Value), d + math.Hypot(ub-b.Value, a.Value-la)
	}}
}

// Several returns the difference of the means of two or more runs per side, and its p-value: Welch's test with the degrees of freedom of
// Satterthwaite. plain uses the values instead of their logarithms, for shares.
func Several(a, b []float64, plain bool) (Difference, float64) {
	x, y := slices.Clone(a), slices.Clone(b)
	if !plain {
		for _, list := range [][]float64{x, y} {
			for i := range list {
				list[i] = math.Log(list[i])
			}
		}
	}
	va, vb := math.Pow(stats.SampleStd(x), 2)/float64(len(x)), math.Pow(stats.SampleStd(y), 2)/float64(len(y))
	d, v := stats.Mean(y)-stats.Mean(x), max(va+vb, 1e-18)
	df := v * v / (va*va/float64(len(x)-1) + vb*vb/float64(len(y)-1) + 1e-300)
	df = min(df, 1e6)
	p := 2 * stats.StudentCDF(-math.Abs(d)/math.Sqrt(v), df)
	return Difference{Log: d, limits: func(level float64) (float64, float64) {
		h := stats.StudentT(level, df) * math.Sqrt(v)
		return d - h, d + h
	}}, p
}

// levels are the confidence levels tested for one run per side.
var levels = []float64{.90, .95, .98, .99, .995, .998, .999, .9999}

// PValue returns one minus the highest level at which the interval excludes 0, as it must at all lower levels; 1 if there is none.
func (d *Difference) PValue() float64 {
	p := 1.0
	for _, level := range levels {
		low, high := d.Limits(level)
		if math.IsNaN(low) || math.IsNaN(high) || low <= 0 && high >= 0 {
			break
		}
		p = 1 - level
	}
	return p
}

// Holm adjusts p-values so that the probability of any false alarm in the family stays below the level (Holm 1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out, last := make([]float64, len(p)), 0.0
	for rank, i := range order {
		last = max(last, min(1, p[i]*float64(len(p)-rank)))
		out[i] = last
	}
	return out
}

// BatchError returns the standard error of the mean of a series whose neighbours may depend on each other, from batch means, and the number of batches.
func BatchError(y []float64) (se float64, k int) {
	k = batches(y)
	return stats.SampleStd(batchMeans(y, k)) / math.Sqrt(float64(k)), k
}
