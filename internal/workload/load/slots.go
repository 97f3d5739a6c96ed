package load

// slots is a limited number of slots: session slots or prefill slots. They belong to the run, not to a phase: a seamless phase with a lower limit
// starts nothing until enough of the previous phase's slots are returned (4.2). The engine's mutex guards them.
type slots struct {
	limit limit
	share Share
	max   int // current limit of this machine
	used  int
	idle  int // slots of sessions that wait for no server: those in a delay between turns

	vacant vacancies // of a closed loop

	end  int64    // end of the phase's duration, from which on the times below do not grow
	full fullTime // time during which no slot is free
	busy fullTime // time during which every slot is taken by a session that is not idle
}

// fullTime measures for how long a limit was reached since begin.
type fullTime struct {
	since int64 // instant since which it is reached; 0 = it is not
	total int64 // ns before since
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

// until returns the time up to an instant, in s.
func (f *fullTime) until(at int64) float64 {
	d := f.total
	if f.since != 0 && at > f.since {
		d += at - f.since
	}
	return seconds(d)
}

// begin starts a phase with its limits. end is the end of its duration.
func (s *slots) begin(steps []step, t0, end int64) {
	s.limit, s.end = limit{steps: steps, t0: t0}, end
	s.full, s.busy = fullTime{}, fullTime{}
	s.advance(t0)
}

// advance follows the ramp and returns the instant of its next step.
func (s *slots) advance(now int64) int64 {
	value, next := s.limit.at(now)
	if s.max = value; value != unlimited {
		s.max = int(s.share.Part(int64(value)))
	}
	s.updateVacancy(now)
	return next
}

// free returns the number of free slots.
func (s *slots) free() int { return max(0, s.max-s.used) }

// take takes a slot; the caller must have checked that one is free.
func (s *slots) take(now int64) {
	s.used++
	s.updateVacancy(now)
}

// give returns a slot.
func (s *slots) give(now int64) {
	s.used--
	s.updateVacancy(now)
}

// recordPause records that the holder of a slot begins (+1) or ends (-1) a delay between turns.
func (s *slots) recordPause(by int, now int64) {
	s.idle += by
	s.updateVacancy(now)
}

// updateVacancy updates the times without a free slot.
func (s *slots) updateVacancy(now int64) {
	now = min(now, s.end)
	s.full.set(s.free() == 0, now)
	s.busy.set(s.used-s.idle >= s.max, now)
}
