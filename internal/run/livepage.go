package run

import (
	"fmt"
	"strings"

	"aiperf/internal/measure/metric"
)

// seriesLabel names a run among those of its series, for the live page; "" = a single run.
func seriesLabel(info *metric.RunInfo) string {
	var parts []string
	if info.VariationLabel != "" && info.VariationLabel != "base" {
		parts = append(parts, strings.ReplaceAll(info.VariationLabel, "phases.profiling.", ""))
	}
	switch {
	case info.VariationIndex == nil && info.RunLabel != "":
		parts = append(parts, strings.ReplaceAll(info.RunLabel, "_", " "))
	case info.Trial > 0:
		parts = append(parts, fmt.Sprintf("repetition %d", info.Trial+1))
	}
	return strings.Join(parts, ", ")
}
