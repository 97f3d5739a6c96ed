package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// StudentT is the two-sided Student quantile: |t| that a share confidence (0..1) of the distribution with df degrees of freedom stays below.
func StudentT(confidence float64, df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile((1 + confidence) / 2)
}

// Interval is the confidence interval of a mean over repeated runs.
type Interval struct {
	Mean, Std, Min, Max float64 // Std with divisor n-1
	CV                  float64 // Std / |Mean|; +Inf when the mean is 0 and the values differ or not
	SE                  float64 // Std / sqrt(n)
	Low, High           float64
	T                   float64 // Student quantile; NaN for a single value
}

// Confidence describes the mean of v, which must not be empty, at a confidence level in (0,1).
func Confidence(v []float64, confidence float64) Interval {
	in := Interval{Mean: Mean(v), Std: SampleStd(v), Min: v[0], Max: v[0], T: math.NaN()}
	for _, x := range v {
		in.Min, in.Max = min(in.Min, x), max(in.Max, x)
	}
	n := len(v)
	if n == 1 {
		in.Low, in.High = in.Mean, in.Mean
		return in
	}
	in.CV = math.Inf(1)
	if in.Mean != 0 {
		in.CV = in.Std / math.Abs(in.Mean)
	}
	in.SE = in.Std / math.Sqrt(float64(n))
	in.T = StudentT(confidence, n-1)
	in.Low, in.High = in.Mean-in.T*in.SE, in.Mean+in.T*in.SE
	return in
}
