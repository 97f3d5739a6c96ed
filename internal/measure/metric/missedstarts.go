package metric

// short reports whether fewer requests of the schedule were sent than drawn, although the user did not stop the run.
func (s *ScheduleStats) short() bool {
	return s.Drawn > 0 && !s.CancelledByUser && float64(s.Sent) < rateShare*s.Drawn
}

// RateMissed reports whether the run missed the requested rate for a reason other than the server, whatever the verdict mentions first.
func (e *ClientStats) RateMissed() bool {
	if !e.short() {
		return false
	}
	verdict, _ := e.shortfall()
	return verdict != VerdictServerLimited
}
