package cli

import (
	"slices"

	"aiperf/internal/config"
)

// accuracyFlags are those of benchmarks whose answers are graded.
var accuracyFlags = flagsOf(withKey("accuracy."))

// accuracy fills which benchmark is asked.
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
