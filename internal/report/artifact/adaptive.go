package artifact

import "path/filepath"

// AdaptiveEventsName is the name of AdaptiveEvents below the run's folder.
func AdaptiveEventsName(phase string) string {
	return "phases/" + phase + "/adaptive_scale_events.jsonl"
}

// AdaptiveSummaryName is the name of AdaptiveSummary below the run's folder.
func AdaptiveSummaryName(phase string) string {
	return "phases/" + phase + "/adaptive_scale_summary.json"
}

// AdaptiveEvents is the file of all load changes of an adaptive phase and their reasons; it ignores the prefix.
func (l Layout) AdaptiveEvents(phase string) string {
	return filepath.Join(l.Dir, filepath.FromSlash(AdaptiveEventsName(phase)))
}

// AdaptiveSummary is the file with the result of an adaptive phase; it ignores the prefix.
func (l Layout) AdaptiveSummary(phase string) string {
	return filepath.Join(l.Dir, filepath.FromSlash(AdaptiveSummaryName(phase)))
}

// AdaptiveManifest is the list of a run's adaptive phases; it ignores the prefix.
func (l Layout) AdaptiveManifest() string {
	return filepath.Join(l.Dir, "adaptive_scale_manifest.json")
}
