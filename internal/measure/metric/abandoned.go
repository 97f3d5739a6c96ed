package metric

import "fmt"

// GivenUp returns the share of the schedule, 0 to 1, that the client skipped because it was too late.
func (e *ClientStats) GivenUp() float64 {
	share := rateOf(e.ReanchorLost.Seconds(), e.RateSeconds)
	if e.Drawn > 0 {
		share = max(share, e.Lost.Client/e.Drawn)
	}
	return min(1, share)
}

// gaveUp reports whether the client skipped more of its schedule than a run may miss. If the schedule has no steady part, there is no share, and
// every re-anchor counts.
func (e *ClientStats) gaveUp() bool {
	return e.GivenUp() > 1-rateShare || e.Reanchors > 0 && e.RateSeconds <= 0
}

// late reports whether requests of an open loop were sent too late because of the client alone.
func (e *ClientStats) late() bool { return e.OpenLoop && e.OwnLagP99 > e.lagLimit() }

// reanchorNote describes re-anchors that skipped too little of the schedule to change the verdict; "" = there were none.
func (e *ClientStats) reanchorNote() string {
	if e.Reanchors == 0 || e.gaveUp() {
		return ""
	}
	return fmt.Sprintf("The client fell behind its schedule %s and skipped %s of it: %.2g %%.", times(int64(e.Reanchors)), formatDuration(e.ReanchorLost), 100*e.GivenUp())
}
