package cli

import (
	"os"

	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/series/plan"
)

// NextSteps returns commands that continue from the results of a run: its HTML report, and a comparison with the previous run.
func NextSteps(dir string) []console.NextStep {
	steps := []console.NextStep{{Label: "Page", Command: "aiperf report --html " + plan.ShellWord(dir)}}
	previous := artifact.Previous(dir)
	if info, err := os.Stat(previous); err == nil && info.IsDir() {
		steps = append(steps, console.NextStep{Label: "Compare", Command: "aiperf compare " + plan.ShellWord(previous) + " " + plan.ShellWord(dir)})
	}
	return steps
}
