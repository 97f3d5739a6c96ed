package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// notRun and interrupted are the verdicts of cells without results.
const (
	notRun      = "not run"
	interrupted = "interrupted"
)

// gravity lists the verdicts, the most serious first. "" is that of a run without a verdict.
var gravity = []metric.Verdict{
	metric.VerdictNoResult, metric.VerdictClientLimited, metric.VerdictUncertain, metric.VerdictRateNotReached, metric.VerdictServerLimited, "", metric.VerdictValid,
}

// cellVerdict summarises the runs of a cell: why it has no result, or else the most serious verdict of its runs with the share of failed requests.
// After an interruption it includes the number of runs.
func (i *invocation) cellVerdict(trials []*trial) string {
	if len(trials) == 0 {
		return notRun
	}
	word, failed, all := metric.VerdictValid, int64(0), int64(0)
	for _, t := range trials {
		switch {
		case t.err == nil && t.run != nil && t.run.Cancelled:
			return interrupted
		case !t.ok():
			return "failed: " + t.fault()
		}
		word = graver(word, verdictOf(t.run))
		failed, all = failed+t.run.Profiling.Failed, all+t.run.Profiling.Failed+t.run.Profiling.Valid
	}
	var parts []string
	if word != metric.VerdictValid {
		parts = append(parts, cmp.Or(string(word), "no verdict"))
	}
	if percent := metric.FailedPercent(failed, all); percent != "" {
		parts = append(parts, percent+" failed")
	}
	if parts == nil {
		parts = append(parts, string(word))
	}
	if n := i.missingRuns(trials); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", len(trials), terminal.Plural(n+len(trials), "run")))
	}
	return strings.Join(parts, ", ")
}

// verdictOf returns the verdict of a run; "" if it has none.
func verdictOf(run *metric.Run) metric.Verdict {
	if run.Validity == nil {
		return ""
	}
	return run.Validity.Verdict
}

// graver returns the more serious of two verdicts. An unknown verdict counts as serious.
func graver(a, b metric.Verdict) metric.Verdict {
	if slices.Index(gravity, b) < slices.Index(gravity, a) {
		return b
	}
	return a
}

// missingRuns returns the number of planned runs of a cell that were not executed; 0 for a cell that has converged.
func (i *invocation) missingRuns(trials []*trial) int {
	if i.run == nil || len(trials) > 0 && newConvergence(i.run).converged(trials) {
		return 0
	}
	return max(0, max(1, i.run.MultiRun.NumRuns)-len(trials))
}

// complete reports whether every planned run of a cell finished.
func (i *invocation) complete(trials []*trial) bool {
	return i.missingRuns(trials) == 0 && !slices.ContainsFunc(trials, func(t *trial) bool { return t.err == nil && t.run != nil && t.run.Cancelled })
}

// sayUnfinished reports that a series ended early: how much of it ran, and how to run the rest. It prints nothing for a complete series.
func (i *invocation) sayUnfinished(cells []config.Cell, byCell [][]*trial) error {
	done, noun, of := 0, "cell", len(cells)
	for k := range cells {
		if i.complete(byCell[k]) {
			done++
		}
	}
	if done == len(cells) {
		return nil
	}
	if i.run.Sweep == nil {
		noun, of, done = "run", max(1, i.run.MultiRun.NumRuns), 0
		for _, t := range byCell[0] {
			if t.run == nil || !t.run.Cancelled {
				done++
			}
		}
	}
	word := "Ended early"
	if i.ctx != nil && i.ctx.Err() != nil {
		word = "Interrupted"
	}
	_, err := fmt.Fprintf(i.Out, "\n%s: %d of %s ran to the end. %s\n", word, done, terminal.Plural(of, noun), i.resumeHint())
	return ignoreGone(err)
}

// ShellWord quotes a word for a shell if necessary.
func ShellWord(word string) string {
	if strings.ContainsAny(word, " \t'\"$&|;<>()*?`\\") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// resumeHint says how to run the rest of a series.
func (i *invocation) resumeHint() string {
	dir := ShellWord(terminal.Line(i.run.Artifacts.Dir))
	return fmt.Sprintf("To run the rest, give the same command with %s %s instead of %s.", config.ResumeFlag, dir, config.FlagOf("artifacts.dir"))
}
