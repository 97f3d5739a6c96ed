package metric

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"aiperf/internal/measure/record"
)

// FailedPercent formats the share of failed requests in percent with one decimal. It returns "" below 1 %, because a verdict need not mention it.
// failed and all count finished requests, without those that the run itself stopped.
func FailedPercent(failed, all int64) string {
	share := float64(failed) / float64(all)
	if all <= 0 || share < failedShare {
		return ""
	}
	percent := math.Round(1000*share) / 10
	if failed < all {
		percent = min(percent, 99.9) // 100 % would mean that no request succeeded
	}
	return strconv.FormatFloat(percent, 'f', -1, 64) + " %"
}

// FailureSentence returns the first sentence of a verdict if at least 1 % of the requests failed, without its full stop; otherwise "".
func FailureSentence(failed, all int64) string {
	percent := FailedPercent(failed, all)
	if percent == "" {
		return ""
	}
	return percent + " of the requests failed"
}

// PlannedCancellations returns how many requests were cancelled because the run was asked to cancel some. They are part of Failed.
func (s *Summary) PlannedCancellations() (n int64) {
	for i := range s.Errors {
		if s.Errors[i].Error.Type == record.PlannedCancellation {
			n += s.Errors[i].Count
		}
	}
	return n
}

// Failures returns how many profiling requests failed, and of how many. Planned cancellations count as neither.
func (r *Run) Failures() (failed, all int64) {
	failed = r.Profiling.Failed - r.Profiling.PlannedCancellations()
	return failed, failed + r.Profiling.Valid
}

// FailureSentence returns this sentence for the profiling requests of a run.
func (r *Run) FailureSentence() string { return FailureSentence(r.Failures()) }

// RateUse compares the time that rates cover with the time of all requests. Rates cover the time from the first successful request to the last, so they do not
// show that a server failed before or after. Both are 0 unless they differ by more than statistics may elsewhere.
type RateUse struct {
	RateTime time.Duration // from the start of the first successful request to the end of the last
	LoadTime time.Duration // from the start of the first request to the end of the last, failed ones included
}

// rateUse returns the time of rates and of all requests.
func (r *Reducer) rateUse(t *totals) RateUse {
	u := RateUse{time.Duration(t.duration()), time.Duration(r.lastEnd - r.firstStart)}
	byPhase := t.divisor > 0 // rates are over the time of the phase
	if none := math.IsNaN(t.duration()); none || byPhase || float64(u.LoadTime) < (1+certainRange)*float64(u.RateTime) {
		return RateUse{}
	}
	return u
}

// rateNote says that rates describe a part of the load only, because requests before or after that part failed; "" = they do not.
func (e *ClientStats) rateNote() string {
	if e.Failed == e.Planned || e.RateTime == 0 {
		return ""
	}
	return fmt.Sprintf("Rates cover only the %s from the first successful request to the last. Over the %s of all requests, %s requests/s succeeded.",
		formatDuration(e.RateTime), formatDuration(e.LoadTime), figure(float64(e.Valid)/e.LoadTime.Seconds(), 3))
}
