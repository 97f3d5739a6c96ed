package plan

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// repeatColumn is a column of the table of repetitions.
type repeatColumn struct {
	name  string
	cells int
	tag   string
	of    metric.Stat
}

// repeatColumns lists the six main figures; latencies are in ms.
var repeatColumns = []repeatColumn{
	{"req/s", 8, "request_throughput", metric.Avg}, {"tok/s out", 10, "output_token_throughput", metric.Avg},
	{"TTFT p50", 9, "time_to_first_token", metric.P50}, {"p99", 8, "time_to_first_token", metric.P99},
	{"ITL p50", 8, "inter_token_latency", metric.P50}, {"latency p50", 12, "request_latency", metric.P50},
}

// errorCells is the width of the column of errors.
const errorCells = 7

// marks are short words for the verdicts of runs that did not measure the server cleanly. The line of the run has the whole verdict.
var marks = map[metric.Verdict]string{metric.VerdictClientLimited: "client", metric.VerdictUncertain: "uncertain", metric.VerdictRateNotReached: "rate"}

// wideSpread is the coefficient of variation above which repetitions agree badly, in percent.
const wideSpread = 10

// repeatTable draws a row for each repetition, then their mean, the half width of its interval and their spread. These include only complete runs.
func repeatTable(trials []*trial, r *metric.RepeatSummary) termdraw.Rows {
	var shown []repeatColumn // leave out columns that no run has
	for _, c := range repeatColumns {
		if !math.IsNaN(meanOf(trials, c.tag, c.of)) {
			shown = append(shown, c)
		}
	}
	var head termdraw.Row
	head.Right(termdraw.Faint, "run", 5)
	for _, c := range shown {
		head.Right(termdraw.Faint, c.name, c.cells)
	}
	rows := termdraw.Rows{*head.Right(termdraw.Faint, "errors", errorCells)}
	for _, t := range trials {
		rows = append(rows, t.row(shown))
	}
	var mean, half, spread termdraw.Row
	mean.Right(termdraw.Bold, "mean", 5)
	half.Right(termdraw.Faint, "±", 5)
	spread.Right(termdraw.Faint, "CV", 5)
	for _, c := range append(shown, repeatColumn{"errors", errorCells, "error_request_count", metric.Avg}) {
		v := valueOf(r, c.tag, c.of)
		mean.Right(termdraw.Bold, fitted(v.Mean, "", c.cells), c.cells)
		half.Right(termdraw.Plain, fitted((v.High-v.Low)/2, "", c.cells), c.cells)
		ink := termdraw.Plain
		if 100*v.CV > wideSpread {
			ink = termdraw.Warn
		}
		text := "–"
		if !math.IsNaN(v.CV) && !math.IsInf(v.CV, 0) {
			text = fitted(100*v.CV, " %", c.cells)
		}
		spread.Right(ink, text, c.cells)
	}
	half.Put(termdraw.Faint, fmt.Sprintf("  %g %%", 100*r.Confidence))
	spread.Put(termdraw.Faint, "  spread")
	return append(rows, mean, half, spread)
}

// fitted formats a figure with its unit for a column of cells cells, with a blank before it. A tiny figure has fewer digits than usual.
func fitted(v float64, unit string, cells int) string {
	text := terminal.Figure(v) + unit
	for digits := 2; digits > 0 && termdraw.Width(text) >= cells; digits-- {
		text = strconv.FormatFloat(v, 'g', digits, 64) + unit
	}
	return text
}

// row draws the row of a run, with its problems after the figures.
func (t *trial) row(shown []repeatColumn) termdraw.Row {
	var row termdraw.Row
	row.Right(termdraw.Plain, fmt.Sprint(t.n+1), 5)
	if t.run == nil {
		return *row.Put(termdraw.Warn, "  "+terminal.Shorten(terminal.Line(t.fault()), lineWidth-7))
	}
	for _, c := range shown {
		row.Right(termdraw.Plain, terminal.Figure(t.run.Profiling.Value(c.tag, c.of)), c.cells)
	}
	row.Right(termdraw.Plain, fmt.Sprint(t.run.Profiling.Failed), errorCells)
	switch {
	case !t.ok():
		row.Put(termdraw.Warn, " ! excluded")
	case len(t.run.Silences) > 0:
		row.Put(termdraw.Warn, " ! stall")
	case marks[verdictOf(t.run)] != "":
		row.Put(termdraw.Warn, " ! "+marks[verdictOf(t.run)])
	}
	return row
}

// valueOf returns one statistic over the runs; NaN if none of them has it.
func valueOf(r *metric.RepeatSummary, tag string, of metric.Stat) (v metric.RepeatValue) {
	for k := range r.Values {
		if r.Values[k].Tag == tag && r.Values[k].Stat == of {
			return r.Values[k]
		}
	}
	v.Mean, v.Low, v.High, v.CV = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	return v
}

// printRepeats prints the table; on a terminal with bold and faint text.
func (i *invocation) printRepeats(trials []*trial, r *metric.RepeatSummary) error {
	_, err := io.WriteString(i.Out, "\n"+repeatTable(trials, r).String(termdraw.NewPaint(i.Colour, i.Terminal, i.ASCII)))
	return err
}
