package capacity

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Grid of the unknowns: the logarithm of the capacity, how steeply the share of bad requests rises there, and the share that is bad at any load.
const (
	step      = 0.005 // of the logarithm
	wrong     = 0.005 // chance that a cell says nothing
	temper    = 0.5   // what is believed of a cell's size
	mostShare = 0.3   // shares above it tell no more
	mostSize  = 1000  // requests that a cell counts for at most
	near      = 0.25  // cells that share one correlation time, as distance of logarithms
)

// observation is what a cell says: x is the logarithm of its load, share the bad ones among n requests, tau the seconds that one independent request
// takes, seconds its length.
type observation struct {
	x, share, n, tau, seconds float64

	log, rest []float32 // of every point of the grid: logarithm of the share of bad requests at x, and of the others
}

// posterior is what all cells say of the capacity for one objective (a threshold estimate after Watson and Pelli 1983, Kontsevich and Tyler 1999).
type posterior struct {
	theta  []float64 // logarithms of the capacity
	steep  []float64
	floor  []float64
	target float64 // share that may be bad
	log    []float64
	seen   []observation
	top    float64 // logarithm above which the capacity is not
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

// put takes a cell in. All is computed again: the correlation time that near cells share depends on where the root is.
func (p *posterior) put(o observation) {
	p.curve(&o)
	p.seen = append(p.seen, o)
	m := o.x
	if len(p.seen) > 1 {
		m = p.mode()
	}
	last := []float64(nil)
	for range 2 {
		sizes := p.sizes(m)
		if slices.Equal(sizes, last) { // the root moved, and no cell came near or went away: nothing changes
			return
		}
		clear(p.log)
		for i := range p.seen {
			if sizes[i] > 0 {
				p.add(&p.seen[i], sizes[i])
			}
		}
		m, last = p.quantile(.5), sizes
	}
}

// sizes are what every cell counts for while the root is at m; 0: nothing is known of it.
func (p *posterior) sizes(m float64) []float64 {
	tau, weight := 0.0, 0.0
	for i := range p.seen {
		if c := &p.seen[i]; math.Abs(c.x-m) < near && c.n >= 20 {
			tau += c.tau * c.seconds
			weight += c.seconds
		}
	}
	if weight > 0 {
		tau /= weight
	}
	out := make([]float64, len(p.seen))
	for i := range p.seen {
		if c := &p.seen[i]; c.n >= 1 {
			out[i] = c.size(tau, math.Abs(c.x-m) < near)
		}
	}
	return out
}

// mode is the most likely logarithm of the capacity.
func (p *posterior) mode() float64 {
	mode, best := 0, 0.0
	for i, w := range p.marginal() {
		if w > best {
			mode, best = i, w
		}
	}
	return p.theta[mode]
}

// size is the number of independent requests that a cell counts for; those near the root have the correlation time of all such: one's own would give
// a cell that happened to see no burst too much weight.
func (o *observation) size(shared float64, nearby bool) float64 {
	tau := o.tau
	if nearby && o.n >= 20 {
		tau = shared
	}
	size := o.n
	if tau > 0 {
		size = min(o.n, max(1, o.seconds/tau))
	}
	if size *= temper; o.share >= mostShare && !nearby {
		size = max(size, 20)
	}
	return min(size, mostSize)
}

// curve computes what the grid says of a load.
func (p *posterior) curve(o *observation) {
	o.log, o.rest = make([]float32, len(p.log)), make([]float32, len(p.log))
	at, quantiles := 0, make([]float64, len(p.floor))
	for i, g := range p.floor {
		quantiles[i] = distuv.UnitNormal.Quantile((p.target - g) / (1 - g))
	}
	for _, theta := range p.theta {
		for _, s := range p.steep {
			for i, g := range p.floor {
				mu := min(mostShare, max(1e-6, g+(1-g)*normal(quantiles[i]+s*(o.x-theta))))
				o.log[at], o.rest[at] = float32(math.Log(mu)), float32(math.Log1p(-mu))
				at++
			}
		}
	}
}

// add multiplies the likelihood of a cell in.
func (p *posterior) add(o *observation, size float64) {
	share := min(o.share, mostShare)
	bad, top := share*size, 0.0
	if bad > 0 {
		top = bad*math.Log(share) + (size-bad)*math.Log1p(-share)
	}
	least := math.Log(wrong)
	for at := range p.below() {
		l := bad*float64(o.log[at]) + (size-bad)*float64(o.rest[at]) - top
		if l < -25 { // not to be told from a cell that says nothing
			p.log[at] += least
			continue
		}
		p.log[at] += math.Log((1-wrong)*math.Exp(l) + wrong)
	}
}

// below is the part of the grid that the bracket leaves; what lies above it is in no marginal.
func (p *posterior) below() int {
	n, _ := slices.BinarySearch(p.theta, p.top+step)
	return n * len(p.steep) * len(p.floor)
}

// normal is the distribution function of the standard normal.
func normal(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// marginal is the posterior of the capacity, summing to 1.
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

// quantile is the logarithm of the capacity below which a share of the posterior lies.
func (p *posterior) quantile(share float64) float64 {
	sum := 0.0
	for i, w := range p.marginal() {
		if sum += w; sum >= share {
			return p.theta[i]
		}
	}
	return p.theta[len(p.theta)-1]
}
