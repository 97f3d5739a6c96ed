package stats

import (
	"math"
	"slices"
)

// exactSmirnov is the maximum size of the larger sample for which the p-value is exact.
const exactSmirnov = 10000

// Smirnov returns the two-sided p-value of the two-sample Kolmogorov-Smirnov test: the probability that samples of one distribution differ at least
// as much. It is exact for samples of at most 10,000 values (lattice paths: Schroeer and Trenkler 1995), otherwise asymptotic. Both samples must have
// values. If a sample contains NaN, the result is NaN.
func Smirnov(a, b []float64) float64 {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a) // NaN sorts first
	slices.Sort(b)
	if math.IsNaN(a[0]) || math.IsNaN(b[0]) {
		return math.NaN()
	}
	d := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	if max(len(a), len(b)) <= exactSmirnov {
		return 1 - insidePaths(d, len(a), len(b))
	}
	n := float64(len(a)) * float64(len(b)) / float64(len(a)+len(b))
	return kolmogorov(math.Sqrt(n) * d)
}

// insidePaths returns the probability that a random lattice path from (0, 0) to (n, m) stays closer than d to the diagonal.
func insidePaths(d float64, n, m int) float64 {
	nf, mf := float64(n), float64(m)
	limit := (0.5 + math.Floor(d*nf*mf-1e-7)) / (nf * mf)
	u := make([]float64, m+1)
	for j := range u {
		if float64(j)/mf <= limit {
			u[j] = 1
		}
	}
	for i := 1; i <= n; i++ {
		w := float64(i) / (float64(i) + mf)
		x := float64(i) / nf
		if u[0] *= w; x > limit {
			u[0] = 0
		}
		for j := 1; j <= m; j++ {
			if math.Abs(x-float64(j)/mf) > limit {
				u[j] = 0
			} else {
				u[j] = w*u[j] + u[j-1]
			}
		}
	}
	return u[m]
}

// kolmogorov returns the tail probability of Kolmogorov's distribution.
func kolmogorov(x float64) float64 {
	if x < 0.2 {
		return 1
	}
	p := 0.0
	for k := 1.0; k < 101; k++ {
		term := 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
		if p += term; math.Abs(term) < 1e-16 {
			break
		}
	}
	return max(0, min(1, p))
}
