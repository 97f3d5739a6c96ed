package comparison

import (
	"fmt"
	"math"
	"slices"
)

// A test over pairs cannot find anything in few of them: the signs of n pairs agree by chance in one of 2^(n-1) cases, whatever the size of the difference.
// But a difference may be so large that every single pair shows it by itself.

const (
	// fewestShown is the number of pairs that must show a difference by themselves: what disturbs one block by chance does not disturb three alike.
	fewestShown = 3
	// pairNoise is the relative standard deviation from block to block of one server that is assumed where a pair stands alone, as for one run a side.
	pairNoise = 0.01
	// fewestAlone is the number of requests of a block whose interval is looked at.
	fewestAlone = 20
)

// tooFew is why lines of a refused comparison are not judged.
const tooFew = "too few pairs"

// eachPair judges lines that the test over pairs cannot tell: B is better or worse if every pair by itself says so. Each pair is compared as one run a side
// is: its interval holds the spread of the requests of both blocks, what their machine may have added, the limits of uncertain instants and the assumed noise
// from block to block. It must lie beyond the margin, on one side for all pairs, at the confidence of the whole divided by the number of lines (Bonferroni).
// All pairs say so by chance at most as often as one of them does.
func (r *Result) eachPair(family []statistic) {
	if len(r.A) < fewestShown {
		return
	}
	shown := 0
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Outcome != Cannot || l.Reason != "" && l.Reason != tooFew || l.Tag == "error_rate" {
			continue
		}
		k := slices.IndexFunc(family, func(s statistic) bool { return s.tag == l.Tag && s.stat == l.Stat })
		least, ok := r.leastShown(&family[k], l)
		if !ok {
			continue
		}
		shown++
		l.Outcome = Worse
		if (l.Difference > 0) == l.more {
			l.Outcome = Better
		}
		l.Needed = ""
		l.Reason = fmt.Sprintf("each of the %d pairs shows it by itself, by %+.1f %% or more", len(r.A), 100*(math.Exp(least)-1))
		if l.Difference < 0 {
			l.Reason = fmt.Sprintf("each of the %d pairs shows it by itself, by %+.1f %% or less", len(r.A), 100*(math.Exp(least)-1))
		}
	}
	if shown == 0 {
		return
	}
	if r.Refused != "" {
		r.Notes = append(r.Notes, r.Refused+": only what every pair shows by itself is judged")
		r.Refused = ""
	}
	r.missing()
	r.Outcome = outcome(r.Lines)
}

// leastShown is the end nearest to 0 of the intervals of all pairs, as a logarithm; false: some pair does not show a difference beyond the margin, or not on
// the side of the others.
func (r *Result) leastShown(s *statistic, l *Line) (least float64, ok bool) {
	level := 1 - (1-r.Options.Confidence)/float64(len(r.Lines))
	margin, least := math.Log1p(l.Margin), math.Inf(1)
	for i := range r.A {
		if r.A[i].requests() < fewestAlone || r.B[i].requests() < fewestAlone {
			return 0, false
		}
		x, y := s.estimate(&r.A[i]), s.estimate(&r.B[i])
		d := OneEach(&x, &y, max(pairNoise, r.Options.Noise))
		low, high := d.Limits(level)
		near := low
		if l.log < 0 {
			near = -high
		}
		if !(near > margin) { // NaN too
			return 0, false
		}
		least = min(least, near)
	}
	if l.log < 0 {
		least = -least
	}
	return least, true
}
