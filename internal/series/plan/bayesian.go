package plan

import (
	"math"
	"slices"

	"aiperf/internal/base/sobol"
	"aiperf/internal/config"
	"aiperf/internal/measure/stats"
)

// bayesian optimises one objective. It starts with points that fill the space evenly. Then it chooses those of the highest expected improvement
// (Mockus 1978; Jones et al. 1998) under a Gaussian process with a Matern 5/2 kernel, whose length is the most likely one of a grid.
type bayesian struct {
	dims          []config.SearchDimension
	sign          float64 // 1 maximises, -1 minimises
	initial       [][]float64
	fill          [][]float64 // candidates in the unit cube
	maxIterations int
	patience      int
	window        int
	plateau       float64
	threshold     *float64
	eic           bool // use constraints as a probability instead of a penalty
}

func newBayesian(r *config.Run) *bayesian {
	s := r.Sweep
	b := &bayesian{
		dims: s.SearchSpace, sign: 1, maxIterations: s.MaxIterations, patience: max(2, s.ImprovementPatience), window: max(2, s.PlateauWindow), plateau: s.PlateauThreshold,
		threshold: s.Objectives[0].Threshold, eic: s.ConstraintMode == "eic",
	}
	if s.Objectives[0].Direction == "minimize" {
		b.sign = -1
	}
	seed := r.DesignSeed(s.SearchSeed)
	points, err := sobol.Sobol(len(b.dims), max(1, s.InitialPoints)+512, seed, true)
	if err != nil { // more dimensions than any realistic search
		points = sobol.LatinHypercube(len(b.dims), max(1, s.InitialPoints)+512, seed, false)
	}
	b.initial, b.fill = points[:max(1, s.InitialPoints)], points[max(1, s.InitialPoints):]
	return b
}

// at returns the value of a dimension at a coordinate of the unit interval, and back the coordinate of a value.
func (b *bayesian) at(d int, u float64) float64 {
	one := &b.dims[d]
	x := one.Low + u*(one.High-one.Low)
	if len(one.Prior) > 3 && one.Prior[:3] == "log" {
		x = math.Exp(math.Log(one.Low) + u*(math.Log(one.High)-math.Log(one.Low)))
	}
	if one.Kind == "int" {
		x = min(max(math.Round(x), math.Ceil(one.Low)), math.Floor(one.High))
	}
	return x
}

func (b *bayesian) toValue(d int, x float64) float64 {
	one := &b.dims[d]
	if len(one.Prior) > 3 && one.Prior[:3] == "log" {
		return (math.Log(x) - math.Log(one.Low)) / (math.Log(one.High) - math.Log(one.Low))
	}
	return (x - one.Low) / (one.High - one.Low)
}

func (b *bayesian) values(u []float64) []float64 {
	x := make([]float64, len(u))
	for d := range u {
		x[d] = b.at(d, u[d])
	}
	return x
}

// visited reports whether a point was already evaluated.
func visited(seen []probe, x []float64) bool {
	return slices.ContainsFunc(seen, func(p probe) bool { return slices.Equal(p.values, x) })
}

