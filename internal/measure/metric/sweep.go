package metric

import (
	"math"

	"aiperf/internal/measure/stats"
)

// timeline holds what the curves need of one request.
type timeline struct {
	start, end, first int64 // wall; first = generation start, 0 if there was none
	isl, osl          float64
	images            float64   // NaN = none
	gaps              []float64 // between content messages, ns; nil = unknown
}

func concurrency(_ *Reducer, t *timeline, s *stats.Steps) { s.Span(t.start, t.end, 1) }

func prefillUsers(_ *Reducer, t *timeline, s *stats.Steps) {
	if t.first != 0 {
		s.Span(t.start, t.first, 1)
	}
}

func decodeUsers(_ *Reducer, t *timeline, s *stats.Steps) {
	if t.first != 0 {
		s.Span(t.first, t.end, 1)
	}
}

// firstTokensUnknown reports whether answers have tokens, but no instant of a first one is known: they did not stream.
func (r *Reducer) firstTokensUnknown() bool {
	generated := false
	ttft, output := r.column("time_to_first_token").Cursor(), r.column("output_sequence_length").Cursor()
	for range r.rows {
		if !math.IsNaN(ttft.Next()) {
			return false
		}
		generated = output.Next() > 0 || generated
	}
	return generated
}

// pictured reports whether any request has images.
func (r *Reducer) pictured() bool {
	images := r.column("num_images").Cursor()
	for range r.rows {
		if images.Next() > 0 {
			return true
		}
	}
	return false
}

// imageUsers adds the requests with images.
func imageUsers(_ *Reducer, t *timeline, s *stats.Steps) {
	if t.images > 0 {
		s.Span(t.start, t.end, 1)
	}
}

// imageRate adds the images of a request, spread over its duration.
func imageRate(_ *Reducer, t *timeline, s *stats.Steps) {
	if t.images > 0 && t.end > t.start {
		s.Span(t.start, t.end, t.images/float64(t.end-t.start))
	}
}

// prefills reports whether the request has a prefill rate.
func (t *timeline) prefills() bool { return t.first > t.start && !math.IsNaN(t.isl) }

// prefillRate adds the input tokens, spread over the prefill.
func prefillRate(_ *Reducer, t *timeline, s *stats.Steps) {
	if t.prefills() {
		s.Span(t.start, t.first, t.isl/float64(t.first-t.start))
	}
}

// decodeRate adds the output tokens after the first one, in equal parts over the gaps that are not 0. If no request of the run has gaps, it spreads
// them over the whole decoding.
func decodeRate(r *Reducer, t *timeline, s *stats.Steps) {
	switch {
	case t.first == 0 || !(t.osl > 1):
	case t.gaps != nil:
		spread(r, t, s)
	case r.gaps.Len() == 0 && t.prefills() && t.end > t.first:
		s.Span(t.first, t.end, (t.osl-1)/float64(t.end-t.first))
	}
}

func spread(r *Reducer, t *timeline, s *stats.Steps) {
	steps := 0
	for _, g := range t.gaps {
		if g > 0 {
			steps++
		}
	}
	var passed int64
	for _, g := range t.gaps {
		passed += int64(g)
		if g > 0 {
			to := r.set.instant(t.first + passed)
			s.Span(r.set.instant(to-int64(g)), to, (t.osl-1)/float64(steps)/g)
		}
	}
}

// totalRate adds prefill and decoding, each spread evenly.
func totalRate(r *Reducer, t *timeline, s *stats.Steps) {
	prefillRate(r, t, s)
	if t.first != 0 && t.osl >= 1 && t.end > t.first {
		s.Span(t.first, t.end, (t.osl-1)/float64(t.end-t.first))
	}
}

// inFlight adds the tokens that the server stores for requests in flight. A message at the end counts just before it.
func inFlight(r *Reducer, t *timeline, s *stats.Steps) {
	switch {
	case t.first == 0:
	case t.gaps != nil && !math.IsNaN(t.osl):
		isl := t.isl
		if math.IsNaN(isl) {
			isl = 0
		}
		s.Add(t.start, isl)
		s.Add(t.first, 1)
		var passed int64
		for _, g := range t.gaps {
			passed += int64(g)
			at := r.set.instant(t.first + passed)
			if at >= t.end {
				at = r.set.instantBefore(t.end)
			}
			s.Add(at, (t.osl-1)/float64(len(t.gaps)))
		}
		s.Add(t.end, -(isl + t.osl))
	case t.prefills():
		s.Span(t.start, t.end, t.isl)
		if r.gaps.Len() == 0 && !math.IsNaN(t.osl) {
			s.Span(t.first, t.end, t.osl)
		}
	}
}
