package metric

// short tells whether less of the schedule was sent than was drawn, although nobody stopped the run.
func (s *ScheduleStats) short() bool {
	return s.Drawn > 0 && !s.CancelledByUser && float64(s.Sent) < rateShare*s.Drawn
}

// RateMissed tells whether the rate that was asked for was not reached for a reason other than the server, whatever the verdict says first.
func (e *ClientStats) RateMissed() bool {
	if !e.short() {
		return false
	}
	verdict, _ := e.shortfall()
	return verdict != VerdictServerLimited
}
