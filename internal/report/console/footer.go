package console

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// Footer writes how the run was started, how long it took and which files it wrote.
func Footer(w io.Writer, run *metric.Run, o Options) error {
	d := newDrawing(w, run, o)
	run = d.run
	d.print("\n")
	if run.Info.CLICommand != "" {
		d.print("%s %s\n", d.style.bold("CLI Command:"), run.Info.CLICommand)
	}
	length := "N/A" // no request succeeded, so there is no first start and last answer
	if seconds := run.Profiling.Value("benchmark_duration", metric.Avg); !math.IsNaN(seconds) {
		length = fmt.Sprintf("%.2f sec", seconds)
	}
	early := ""
	if run.Cancelled {
		early = " (cancelled early)"
	}
	d.print("%s %s%s\n", d.style.bold("Benchmark Duration:"), length, early)
	for _, f := range run.Files {
		d.print("%s %s\n", d.style.bold(f.Kind+":"), absolute(f.Path))
	}
	if run.LogFile != "" {
		d.print("%s %s\n", d.style.bold("Log File:"), absolute(run.LogFile))
	}
	if n := run.Profiling.Cut; n > 0 {
		if n == 1 {
			d.say("1 request was cut off at the end of the run; the records list it, but no metric includes it.\n")
		} else {
			d.say("%s requests were cut off at the end of the run; the records list them, but no metric includes them.\n", terminal.Count(n))
		}
	}
	if !o.Terminal { // on a terminal the headline says it
		d.doubt()
	}
	if run.Cancelled {
		d.say("%s\n", d.style.paint("3", "The run was cancelled early: the results cover a part of it."))
	}
	return d.err
}

// doubt says why the measurement is not clean: failed requests, or a verdict other than valid.
func (d *drawing) doubt() {
	v, failed := d.run.Validity, d.run.FailureSentence()
	switch {
	case v == nil:
	case v.Verdict != metric.VerdictValid && failed != "":
		d.print("%s\n", d.style.red("Not a clean measurement: "+failed+"; "+v.Sentence()))
	case v.Verdict != metric.VerdictValid:
		d.print("%s\n", d.style.red("Not a clean measurement: "+v.Sentence()))
	case failed != "":
		d.print("%s\n", d.style.paint(paintWarn, "Not a clean measurement: "+failed+"."))
	}
}

// absolute returns the absolute form of a path.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return terminal.Line(full)
	}
	return path
}
