package report

import (
	"fmt"
	"io"
	"math"

	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// Headline writes what most people want to know of a run, one line a figure, to stand next to the prompt: it comes last. dir is where the
// run's files are, and files how many.
func Headline(w io.Writer, run *metric.Run, dir string, files int, o Options) error {
	d := newDrawing(w, run, o)
	run = d.run
	d.print("\n")
	for _, l := range []struct{ name, tag string }{
		{"TTFT", "time_to_first_token"}, {"ITL", "inter_token_latency"}, {"Latency", "request_latency"},
	} {
		if r, ok := run.Profiling.Get(l.tag); ok && !math.IsNaN(r.Values[metric.P50]) {
			unit := r.Metric.Display
			d.headline(l.name, fmt.Sprintf("p50 %9s %s   p99 %9s %s", terminal.Figure(r.Values[metric.P50]), unit, terminal.Figure(r.Values[metric.P99]), unit))
		}
	}
	d.headline("Throughput", throughput(run.Profiling))
	if v := run.Validity; v != nil {
		word, paint := string(v.Verdict), d.style.bold
		if v.Verdict != metric.VerdictValid {
			paint = d.style.red
		}
		text := cut(word+". "+v.Reason, max(d.width-labelled, len(word)))
		d.headline("Verdict", paint(text[:len(word)])+text[len(word):])
	}
	d.headline("Results", plural(files, "file")+" in "+terminal.Line(dir))
	return d.err
}

// labelled is the width of the labels of the headline.
const labelled = 12

// headline writes one line of it; nothing when there is nothing to say.
func (d *drawing) headline(label, text string) {
	if text != "" {
		d.print("%s%*s%s\n", d.style.bold(label), labelled-len(label), "", text)
	}
}

// throughput is tokens and requests per second, and how many requests failed.
func throughput(s *metric.Summary) string {
	text := ""
	for _, l := range []struct{ tag, unit string }{{"output_token_throughput", "tokens/s"}, {"request_throughput", "requests/s"}} {
		if v := s.Value(l.tag, metric.Avg); !math.IsNaN(v) {
			text += terminal.Figure(v) + " " + l.unit + ", "
		}
	}
	all := s.Valid + s.Failed
	if s.Failed == 0 {
		return text + plural(int(all), "request") + ", no errors"
	}
	return text + fmt.Sprintf("%s of %s failed (%.1f %%)", trim(float64(s.Failed)), trim(float64(all)), 100*float64(s.Failed)/float64(all))
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return trim(float64(n)) + " " + noun + "s"
}
