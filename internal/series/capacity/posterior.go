package capacity

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// Grid of the unknowns: the logarithm of the capacity, the slope of the share of bad requests there, and the share that is bad at any load.
const (
	step     = 0.005 // of the logarithm
	wrong    = 0.005 // probability that a cell is meaningless
	temper   = 0.5   // weight of a cell's size
	maxShare = 0.3   // larger shares add no information
	maxSize  = 1000  // largest number of requests that a cell counts for
	near     = 0.25  // distance of logarithms within which cells share one correlation time
)

// observation is the result of a cell. x is the logarithm of its load, share the share of bad requests among n, tau the seconds per independent
// request, seconds its length.
type observation struct {
	x, share, n, tau, seconds float64

	log, logShares []float32 // for every point of the grid: logarithm of the share of bad requests at x, and of the good ones
}

// posterior is the distribution of the capacity given all cells, for one objective (a threshold estimate after Watson and Pelli 1983, Kontsevich and
// Tyler 1999).
type posterior struct {
	theta        []float64 // logarithms of the capacity
	steep        []float64
	floor        []float64
	target       float64 // allowed share of bad requests
	log          []float64
	observations []observation
	top          float64 // upper limit of the logarithm of the capacity
}

func newPosterior(low, high, target float64) *posterior {
	p := &posterior{target: target, top: math.Inf(1)}
	for v := low; v < high; v += step {
		p.theta = append(p.theta, v)
	}
	for i := range 12 {
		p.steep = append(p.steep, 4*math.Pow(30, float64(i)/11))
	}
	p.floor = []float64{0, .25 * target, .5 * target, .75 * target}
	p.log = make([]float64, len(p.theta)*len(p.steep)*len(p.floor))
	return p
}

// put adds a cell. Everything is computed again, because the correlation time that near cells share depends on the position of the root.
func (p *posterior) put(o observation) {
	p.curve(&o)
	p.observations = append(p.observations, o)
	m := o.x
	if len(p.observations) > 1 {
		m = p.mode()
	}
	last := []float64(nil)
	for range 2 {
		sizes := p.sizes(m)
		if slices.Equal(sizes, last) { // the root moved, but the same cells are near it: nothing changes
			return
		}
		clear(p.log)
		for i := range p.observations {
			if sizes[i] > 0 {
				p.add(&p.observations[i], sizes[i])
			}
		}
		m, last = p.quantile(.5), sizes
	}
}

// sizes returns the effective size of every cell if the root is at m; 0: nothing is known about the cell.
func (p *posterior) sizes(m float64) []float64 {
	tau, weight := 0.0, 0.0
	for i := range p.observations {
		if c := &p.observations[i]; math.Abs(c.x-m) < near && c.n >= 20 {
			tau += c.tau * c.seconds
			weight += c.seconds
		}
	}
	if weight > 0 {
		tau /= weight
	}
	out := make([]float64, len(p.observations))
	for i := range p.observations {
		if c := &p.observations[i]; c.n >= 1 {
			out[i] = c.size(tau, math.Abs(c.x-m) < near)
		}
	}
	return out
}

// mode returns the most likely logarithm of the capacity.
func (p *posterior) mode() float64 {
	mode, best := 0, 0.0
	for i, w := range p.marginal() {
		if w > best {
			mode, best = i, w
		}
	}
	return p.theta[mode]
}

// size returns the number of independent requests that a cell counts for. Cells near the root use their common correlation time: with its own, a cell
// that happened to see no burst would get too much weight.
func (o *observation) size(shared float64, nearby bool) float64 {
	tau := o.tau
	if nearby && o.n >= 20 {
		tau = shared
	}
	size := o.n
	if tau > 0 {
		size = min(o.n, max(1, o.seconds/tau))
	}
	if size *= temper; o.share >= maxShare && !nearby {
		size = max(size, 20)
	}
	return min(size, maxSize)
}

// curve computes the predictions of the grid for a load.
func (p *posterior) curve(o *observation) {
	o.log, o.logShares = make([]float32, len(p.log)), make([]float32, len(p.log))
	at, quantiles := 0, make([]float64, len(p.floor))
	for i, g := range p.floor {
		quantiles[i] = stats.NormalQuantile((p.target - g) / (1 - g))
	}
	for _, theta := range p.theta {
		for _, s := range p.steep {
			for i, g := range p.floor {
				mu := min(maxShare, max(1e-6, g+(1-g)*stats.NormalCDF(quantiles[i]+s*(o.x-theta))))
				o.log[at], o.logShares[at] = float32(math.Log(mu)), float32(math.Log1p(-mu))
				at++
			}
		}
	}
}

// add multiplies the likelihood of a cell into the posterior.
func (p *posterior) add(o *observation, size float64) {
	share := min(o.share, maxShare)
	bad, top := share*size, 0.0
	if bad > 0 {
		top = bad*math.Log(share) + (size-bad)*math.Log1p(-share)
	}
	least := math.Log(wrong)
	for at := range p.below() {
		l := bad*float64(o.log[at]) + (size-bad)*float64(o.logShares[at]) - top
		if l < -25 { // indistinguishable from a meaningless cell
			p.log[at] += least
			continue
		}
		p.log[at] += math.Log((1-wrong)*math.Exp(l) + wrong)
	}
}

// below returns the number of grid points within the bracket. Points above it are not part of the results.
func (p *posterior) below() int {
	n, _ := slices.BinarySearch(p.theta, p.top+step)
	return n * len(p.steep) * len(p.floor)
}

// marginal returns the posterior of the capacity; it sums to 1.
func (p *posterior) marginal() []float64 {
	most := math.Inf(-1)
	for _, l := range p.log[:p.below()] {
		most = max(most, l)
	}
	out, sum, each := make([]float64, len(p.theta)), 0.0, len(p.steep)*len(p.floor)
	for i := range out {
		if p.theta[i] > p.top {
			continue
		}
		for _, l := range p.log[i*each : (i+1)*each] {
			out[i] += math.Exp(l - most)
		}
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// quantile returns the logarithm of the capacity below which a share of the posterior lies.
func (p *posterior) quantile(share float64) float64 {
	sum := 0.0
	for i, w := range p.marginal() {
		if sum += w; sum >= share {
			return p.theta[i]
		}
	}
	return p.theta[len(p.theta)-1]
}
