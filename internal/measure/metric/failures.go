package metric

import (
	"math"
	"strconv"
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

// FailureSentence returns this sentence for the profiling requests of a run.
func (r *Run) FailureSentence() string {
	return FailureSentence(r.Profiling.Failed, r.Profiling.Valid+r.Profiling.Failed)
}
