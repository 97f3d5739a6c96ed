package stats

import "math"

// Interval is the confidence interval of a mean over repeated runs.
type Interval struct {
	Mean, Std, Min, Max float64 // Std with divisor n-1
	CV                  float64 // Std / |Mean|; +Inf if the mean is 0; 0 for a single value
	SE                  float64 // Std / sqrt(n)
	Low, High           float64
	T                   float64 // Student quantile; NaN for a single value
}

// Confidence describes the mean of v at a confidence level in (0,1). v must not be empty.
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
	in.T = StudentT(confidence, float64(n-1))
	in.Low, in.High = in.Mean-in.T*in.SE, in.Mean+in.T*in.SE
	return in
}
