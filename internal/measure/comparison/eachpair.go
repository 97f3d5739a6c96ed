package comparison

import (
	"fmt"
	"math"
	"slices"
)

// A test over few pairs cannot find anything: the signs of n pairs agree by chance in one of 2^(n-1) cases, whatever the size of the difference. But
// a difference may be so large that each pair shows it alone.

const (
	// minShowingPairs is the minimum number of pairs that must each show a difference. A random disturbance of one block does not disturb three blocks
	// alike.
	minShowingPairs = 3
	// pairNoise is the assumed relative standard deviation between blocks of one server, if a pair is judged alone, as for one run per side.
	pairNoise = 0.01
	// minRequestsAlone is the minimum number of requests of a block that is judged alone.
	minRequestsAlone = 20
)

// tooFewPairs is the reason for not judging the lines of a refused comparison.
const tooFewPairs = "too few pairs"

// eachPair judges lines that the test over pairs cannot decide. B is better or worse if each pair alone shows it. Each pair is compared like one run
// per side. Its interval covers the spread of the requests of both blocks, the possible effect of their machine, the limits of uncertain timestamps,
// and the assumed noise between blocks. For every pair it must lie beyond the margin, on the same side, at the level of singlePairLevel.
func (r *Result) eachPair(family []statistic) {
	if len(r.A) < minShowingPairs {
		return
	}
	shown := 0
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Outcome != Cannot || l.Reason != "" && l.Reason != tooFewPairs || l.Tag == "error_rate" {
			continue
		}
		k := slices.IndexFunc(family, func(s statistic) bool { return s.tag == l.Tag && s.stat == l.Stat })
		least, ok := r.smallestShownEffect(&family[k], l)
		if !ok {
			continue
		}
		shown++
		l.Outcome = Worse
		if (l.Difference > 0) == l.higherIsBetter {
			l.Outcome = Better
		}
		l.Needed = ""
		l.Reason = fmt.Sprintf("each of the %d pairs alone shows a difference of %+.1f %% or more", len(r.A), 100*(math.Exp(least)-1))
		if l.Difference < 0 {
			l.Reason = fmt.Sprintf("each of the %d pairs alone shows a difference of %+.1f %% or less", len(r.A), 100*(math.Exp(least)-1))
		}
	}
	if shown == 0 {
		return
	}
	if r.Refused != "" {
		r.Notes = append(r.Notes, r.Refused+": only differences that every pair shows alone are judged")
		r.Refused = ""
	}
	r.withholdBySurvivors()
	r.Outcome = outcome(r.Lines)
}

// smallestShownEffect returns the end nearest to 0 of the intervals of all pairs, as a logarithm. It returns false if a pair does not show a difference beyond the
// margin, or shows it on the other side.
func (r *Result) smallestShownEffect(s *statistic, l *Line) (least float64, ok bool) {
	level := r.Options.singlePairLevel(len(r.A), len(r.Lines))
	margin, least := math.Log1p(l.Margin), math.Inf(1)
	for i := range r.A {
		if r.A[i].requests() < minRequestsAlone || r.B[i].requests() < minRequestsAlone {
			return 0, false
		}
		x, y := s.estimate(&r.A[i]), s.estimate(&r.B[i])
		d := OneEach(&x, &y, max(pairNoise, r.Options.Noise))
		low, high := d.Limits(level)
		near := low
		if l.log < 0 {
			near = -high
		}
		if !(near > margin) { // also true for NaN
			return 0, false
		}
		least = min(least, near)
	}
	if l.log < 0 {
		least = -least
	}
	return least, true
}

// singlePairLevel returns the level of the interval of each of n pairs, if as many statistics as lines are judged. For equal targets, all pairs lie beyond
// their intervals at most as often as one of them does: 1 - level. Their signs then agree in one of 2^(n-1) cases, because the random order in a pair
// makes both signs equally likely. Over all lines the product is at most 1 - confidence (Bonferroni). The level is never below the confidence.
func (o *Options) singlePairLevel(n, lines int) float64 {
	wrong := 1 - o.Confidence
	return 1 - min(wrong, math.Ldexp(wrong, n-1)/float64(lines))
}
