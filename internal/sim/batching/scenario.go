package batching

import (
	"math"
	"math/rand/v2"
)

// Warm is the time at the start of a scenario's run that is ignored, in s.
const Warm = 5.0

// Scenarios are the valid names of Scenario.
var Scenarios = []string{"iid", "ar0.9", "open50", "open80", "closed32", "heavy"}

// Scenario simulates a run of the given length on a server whose steps are slow times as long as usual. The names mean: independent requests,
// autocorrelated requests, half and high load, closed loop, heavy tails.
func Scenario(name string, seed uint64, slow, seconds float64) []Request {
	o := Default()
	o.Slow, o.Seconds = slow, seconds+Warm
	switch name {
	case "iid", "ar0.9":
		return drawn(name == "iid", seed, slow, seconds)
	case "open50":
		o.Rate = 32
	case "open80":
		o.Rate = 50
	case "closed32":
		o.Concurrency = 32
	case "heavy":
		o.Concurrency, o.InputSigma, o.Stall, o.StallMean, o.Outlier, o.OutlierMean, o.Drift, o.DriftSeconds = 24, 1, 0.01, 150, 0.03, 400, 0.08, 2
	}
	return After(Run(seed, o), Warm)
}

// After returns the requests that start at an instant or later.
func After(list []Request, from float64) []Request {
	for i := range list {
		if list[i].Start >= from {
			return list[i:]
		}
	}
	return nil
}

// drawn returns requests with random latencies, without simulating a server.
func drawn(independent bool, seed uint64, slow, seconds float64) []Request {
	r := rand.New(rand.NewPCG(seed, 7))
	n := int(seconds * 40)
	out := make([]Request, n)
	ttft, itl := series(r, n, 0.4, 40), series(r, n, 0.15, 10)
	for i := range out {
		if independent {
			ttft[i] = 20 * (1 + 0.6*(r.Float64()-0.5))
			sum := 0.0
			for range 15 {
				sum += 0.6 * (r.Float64() - 0.5)
			}
			itl[i] = 2 * (1 + sum/15)
		}
		q := Request{Start: float64(i) / 40, TTFT: ttft[i] * slow, ITL: itl[i] * slow, Tokens: 16}
		q.Latency = q.TTFT + 15*q.ITL
		q.End = q.Start + q.Latency/1000
		out[i] = q
	}
	return out
}

// series returns log-normal values with a correlation of 0.9 between neighbours, and outliers.
func series(r *rand.Rand, n int, sigma, median float64) []float64 {
	out := make([]float64, n)
	z, a := r.NormFloat64(), math.Sqrt(1-0.81)
	for i := range out {
		if i > 0 {
			z = 0.9*z + a*r.NormFloat64()
		}
		out[i] = median * math.Exp(sigma*z)
		if r.Float64() < 0.02 {
			out[i] += 3 * median * r.ExpFloat64()
		}
	}
	return out
}
