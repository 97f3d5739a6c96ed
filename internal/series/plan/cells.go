package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// lineWidth is the largest width of a line about one run of several, in columns.
const lineWidth = 80

// minNameWidth is the smallest width of a name, however long the rest of its line is.
const minNameWidth = 16

// brief describes one run of several in one line of lineWidth; a long name is shortened. The full report is in its console file; --tables all also
// prints it.
func brief(label string, run *metric.Run) string {
	s := run.Profiling
	var parts []string
	for _, l := range []struct{ tag, unit string }{{"output_token_throughput", "tok/s"}, {"request_throughput", "req/s"}} {
		if v := s.Value(l.tag, metric.Avg); !math.IsNaN(v) {
			parts = append(parts, terminal.Figure(v)+" "+l.unit)
		}
	}
	median := "p50 " // written only once
	for _, l := range []struct{ tag, name string }{{"time_to_first_token", "TTFT"}, {"request_latency", "latency"}} {
		if v := s.Value(l.tag, metric.P50); !math.IsNaN(v) {
			parts = append(parts, median+l.name+" "+terminal.Figure(v)+" ms")
			median = ""
		}
	}
	var state []string
	switch {
	case s.Valid+s.Failed == 0:
		state = append(state, "no request finished")
	case s.Failed > 0:
		state = append(state, terminal.Count(s.Failed)+" of "+terminal.Count(s.Valid+s.Failed)+" failed")
	}
	if run.IncompleteReason != "" {
		state = append(state, "incomplete")
	}
	if v := run.Validity; v != nil && v.Verdict != metric.VerdictValid {
		state = append(state, string(v.Verdict))
	}
	name := min(utf8.RuneCountInString(label), minNameWidth)
	figures := ": " + strings.Join(slices.Concat(parts, state), ", ")
	for len(parts) > 1 && name+len(figures) > lineWidth { // drop the last figures, so that the terminal does not wrap the verdict
		parts = parts[:len(parts)-1]
		figures = ": " + strings.Join(slices.Concat(parts, state), ", ")
	}
	return terminal.Shorten(label, max(minNameWidth, lineWidth-len(figures))) + figures
}

// column is a figure of a cell in the final table.
type column struct {
	name, stat string
	tag        string
	of         metric.Stat
}

// closing lists the columns of the final table; latencies are in ms.
var closing = []column{
	{"req/s", "", "request_throughput", metric.Avg}, {"latency", "avg", "request_latency", metric.Avg}, {"latency", "p99", "request_latency", metric.P99},
	{"TTFT", "avg", "time_to_first_token", metric.Avg}, {"TTFT", "p99", "time_to_first_token", metric.P99}, {"ITL", "avg", "inter_token_latency", metric.Avg},
	{"tok/s", "", "output_token_throughput", metric.Avg}, {"goodput", "req/s", "goodput", metric.Avg},
}

// sweep prints all cells side by side, with the mean over the runs of each.
func (i *session) sweep(cells []config.Cell, byCell [][]*trial) error {
	if i.run.NoSweepTable {
		return nil
	}
	fmt.Fprintf(i.Out, "\nSweep: %s, latencies in ms\n", terminal.Plural(len(cells), "cell"))
	var shown []column // leave out columns that no cell has
	for _, c := range closing {
		for k := range cells {
			if !math.IsNaN(meanOf(byCell[k], c.tag, c.of)) {
				shown = append(shown, c)
				break
			}
		}
	}
	w := tabwriter.NewWriter(i.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var head, below strings.Builder
	for _, v := range cells[0].Values {
		head.WriteString(axisName(v.Path) + "\t")
		below.WriteString("\t")
	}
	for _, c := range shown {
		head.WriteString(c.name + "\t")
		below.WriteString(c.stat + "\t")
	}
	fmt.Fprintf(w, "%sverdict\t\n%s\t\n", head.String(), below.String())
	for k := range cells {
		for _, v := range cells[k].Values {
			fmt.Fprintf(w, "%v\t", v.Values[0])
		}
		for _, c := range shown {
			fmt.Fprintf(w, "%s\t", terminal.Figure(meanOf(byCell[k], c.tag, c.of)))
		}
		fmt.Fprintf(w, "%s\t\n", i.cellVerdict(byCell[k]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(i.Out, "Cells: %s\n", i.run.Artifacts.Dir)
	return err
}

// axisName returns the last word of an axis' key; for a mean, the name of the quantity.
func axisName(path string) string {
	path = strings.TrimSuffix(path, ".mean")
	return path[strings.LastIndexByte(path, '.')+1:]
}
