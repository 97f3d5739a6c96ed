package metric

import (
	"math"
	"strconv"

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
