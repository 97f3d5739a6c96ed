package resolve

import (
	"slices"

	"aiperf/internal/config"
)

// accuracyFlags lists the flags of accuracy benchmarks.
var accuracyFlags = flagsOf(withKey("accuracy."))

// accuracy fills in the settings of an accuracy benchmark.
func (r *resolver) accuracy() {
	if len(r.given(accuracyFlags...)) > 0 && r.run.Accuracy == nil {
		r.run.Accuracy = &config.Accuracy{}
	}
	a := r.run.Accuracy
	if a == nil {
		return
	}
	r.bind("accuracy.")
	if r.has("--accuracy-tasks") {
		a.Tasks = slices.DeleteFunc(a.Tasks, func(t string) bool { return t == "" })
	}
}
