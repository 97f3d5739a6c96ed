package explanation

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// Constants of the robust regression.
const (
	huberLimit = 1.345 // residuals, in deviations, from which their weight falls (Huber 1964): 95 % efficiency for normal errors
	rounds     = 30
	parts      = 20 // consecutive parts of the run, each excluded once for the intervals
)

// regression is a linear model y = sum of x times coefficient, fitted robustly, with intervals for requests that are not independent.
type regression struct {
	coefficients []float64
	low, high    []float64 // 95 % intervals
	fitted       []float64
	explained    float64 // share of the spread of y that the model explains, by sums of absolute deviations from the median
}

// regress fits y, in the order of the starts, to the columns x. Large residuals count less (Huber's weights). The intervals exclude one of 20 consecutive
// parts of the run at a time (jackknife over blocks; Künsch 1989), with Student's t. false = the columns are linearly dependent.
func regress(x [][]float64, y []float64) (r regression, ok bool) {
	n, p := len(y), len(x)
	scale := make([]float64, p)
	for j := range x {
		for _, v := range x[j] {
			scale[j] = max(scale[j], math.Abs(v))
		}
		if scale[j] == 0 {
			return r, false
		}
	}
	at := func(j, i int) float64 { return x[j][i] / scale[j] }
	weight, residual, size := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range weight {
		weight[i] = 1
	}
	var beta []float64
	for range rounds {
		whole := newSums(p)
		for i := range y {
			whole.add(at, y[i], i, weight[i])
		}
		next, solved := whole.solve()
		if !solved {
			return r, false
		}
		moved := beta == nil
		for j := range beta {
			moved = moved || math.Abs(next[j]-beta[j]) > 1e-9*math.Abs(next[j])
		}
		if beta = next; !moved {
			break
		}
		for i := range y {
			residual[i] = y[i]
			for j := range beta {
				residual[i] -= beta[j] * at(j, i)
			}
			size[i] = math.Abs(residual[i])
		}
		sorted := slices.Sorted(slices.Values(size))
		limit := huberLimit * percentile(sorted, 50) / 0.6745
		for i := range weight {
			weight[i] = 1
			if size[i] > limit && limit > 0 {
				weight[i] = limit / size[i]
			}
		}
	}
	without, ok := leaveOut(at, y, weight, p)
	if !ok {
		return r, false
	}
	for j := range beta {
		var all []float64
		for _, b := range without {
			all = append(all, b[j])
		}
		half := stats.StudentT(0.95, parts-1) * (parts - 1) / math.Sqrt(parts) * stats.SampleStd(all)
		r.coefficients = append(r.coefficients, beta[j]/scale[j])
		r.low, r.high = append(r.low, (beta[j]-half)/scale[j]), append(r.high, (beta[j]+half)/scale[j])
	}
	r.fit(x, y)
	return r, true
}

// leaveOut returns the coefficients without each of the parts of the run. The weights are those of the whole run.
func leaveOut(at func(j, i int) float64, y, weight []float64, p int) (without [][]float64, ok bool) {
	n, whole, each := len(y), newSums(p), make([]*sums, parts)
	for k := range each {
		each[k] = newSums(p)
		for i := k * n / parts; i < (k+1)*n/parts; i++ {
			each[k].add(at, y[i], i, weight[i])
		}
		whole.plus(each[k], 1)
	}
	for _, one := range each {
		whole.plus(one, -1)
		b, solved := whole.solve()
		whole.plus(one, 1)
		if !solved {
			return nil, false
		}
		without = append(without, b)
	}
	return without, true
}

// fit computes the fitted values and how much they explain.
func (r *regression) fit(x [][]float64, y []float64) {
	r.fitted = make([]float64, len(y))
	left, all, middle := 0.0, 0.0, percentile(slices.Sorted(slices.Values(y)), 50)
	for i := range y {
		for j := range x {
			r.fitted[i] += r.coefficients[j] * x[j][i]
		}
		left += math.Abs(y[i] - r.fitted[i])
		all += math.Abs(y[i] - middle)
	}
	if all > 0 {
		r.explained = max(0, 1-left/all)
	}
}

// sums are the weighted sums of products of a regression.
type sums struct {
	xx [][]float64
	xy []float64
}

func newSums(p int) *sums {
	s := &sums{xx: make([][]float64, p), xy: make([]float64, p)}
	for j := range s.xx {
		s.xx[j] = make([]float64, p)
	}
	return s
}

func (s *sums) add(at func(j, i int) float64, y float64, i int, weight float64) {
	for j := range s.xx {
		v := at(j, i) * weight
		s.xy[j] += v * y
		for k := range s.xx {
			s.xx[j][k] += v * at(k, i)
		}
	}
}

// plus adds the sums of other requests times a sign.
func (s *sums) plus(o *sums, sign float64) {
	for j := range s.xx {
		s.xy[j] += sign * o.xy[j]
		for k := range s.xx[j] {
			s.xx[j][k] += sign * o.xx[j][k]
		}
	}
}

// dependent is the smallest share of a column's length that the columns before it must leave.
const dependent = 1e-9

func (s *sums) solve() ([]float64, bool) {
	l, ok := stats.NewCholesky(s.xx)
	if !ok {
		return nil, false
	}
	for j := range s.xx {
		if l[j][j]*l[j][j] < dependent*s.xx[j][j] {
			return nil, false
		}
	}
	return l.Solve(s.xy), true
}
