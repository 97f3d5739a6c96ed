package console

import (
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// sanitized returns a copy of the run with control characters removed from all foreign text, so that servers, files and names cannot control the terminal.
// The colours of the tables are added later, so no text of a run can imitate them.
func sanitized(run *metric.Run) *metric.Run {
	r := *run
	for _, text := range []*string{&r.Version, &r.BenchmarkID, &r.Title, &r.Brand, &r.Subject, &r.IncompleteReason, &r.LogFile, &r.Info.BenchmarkID, &r.Info.SweepID,
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
	r.GPU = sanitizedGPUs(run.GPU)
	s := *run.Profiling
	s.Errors = slices.Clone(s.Errors)
	for i := range s.Errors {
		e := &s.Errors[i].Error
		e.Type, e.Message, e.Cause = terminal.Line(e.Type), terminal.Text(e.Message), terminal.Line(e.Cause)
	}
	r.Profiling = &s
	return &r
}

// sanitizedGPUs returns a copy of the readings of exporters without control characters.
func sanitizedGPUs(of *metric.GPUTelemetry) *metric.GPUTelemetry {
	if of == nil {
		return nil
	}
	t := *of
	lines := func(list []string) (out []string) {
		for _, text := range list {
			out = append(out, terminal.Line(text))
		}
		return out
	}
	t.Configured, t.Successful = lines(of.Configured), lines(of.Successful)
	t.Errors = slices.Clone(of.Errors)
	for i := range t.Errors {
		e := &t.Errors[i].Error
		e.Type, e.Message = terminal.Line(e.Type), terminal.Line(e.Message)
	}
	t.Endpoints = nil
	for _, e := range of.Endpoints {
		e.Name, e.GPUs = terminal.Line(e.Name), slices.Clone(e.GPUs)
		for i := range e.GPUs {
			g := &e.GPUs[i]
			g.Name, g.Platform = terminal.Line(g.Name), terminal.Line(g.Platform)
			g.Metrics = slices.Clone(g.Metrics)
			for k := range g.Metrics {
				m := &g.Metrics[k]
				m.Name, m.Unit = terminal.Line(m.Name), terminal.Line(m.Unit)
			}
		}
		t.Endpoints = append(t.Endpoints, e)
	}
	return &t
}
