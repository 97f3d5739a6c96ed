package cli

import (
	"os"

	"aiperf/internal/artifact"
	"aiperf/internal/plan"
	"aiperf/internal/report"
)

// NextSteps returns the commands that continue from the results of a run: a page of them, and what has changed since the run before.
func NextSteps(dir string) []report.NextStep {
	steps := []report.NextStep{{Label: "Page", Command: "aiperf report --html " + plan.ShellWord(dir)}}
	previous := artifact.Previous(dir)
	if info, err := os.Stat(previous); err == nil && info.IsDir() {
		steps = append(steps, report.NextStep{Label: "Compare", Command: "aiperf compare " + plan.ShellWord(previous) + " " + plan.ShellWord(dir)})
	}
	return steps
}
