package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/series/gate"
)

// Gated is the exit status of runs that failed a gate.
const Gated = 3

// Gates says how finished runs are judged, and where the results are written.
type Gates struct {
	FailIf      []string // conditions (package gate)
	Options     gate.Options
	JUnit       string // path of the JUnit file; empty = none
	StepSummary string // path of the summary of a GitHub step; empty = none
	Err         io.Writer
	Spell       setting.Spell
}

// Judge applies the gates, prints a line for each, writes the requested files, and turns an exit status of 0 into Gated if a gate did not pass.
func (g *Gates) Judge(subjects []gate.Subject, status int) (int, error) {
	gates, err := gate.Parsed(g.FailIf)
	if err != nil {
		return 1, fmt.Errorf("%s: %w", g.Spell.As("fail_if"), err)
	}
	results := gate.Judge(gates, subjects, g.Options)
	g.print(results)
	if g.JUnit != "" {
		text, err := gate.JUnit(subjects, results)
		if err == nil {
			err = artifact.WriteFile(g.JUnit, text)
		}
		if err != nil {
			return 1, fmt.Errorf("%s %s: %w", g.Spell.As("junit"), g.JUnit, err)
		}
	}
	if g.StepSummary != "" {
		if err := appendFile(g.StepSummary, gate.StepSummary(subjects, results)); err != nil {
			fmt.Fprintf(g.Err, "warning: GITHUB_STEP_SUMMARY: %s\n", terminal.Text(err.Error()))
		}
	}
	if status == 0 && gate.Count(results, gate.Passed) < len(results) {
		status = Gated
	}
	return status, nil
}

// print writes a line for every gate, and one that says what to do about undecided ones.
func (g *Gates) print(results []gate.Result) {
	for k := range results {
		fmt.Fprintf(g.Err, "gate: %s\n", terminal.Text(results[k].Sentence()))
	}
	n := gate.Count(results, gate.Undecided)
	if n == 0 {
		return
	}
	are := "is undecided: its run does not settle it"
	if n > 1 {
		are = "are undecided: their runs do not settle them"
	}
	fmt.Fprintf(g.Err, "%s %s. %s %s judges by the plain values.\n", terminal.Plural(n, "gate"), are, remedy(results), g.Spell.As("allow_invalid"))
}

// remedies says how to get decided gates, in the order in which it is said.
var remedies = []struct {
	of   gate.Remedy
	text string
}{
	{gate.RemoveCause, "Remove the cause that the lines above name, and repeat the measurement."},
	{gate.PollMoreOften, "Poll the jobs more often (AIPERF_HTTP_VIDEO_POLL_INTERVAL, or the interval in the manifest of a plug-in), and repeat the measurement."},
	{gate.AwaitAnswers, "Change the setting that ended slow requests, which the verdict names, and repeat the measurement."},
	{gate.QuieterMachine, "Repeat the measurement on a quieter machine, or with more CPU for the client."},
}

// remedy says how to get decided gates.
func remedy(results []gate.Result) string {
	var list []string
	for _, m := range remedies {
		if slices.ContainsFunc(results, func(r gate.Result) bool { return r.Outcome == gate.Undecided && r.Remedy == m.of }) {
			list = append(list, m.text)
		}
	}
	return strings.Join(list, " ")
}

// judge applies the gates of an invocation.
func (i *invocation) judge(subjects []gate.Subject, status int) (int, error) {
	g := Gates{FailIf: i.run.FailIf, Options: gate.Options{AllowInvalid: i.run.AllowInvalid, Verdict: i.run.FailOnVerdict}, JUnit: i.run.JUnit, StepSummary: i.StepSummary, Err: i.Err, Spell: i.run.As}
	return g.Judge(subjects, status)
}

// appendFile appends to a file that other steps write to as well.
func appendFile(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// subjects returns the cells of a series as subjects of gates.
func (i *invocation) subjects(cells []config.Cell, byCell [][]*trial) (list []gate.Subject) {
	for k := range cells {
		s := gate.Subject{Name: cells[k].Label}
		for _, t := range byCell[k] {
			if t.ok() {
				s.Runs = append(s.Runs, t.run)
			} else {
				s.Fault, s.Interrupted = t.fault(), s.Interrupted || t.err == nil && t.run != nil && t.run.Cancelled
			}
		}
		if n := i.missingRuns(byCell[k]); n > 0 {
			s.Interrupted = true
			s.Fault = cmp.Or(s.Fault, notRun)
			if len(byCell[k]) > 0 {
				s.Fault = fmt.Sprintf("%s of %d not run", terminal.Plural(n, "run"), n+len(byCell[k]))
			}
		}
		list = append(list, s)
	}
	return list
}

// Subject returns one finished run as a subject.
func Subject(run *metric.Run) gate.Subject {
	s := gate.Subject{Runs: []*metric.Run{run}, Interrupted: run.Cancelled}
	if status(run) != 0 {
		s.Fault = "no request succeeded"
		if run.IncompleteReason != "" {
			s.Fault = run.IncompleteReason
		}
	}
	return s
}