func (b *bayesian) next(seen []probe) (next []float64, done string) {
	for _, u := range b.initial {
		if x := b.values(u); !visited(seen, x) {
			return x, ""
		}
	}
	if done = b.stopReason(seen); done != "" {
		return nil, done
	}
	var left [][]float64
	for _, u := range b.fill {
		if x := b.values(u); !visited(seen, x) && !slices.ContainsFunc(left, func(v []float64) bool { return slices.Equal(b.values(v), x) }) {
			left = append(left, u)
		}
	}
	if len(left) == 0 {
		return nil, "every point was tried"
	}
	gain := b.improvement(seen)
	best := slices.MaxFunc(left, func(u, v []float64) int {
		switch x, y := gain(u), gain(v); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return b.values(best), ""
}

// stopReason returns why the search ends before its last iteration; "" = it does not.
func (b *bayesian) stopReason(seen []probe) string {
	best, since := math.Inf(-1), 0
	var measured []float64
	for _, p := range seen {
		since++
		if math.IsNaN(p.objective) {
			continue
		}
		measured = append(measured, p.objective)
		if v := b.sign * p.objective; p.feasible && v > best {
			best, since = v, 0
		}
		if b.threshold != nil && p.feasible && b.sign*p.objective >= b.sign**b.threshold {
			return "the objective reached its threshold"
		}
	}
	if since >= b.patience {
		return "no improvement for " + itoa(since) + " iterations"
	}
	if n := len(measured); n >= b.window {
		last := measured[n-b.window:]
		if m := stats.Mean(last); m != 0 && stats.SampleStd(last)/math.Abs(m) < b.plateau {
			return "plateau: the last " + itoa(b.window) + " objectives hardly differ"
		}
	}
	return ""
}

// scores returns the objectives to maximise. Without eic, a point that violates a condition scores less than every point that meets all, and less the
// larger the violation is.
func (b *bayesian) scores(seen []probe) (u [][]float64, y, margin []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range seen {
		if !math.IsNaN(p.objective) {
			low, high = min(low, b.sign*p.objective), max(high, b.sign*p.objective)
		}
	}
	if math.IsInf(low, 1) {
		low, high = 0, 1
	}
	span := max(high-low, 1e-9*math.Abs(high)+1e-12)
	for _, p := range seen {
		v, m := low-span, -1.0
		if !math.IsNaN(p.margin) {
			m = p.margin
		} else if p.feasible {
			m = 1
		}
		switch {
		case math.IsNaN(p.objective):
		case p.feasible || b.eic:
			v = b.sign * p.objective
		default:
			v = low - span*min(1, max(0, -m))
		}
		at := make([]float64, len(p.values))
		for d := range at {
			at[d] = b.toValue(d, p.values[d])
		}
		u, y, margin = append(u, at), append(y, v), append(margin, min(1, max(-1, m)))
	}
	return u, y, margin
}

// improvement returns the expected improvement at a point of the unit cube.
func (b *bayesian) improvement(seen []probe) func(u []float64) float64 {
	u, y, margin := b.scores(seen)
	model := fitProcess(u, y)
	best := math.Inf(-1)
	for i := range y {
		if seen[i].feasible {
			best = max(best, y[i])
		}
	}
	if math.IsInf(best, -1) {
		best = slices.Max(y)
	}
	var keeps *process
	if b.eic {
		keeps = fitProcess(u, margin)
	}
	return func(at []float64) float64 {
		mean, sd := model.predict(at)
		z := (mean - best) / sd
		gain := sd * (z*stats.NormalCDF(z) + stats.NormalDensity(z))
		if keeps != nil {
			m, s := keeps.predict(at)
			gain *= stats.NormalCDF(m / s)
		}
		return gain
	}
}

// process is a Gaussian process over the unit cube.
type process struct {
	at          [][]float64
	length      float64
	chol        stats.Cholesky
	weights     []float64
	mean, scale float64
}

// noise is the share of the variance caused by the measurement itself.
const noise = 1e-2

// matern is the Matern 5/2 kernel of the distance between two points.
func matern(a, b []float64, length float64) float64 {
	d := 0.0
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	r := math.Sqrt(5*d) / length
	return (1 + r + r*r/3) * math.Exp(-r)
}

// fitProcess chooses the length with the highest marginal likelihood.
func fitProcess(at [][]float64, y []float64) *process {
	mean, scale := stats.Mean(y), 1.0
	if sd := stats.PopulationStd(y); sd > 0 {
		scale = sd
	}
	z := make([]float64, len(y))
	for i := range y {
		z[i] = (y[i] - mean) / scale
	}
	var best *process
	bestScore := math.Inf(-1)
	for _, length := range []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2} {
		k := make([][]float64, len(y))
		for i := range y {
			for j := range i {
				k[i] = append(k[i], matern(at[i], at[j], length))
			}
			k[i] = append(k[i], 1+noise)
		}
		chol, ok := stats.NewCholesky(k)
		if !ok {
			continue
		}
		weights := chol.Solve(z)
		if score := -stats.Dot(z, weights)/2 - chol.LogDet()/2; score > bestScore {
			best, bestScore = &process{at: at, length: length, mean: mean, scale: scale, chol: chol, weights: weights}, score
		}
	}
	return best
}

// predict returns the mean and the standard deviation at a point.
func (p *process) predict(u []float64) (mean, sd float64) {
	if p == nil { // no covariance matrix could be inverted, so nothing is known
		return 0, 1
	}
	k := make([]float64, len(p.at))
	for i := range p.at {
		k[i] = matern(p.at[i], u, p.length)
	}
	variance := max(1+noise-stats.Dot(k, p.chol.Solve(k)), 1e-9)
	return p.mean + p.scale*stats.Dot(k, p.weights), p.scale * math.Sqrt(variance)
}
