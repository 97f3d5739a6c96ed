package htmlreport

import (
	"fmt"
	"slices"

	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
)

// An axis is clipped if the largest value is more than this multiple of its 99.9th percentile: the other values would be flattened.
const (
	clipAt     = 99.9
	clipLinear = 2.0
	clipLog    = 10.0
	clipRoom   = 1.05 // room above the percentile
	clipFewest = 1000 // smallest number of values that has this percentile
)

// clip ends an axis just above the 99.9th percentile of the sorted values if a few outliers would take most of it. It returns a note that says how many
// values are above, and up to what; nil if the axis stays as it is.
func clip(a *chart.Axis, sorted []float64, unit string) []string {
	if len(sorted) < clipFewest {
		return nil
	}
	limit, top, times := clipRoom*stats.Percentile(sorted, clipAt), sorted[len(sorted)-1], clipLinear
	low := min(sorted[0], 0)
	if a.Kind() == chart.Log {
		times, low = clipLog, sorted[0]/clipRoom
	}
	if limit <= 0 || top <= times*limit {
		return nil
	}
	a.Fixed, a.Clipped, a.Min, a.Max = true, true, low, limit
	within, _ := slices.BinarySearch(sorted, limit)
	return []string{fmt.Sprintf("%s above, up to %s %s", count(len(sorted)-within), figure(top), unit)}
}
