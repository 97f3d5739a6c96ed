package batching

import "math"

// rate returns the arrivals per second at an instant. Bursts and the times between them have random lengths.
func (s *server) rate(at float64) float64 {
	o := &s.o
	if o.Burst == 0 {
		return o.Rate
	}
	for at >= s.change {
		s.bursting = !s.bursting
		mean := o.BurstEvery * o.BurstPart
		if !s.bursting {
			mean = o.BurstEvery * (1 - o.BurstPart)
		}
		s.change += s.r.ExpFloat64() * mean
	}
	if s.bursting {
		return o.Rate * o.Burst
	}
	return o.Rate * (1 - o.BurstPart*o.Burst) / (1 - o.BurstPart)
}

// tokens returns how many tokens of the running requests the cache holds.
func (s *server) tokens() (sum float64) {
	for _, i := range s.running {
		sum += s.held(i)
	}
	return sum
}

// held returns the tokens of a request: its prompt and what was generated.
func (s *server) held(i int) float64 { return s.all[i].input + s.all[i].tokens - s.all[i].left }

// admit starts waiting requests, preempted ones first, as far as slots and memory allow.
func (s *server) admit() {
	used := 0.0
	if s.o.KV > 0 {
		used = s.tokens()
	}
	for len(s.running) < s.o.Slots {
		next := -1
		switch {
		case len(s.preempted) > 0:
			next = s.preempted[0]
		case s.head < len(s.all) && s.all[s.head].start <= s.t:
			next = s.head
		}
		if next < 0 {
			return
		}
		if s.o.KV > 0 && len(s.running) > 0 && used+s.held(next) > s.o.KV {
			return
		}
		used += s.held(next)
		if len(s.preempted) > 0 {
			s.preempted = s.preempted[1:]
		} else {
			s.head++
		}
		s.running = append(s.running, next)
	}
}

// preempt stops the latest requests until the others fit into the memory. Their tokens are computed again later.
func (s *server) preempt() {
	for s.o.KV > 0 && len(s.running) > 1 && s.tokens() > s.o.KV {
		k := 0
		for j, i := range s.running {
			if i > s.running[k] {
				k = j
			}
		}
		i := s.running[k]
		s.running[k] = s.running[len(s.running)-1]
		s.running = s.running[:len(s.running)-1]
		s.all[i].prefill = s.held(i)
		s.all[i].preempted++
		s.preempted = append(s.preempted, i)
		s.preemptions++
	}
}

// sample takes the samples that were due since an instant.
func (s *server) sample(since float64) {
	if s.o.Sample <= 0 {
		return
	}
	for n := math.Floor(since/s.o.Sample) + 1; n*s.o.Sample <= s.t; n++ {
		one := Sample{At: n * s.o.Sample, Waiting: float64(len(s.preempted)), Running: float64(len(s.running)), Preemptions: s.preemptions}
		for i := s.head; i < len(s.all) && s.all[i].start <= one.At; i++ {
			one.Waiting++
		}
		if s.o.KV > 0 {
			one.KV = s.tokens() / s.o.KV
		}
		s.samples = append(s.samples, one)
	}
}
