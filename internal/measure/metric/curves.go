package metric

import (
	"slices"

	"aiperf/internal/measure/stats"
)

// Curves over time (measurement, section 6.5). A request occupies [start, end); its prefill lasts until its first content message
// (generation start), its decoding from then to its end. Rates are tokens per ns until they are reported.

// perSecond converts tokens per ns to tokens per second.
const perSecond = 1e9

// stepsPerPart is the number of steps up to which a run has one part. They take 4 MB for a curve. Percentiles over time are exact in a run of one part; in
// longer ones they are up to 0.006 % too low.
const stepsPerPart = 1 << 18

// curveSums describes every curve in the window of every bucket. It builds one curve of one part of the run at a time to limit memory.
type curveSums struct {
	r       *Reducer
	buckets []bucket
	out     []map[string]stats.TimeWeighted
	open    []map[string]*openCurve   // by bucket, for windows that the part does not contain
	running map[string]*stats.Running // by curve
	part    *part
	// Memory that curves share, because they are long.
	rooms    [rooms]stats.Steps
	perUser  stats.Curve
	segments []stats.Segment
}

// room is memory for the steps of one curve. A curve is valid until another one is built in its room.
type room int

const (
	ofUsers room = iota
	ofRate
	ofAll
	rooms // number of them
)

// openCurve describes a curve in a window of which only some parts are known yet.
type openCurve struct {
	stats.Weights
	scale float64
}

// curves describes every curve in the window of every bucket.
func (r *Reducer) curves(buckets []bucket) []map[string]stats.TimeWeighted {
	return r.curvesOfParts(buckets, stepsPerPart)
}

func (r *Reducer) curvesOfParts(buckets []bucket, steps int) []map[string]stats.TimeWeighted {
	s := &curveSums{r: r, buckets: buckets, out: make([]map[string]stats.TimeWeighted, len(buckets)), open: make([]map[string]*openCurve, len(buckets)), running: map[string]*stats.Running{}}
	if r.rows == 0 {
		return s.out
	}
	for i := range s.out {
		s.out[i], s.open[i] = map[string]stats.TimeWeighted{}, map[string]*openCurve{}
	}
	pictured, streamed := r.pictured(), !r.firstTokensUnknown()
	parts := r.parts(steps)
	for i := range parts {
		s.part = &parts[i]
		s.add(pictured, streamed)
		s.close()
	}
	return s.out
}

// add adds all curves of the part.
func (s *curveSums) add(pictured, streamed bool) {
	all := s.curve("requests", ofAll, 0, concurrency)
	s.put("effective_concurrency", all, 1)
	if pictured {
		pictures := s.curve("pictures", ofRate, 0, imageRate)
		s.put("effective_image_samples_per_second", pictures, perSecond)
		s.active("active_image_samples_per_second", pictures, s.curve("requests with pictures", ofUsers, 0, imageUsers))
		s.put("effective_image_samples_per_second_per_user", s.per(pictures, all), perSecond)
	}
	if !streamed {
		return // nothing separates prefill from decoding: these curves are not measured, and 0 would be wrong
	}
	total := s.curve("total", ofRate, s.part.requests, totalRate)
	s.put("effective_total_throughput", total, perSecond)
	s.active("active_total_throughput", total, all)
	for _, phase := range [...]struct {
		name       string
		users, per func(*Reducer, *timeline, *stats.Steps)
		extra      int
	}{{"prefill", prefillUsers, prefillRate, 0}, {"decode", decodeUsers, decodeRate, s.part.gaps}} {
		users := s.curve(phase.name+" users", ofUsers, 0, phase.users)
		s.put("effective_"+phase.name+"_concurrency", users, 1)
		rate := s.curve(phase.name, ofRate, phase.extra, phase.per)
		s.put("effective_"+phase.name+"_throughput", rate, perSecond)
		s.active("active_"+phase.name+"_throughput", rate, users)
		rate = s.per(rate, users)
		s.put("effective_"+phase.name+"_throughput_per_user", rate, perSecond)
		s.active("active_"+phase.name+"_throughput_per_user", rate, users)
	}
	s.put("tokens_in_flight", s.curve("tokens in flight", ofRate, s.part.requests+s.part.gaps, inFlight), 1)
}

// curve builds a curve in the part. It begins with the value that it has at the end of the part before. Each request adds about two steps; extra is the
// number of further ones.
func (s *curveSums) curve(name string, in room, extra int, steps func(*Reducer, *timeline, *stats.Steps)) stats.Curve {
	running := s.running[name]
	if running == nil {
		running = new(stats.Running)
		s.running[name] = running
	}
	size := 2*s.part.requests + extra
	list := slices.Grow(s.rooms[in][:0], size+size/8+blockRows) // appending would leave garbage
	list.Add(s.part.from, 0)
	s.r.each(s.part.blocks, func(t *timeline) {
		before := len(list)
		steps(s.r, t, &list)
		kept := list[:before]
		for _, p := range list[before:] {
			if s.part.has(p.T) {
				kept = append(kept, p)
			}
		}
		list = kept
	})
	s.rooms[in] = list
	return running.Curve(list)
}

// per divides a rate by the number of users. The result is valid until the next call.
func (s *curveSums) per(rate, users stats.Curve) stats.Curve {
	s.perUser = rate.Per(users, s.perUser[:0])
	return s.perUser
}

// put describes a curve.
func (s *curveSums) put(tag string, c stats.Curve, scale float64) { s.weigh(tag, scale, c.Segments) }

// active describes a rate where the mask is above 0.
func (s *curveSums) active(tag string, c, mask stats.Curve) {
	s.weigh(tag, perSecond, func(out []stats.Segment, from, to int64) []stats.Segment { return c.Within(out, mask, from, to) })
}

// weigh describes segments of the part. segments appends those between two instants to out.
func (s *curveSums) weigh(tag string, scale float64, segments func(out []stats.Segment, from, to int64) []stats.Segment) {
	for i := range s.buckets {
		from, to := s.window(i)
		if s.part.contains(from, to) {
			s.segments = segments(s.segments[:0], from, to)
			s.out[i][tag] = stats.Weigh(s.segments).Scale(scale)
			continue
		}
		if from, to = max(from, s.part.from), min(to, s.part.to); from >= to {
			continue
		}
		if s.open[i][tag] == nil {
			s.open[i][tag] = &openCurve{scale: scale}
		}
		s.segments = segments(s.segments[:0], from, to)
		s.open[i][tag].Add(s.segments)
	}
}

// window returns the window of a bucket.
func (s *curveSums) window(i int) (from, to int64) {
	w := s.buckets[i].window
	return s.r.set.instant(w.From), s.r.set.instant(w.To)
}

// close completes the windows that end in the part.
func (s *curveSums) close() {
	for i, curves := range s.open {
		if _, to := s.window(i); to > s.part.to {
			continue
		}
		for tag, c := range curves {
			s.out[i][tag] = c.Describe().Scale(c.scale)
		}
		s.open[i] = nil
	}
}
