package metric

import (
	"math"

	"aiperf/internal/measure/stats"
)

// Curves over time (measurement, section 6.5). A request occupies [start, end); its prefill lasts until its first content message
// (generation start), its decoding from then to its end. Rates are tokens per ns until they are reported.

// perSecond converts tokens per ns to tokens per second.
const perSecond = 1e9

// timeline holds what the curves need of one request.
type timeline struct {
	start, end, first int64 // wall; first = generation start, 0 if there was none
	isl, osl          float64
	images            float64   // NaN = none
	gaps              []float64 // between content messages, ns; nil = unknown
}

// each calls visit for the timelines of all rows. visit must not keep the timeline, which is the same variable for every row.
func (r *Reducer) each(visit func(t *timeline)) {
	start, end, lens, gaps := r.start.Cursor(), r.end.Cursor(), r.lens.Cursor(), r.gaps.Cursor()
	ttft, isl, osl := r.column("time_to_first_token").Cursor(), r.column("input_sequence_length").Cursor(), r.column("output_sequence_length").Cursor()
	images := r.column("num_images").Cursor()
	var buf []float64
	var t timeline
	for range r.rows {
		begin := r.base + int64(start.Next())
		t = timeline{start: r.set.instant(begin), end: r.set.instant(begin + int64(end.Next())), isl: isl.Next(), osl: osl.Next(), images: images.Next()}
		if v := ttft.Next(); !math.IsNaN(v) {
			t.first = r.set.instant(begin + int64(v))
		}
		if n := lens.Next(); n > 0 {
			buf = buf[:0]
			for range int(n) {
				buf = append(buf, gaps.Next())
			}
			t.gaps = buf
		}
		visit(&t)
	}
}

// curves describes every curve in the window of every bucket. It computes one curve at a time to limit memory.
func (r *Reducer) curves(buckets []bucket) []map[string]stats.TimeWeighted {
	out := make([]map[string]stats.TimeWeighted, len(buckets))
	if r.rows == 0 {
		return out
	}
	for i := range out {
		out[i] = map[string]stats.TimeWeighted{}
	}
	window := func(i int) (int64, int64) {
		return r.set.instant(buckets[i].window.From), r.set.instant(buckets[i].window.To)
	}
	var buf []stats.Segment // shared by all curves, because they are long
	put := func(tag string, c stats.Curve, scale float64) {
		for i := range buckets {
			from, to := window(i)
			buf = c.Segments(buf[:0], from, to)
			out[i][tag] = stats.Weigh(buf).Scale(scale)
		}
	}
	active := func(tag string, c, mask stats.Curve) {
		for i := range buckets {
			from, to := window(i)
			buf = c.Within(buf[:0], mask, from, to)
			out[i][tag] = stats.Weigh(buf).Scale(perSecond)
		}
	}
	all := r.curve(0, concurrency)
	put("effective_concurrency", all, 1)
	if r.pictured() {
		pictures := r.curve(0, imageRate)
		put("effective_image_samples_per_second", pictures, perSecond)
		active("active_image_samples_per_second", pictures, r.curve(0, imageUsers))
		put("effective_image_samples_per_second_per_user", pictures.Per(all), perSecond)
	}
	if r.firstTokensUnknown() {
		return out // nothing separates prefill from decoding: these curves are not measured, and 0 would be wrong
	}
	total := r.curve(r.rows, totalRate)
	put("effective_total_throughput", total, perSecond)
	active("active_total_throughput", total, all)

	for _, phase := range [...]struct {
		name       string
		users, per func(*Reducer, *timeline, *stats.Steps)
		extra      int
	}{{"prefill", prefillUsers, prefillRate, 0}, {"decode", decodeUsers, decodeRate, r.gaps.Len()}} {
		users := r.curve(0, phase.users)
		put("effective_"+phase.name+"_concurrency", users, 1)
		rate := r.curve(phase.extra, phase.per)
		put("effective_"+phase.name+"_throughput", rate, perSecond)
		active("active_"+phase.name+"_throughput", rate, users)
		rate = rate.Per(users)
		put("effective_"+phase.name+"_throughput_per_user", rate, perSecond)
		active("active_"+phase.name+"_throughput_per_user", rate, users)
	}
	put("tokens_in_flight", r.curve(r.rows+r.gaps.Len(), inFlight), 1)
	return out
}

// curve builds one curve from all timelines. Each request adds about two steps; extra is the number of further ones.
func (r *Reducer) curve(extra int, steps func(*Reducer, *timeline, *stats.Steps)) stats.Curve {
	s := make(stats.Steps, 0, 2*r.rows+extra)
	r.each(func(t *timeline) { steps(r, t, &s) })
	return s.Curve()
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
