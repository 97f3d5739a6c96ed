package report

import (
	"slices"

	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// shown is a run whose texts may be drawn: what servers, files and names put into them steers no terminal. The tables' own colours are added
// later, so nothing of a run can pass for one.
func shown(run *metric.Run) *metric.Run {
	r := *run
	for _, text := range []*string{&r.Version, &r.BenchmarkID, &r.Title, &r.IncompleteReason, &r.LogFile, &r.Info.BenchmarkID, &r.Info.SweepID,
		&r.Info.RunLabel, &r.Info.VariationLabel, &r.Info.CLICommand} {
		*text = terminal.Line(*text)
	}
	r.Files = slices.Clone(run.Files)
	for i := range r.Files {
		r.Files[i] = metric.File{Kind: terminal.Line(run.Files[i].Kind), Path: terminal.Line(run.Files[i].Path)}
	}
	if run.Validity != nil {
		v := *run.Validity
		v.Verdict, v.Reason, v.Notes = metric.Verdict(terminal.Line(string(v.Verdict))), terminal.Line(v.Reason), slices.Clone(v.Notes)
		for i := range v.Notes {
			v.Notes[i] = terminal.Line(v.Notes[i])
		}
		r.Validity = &v
	}
	s := *run.Profiling
	s.Errors = slices.Clone(s.Errors)
	for i := range s.Errors {
		e := &s.Errors[i].Error
		e.Type, e.Message, e.Cause = terminal.Line(e.Type), terminal.Text(e.Message), terminal.Line(e.Cause)
	}
	r.Profiling = &s
	return &r
}
