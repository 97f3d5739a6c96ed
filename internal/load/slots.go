package load

// slots are a limited number of permissions: session slots or prefill slots. They belong to the run, not to a phase: a seamless phase
// with a lower limit starts nothing until enough of the older phase's slots came back (4.2). Guarded by the engine's mutex.
type slots struct {
	limit limit
	max   int // the limit's present value
	used  int
	idle  int // used by those who wait for nobody: sessions in a delay of their own

	vacant vacancies // of a closed loop

	full fullTime // none is free
	busy fullTime // none would be free without those that are idle, either
}

// fullTime is for how long a limit was reached since begin.
type fullTime struct {
	since int64 // instant since which it is reached; 0 = it is not
	total int64 // ns before that
}

func (f *fullTime) set(full bool, now int64) {
	switch {
	case full && f.since == 0:
		f.since = now
	case !full && f.since != 0:
		f.total += now - f.since
		f.since = 0
	}
}

// until is the time up to an instant, in s.
func (f *fullTime) until(at int64) float64 {
	d := f.total
	if f.since != 0 && at > f.since {
		d += at - f.since
	}
	return seconds(d)
}

// begin starts a phase with its limits.
func (s *slots) begin(steps []step, t0 int64) {
	s.limit = limit{steps: steps, t0: t0}
	s.full, s.busy = fullTime{}, fullTime{}
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

// rest tells that the holder of a slot begins (+1) or ends (-1) a delay of its own.
func (s *slots) rest(by int, now int64) {
	s.idle += by
	s.account(now)
}

// account keeps the time without a free slot.
func (s *slots) account(now int64) {
	s.full.set(s.free() == 0, now)
	s.busy.set(s.used-s.idle >= s.max, now)
}
