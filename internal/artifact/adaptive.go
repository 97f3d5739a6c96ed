package artifact

import "path/filepath"

// AdaptiveEvents is the file of what moved the load of an adaptive phase, and why; it ignores the prefix.
func (l Layout) AdaptiveEvents(phase string) string {
	return filepath.Join(l.Dir, "phases", phase, "adaptive_scale_events.jsonl")
}

// AdaptiveSummary is the file of what an adaptive phase came to; it ignores the prefix.
func (l Layout) AdaptiveSummary(phase string) string {
	return filepath.Join(l.Dir, "phases", phase, "adaptive_scale_summary.json")
}

// AdaptiveManifest is the list of a run's adaptive phases; it ignores the prefix.
func (l Layout) AdaptiveManifest() string { return filepath.Join(l.Dir, "adaptive_scale_manifest.json") }
