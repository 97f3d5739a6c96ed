package metric

import (
	"math"
	"strconv"
)

// FailedPercent is the share of failed requests as text, in percent with one decimal; "" below 1 %, where a verdict need not begin with it.
// failed and all count finished requests: those that the run itself cut off are in neither.
func FailedPercent(failed, all int64) string {
	share := float64(failed) / float64(all)
	if all <= 0 || share < failedShare {
		return ""
	}
	percent := math.Round(1000*share) / 10
	if failed < all {
		percent = min(percent, 99.9) // 100 % says that none succeeded
	}
	return strconv.FormatFloat(percent, 'f', -1, 64) + " %"
}

// FailureSentence is what a verdict begins with where 1 % or more of the requests failed, without its full stop; "" where fewer did.
func FailureSentence(failed, all int64) string {
	percent := FailedPercent(failed, all)
	if percent == "" {
		return ""
	}
	return percent + " of the requests failed"
}

// FailureSentence is that of the profiling requests of a run.
func (r *Run) FailureSentence() string {
	return FailureSentence(r.Profiling.Failed, r.Profiling.Valid+r.Profiling.Failed)
}
