package load

// slots are a limited number of permissions: session slots or prefill slots. They belong to the run, not to a phase: a seamless phase
// with a lower limit starts nothing until enough of the older phase's slots came back (4.2). Guarded by the engine's mutex.
type slots struct {
	limit limit
	max   int // the limit's present value
	used  int

	fullSince int64 // instant since which none is free; 0 = one is free
	full      int64 // ns without a free slot since begin
}

// begin starts a phase with its limits.
func (s *slots) begin(steps []step, t0 int64) {
	s.limit = limit{steps: steps, t0: t0}
	s.full, s.fullSince = 0, 0
	s.advance(t0)
}

// advance follows the ramp and returns the instant of its next step.
func (s *slots) advance(now int64) int64 {
	value, next := s.limit.at(now)
	s.max = value
	s.account(now)
	return next
}

// free is the number of slots that can be taken.
func (s *slots) free() int { return max(0, s.max-s.used) }

// take takes a slot; the caller has checked that one is free.
func (s *slots) take(now int64) {
	s.used++
	s.account(now)
}

// give returns a slot.
func (s *slots) give(now int64) {
	s.used--
	s.account(now)
}

// account keeps the time without a free slot.
func (s *slots) account(now int64) {
	switch full := s.free() == 0; {
	case full && s.fullSince == 0:
		s.fullSince = now
	case !full && s.fullSince != 0:
		s.full += now - s.fullSince
		s.fullSince = 0
	}
}

// fullSeconds is the time without a free slot since begin.
func (s *slots) fullSeconds(now int64) float64 {
	d := s.full
	if s.fullSince != 0 {
		d += now - s.fullSince
	}
	return seconds(d)
}
