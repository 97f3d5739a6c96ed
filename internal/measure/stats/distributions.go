package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The distributions use the special functions of gonum's mathext. Gonum's package stat/distuv has the same formulas but imports linear algebra (2
// MB).

// StudentQuantile returns the quantile p (0..1) of Student's distribution with df > 0 degrees of freedom.
func StudentQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	tail := 2 * min(p, 1-p) // F(x) = 1 - I_t(df/2, 1/2) / 2 with t = df / (x² + df), Abramowitz and Stegun 26.7.1
	t := mathext.InvRegIncBeta(df/2, 0.5, tail)
	return math.Copysign(math.Sqrt(df*(1-t)/t), p-0.5)
}

// StudentCDF returns the share of Student's distribution with df > 0 degrees of freedom that is at most x.
func StudentCDF(x, df float64) float64 {
	if x == 0 {
		return 0.5
	}
	half := 0.5 * mathext.RegIncBeta(df/2, 0.5, df/(x*x+df))
	if x > 0 {
		return 1 - half
	}
	return half
}

// StudentT returns the two-sided Student quantile: the value that |t| stays below with probability confidence (0..1), for df degrees of freedom. It
// returns +Inf without a degree of freedom, because a single value does not bound the mean.
func StudentT(confidence, df float64) float64 {
	if !(df > 0) {
		return math.Inf(1)
	}
	return StudentQuantile((1+confidence)/2, df)
}

// BetaQuantile returns the quantile p (0..1) of the beta distribution with the parameters a and b > 0.
func BetaQuantile(p, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, p) }

// NormalQuantile returns the quantile p (0..1) of the standard normal distribution.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// NormalCDF returns the share of the standard normal distribution that is at most x.
func NormalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// NormalDensity returns the density of the standard normal distribution at x.
func NormalDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// GammaTail returns the probability that a gamma variable of the given shape and scale 1 is above x.
func GammaTail(shape, x float64) float64 { return mathext.GammaIncRegComp(shape, x) }
