package metric

import "fmt"

// GivenUp is the share of the schedule that the client gave up because it did not look at it in time, 0 to 1.
func (e *ClientStats) GivenUp() float64 {
	share := rateOf(e.ReanchorLost.Seconds(), e.RateSeconds)
	if e.Drawn > 0 {
		share = max(share, e.Lost.Client/e.Drawn)
	}
	return min(1, share)
}

// gaveUp reports whether the client gave up more of its schedule than a run may miss. A schedule without a steady part has no share: there
// every re-anchor counts.
func (e *ClientStats) gaveUp() bool {
	return e.GivenUp() > 1-rateShare || e.Reanchors > 0 && e.RateSeconds <= 0
}

// late reports whether requests of an open loop left later than they may, because of the client alone.
func (e *ClientStats) late() bool { return e.OpenLoop && e.OwnLagP99 > e.lagLimit() }

// reanchorNote describes re-anchors that cost too little of the schedule to change the verdict; "" = there were none.
func (e *ClientStats) reanchorNote() string {
	if e.Reanchors == 0 || e.gaveUp() {
		return ""
	}
	return fmt.Sprintf("The client fell behind its schedule %s and skipped %s of it: %.2g %%.", times(int64(e.Reanchors)), shown(e.ReanchorLost), 100*e.GivenUp())
}
