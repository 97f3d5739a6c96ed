package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/termdraw"
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
	{"Requests", "/s", "request_throughput", metric.Avg}, {"Latency", "avg", "request_latency", metric.Avg}, {"Latency", "p99", "request_latency", metric.P99},
	{"TTFT", "avg", "time_to_first_token", metric.Avg}, {"TTFT", "p99", "time_to_first_token", metric.P99}, {"ITL", "avg", "inter_token_latency", metric.Avg},
	{"Tokens", "/s", "output_token_throughput", metric.Avg}, {"Goodput", "/s", "goodput", metric.Avg},
}

// sweep prints all cells side by side, with the mean over the runs of each.
func (i *invocation) sweep(cells []config.Cell, byCell [][]*trial) error {
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
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
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
	best, knee, said := i.bestCells(cells, byCell)
	var rows termdraw.Rows
	for n, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
		ink := termdraw.Plain
		switch cell := n - headLines; {
		case cell < 0:
			ink = termdraw.Faint
		case cell == best:
			ink = termdraw.GoodBold
		case cell == knee:
			ink = termdraw.Warn
		}
		rows = append(rows, *new(termdraw.Row).Put(ink, line))
	}
	_, err := fmt.Fprintf(i.Out, "%s%sCells: %s\n", rows.String(termdraw.NewPaint(i.Colour, i.Terminal, i.ASCII)), said, i.run.Artifacts.Dir)
	return err
}

// headLines is the number of lines above the cells in the final table.
const headLines = 2

// bestCells returns the cell with the most output, the cell from which more load adds clearly less output (-1 = none), and lines that name them.
func (i *invocation) bestCells(cells []config.Cell, byCell [][]*trial) (best, knee int, said string) {
	tag, unit := "output_token_throughput", "tokens/s"
	of := func(k int) float64 { return meanOf(byCell[k], tag, metric.Avg) }
	if !slices.ContainsFunc(byCell, func(list []*trial) bool { return !math.IsNaN(meanOf(list, tag, metric.Avg)) }) {
		tag, unit = "request_throughput", "requests/s"
	}
	best, knee = -1, -1
	var at []int // cells with a figure
	var load, output []float64
	for k := range cells {
		if math.IsNaN(of(k)) {
			continue
		}
		if best < 0 || of(k) > of(best) {
			best = k
		}
		if x, ok := loadOf(&cells[k]); ok && clientDoubt(byCell[k]) == "" { // a knee of this client says nothing about the server
			at, load, output = append(at, k), append(load, x), append(output, of(k))
		}
	}
	if best < 0 || len(cells) < 2 {
		return -1, -1, ""
	}
	said = fmt.Sprintf("Highest throughput: %s, %s %s", cellName(cells[best].Label), terminal.Figure(of(best)), unit)
	switch clientDoubt(byCell[best]) {
	case metric.ClientWasLimit:
		said += "; this client was the limit there, so the server may give more"
	case metric.ClientMayBeLimit:
		said += "; this client may have been the limit there, so the server may give more"
	}
	said += "\n" + tiesOf(cells, byCell, best, tag)
	if n := stats.Knee(load, output); n > 0 {
		knee = at[n]
		said += fmt.Sprintf("Knee: after %s: %s times the load gives %s times the %s\n", cellName(cells[at[n-1]].Label), terminal.Figure(load[n]/load[n-1]), terminal.Figure(output[n]/output[n-1]), unit)
	}
	return best, knee, said
}

// clientDoubt returns metric.ClientWasLimit if this client was the limit in a run of a cell, metric.ClientMayBeLimit if it may have been; "" = neither.
func clientDoubt(trials []*trial) (worst string) {
	for _, t := range trials {
		if t.run == nil || t.run.Validity == nil {
			continue
		}
		if doubt := t.run.Validity.ClientDoubt(); doubt != "" && worst != metric.ClientWasLimit {
			worst = doubt
		}
	}
	return worst
}

// loadOf returns the load of a cell, if its only axis is a load.
func loadOf(c *config.Cell) (float64, bool) {
	if len(c.Values) != 1 || !slices.Contains([]string{"concurrency", "rate"}, axisName(c.Values[0].Path)) {
		return 0, false
	}
	v, err := strconv.ParseFloat(fmt.Sprint(c.Values[0].Values[0]), 64)
	return v, err == nil
}

// cellName returns the label of a cell in words: "concurrency 32".
func cellName(label string) string {
	return strings.ReplaceAll(strings.ReplaceAll(label, "phases.profiling.", ""), "=", " ")
}

// axisName returns the last word of an axis' key; for a mean, the name of the quantity.
func axisName(path string) string {
	path = strings.TrimSuffix(path, ".mean")
	return path[strings.LastIndexByte(path, '.')+1:]
}
