package plan

import (
	"fmt"
	"io"
	"math"

	"aiperf/internal/draw"
	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// repeatColumn is one of the figures of the table of repetitions.
type repeatColumn struct {
	name  string
	cells int
	tag   string
	of    metric.Stat
}

// repeatColumns are the six figures of the head and of a report's end; latencies are in ms.
var repeatColumns = []repeatColumn{
	{"req/s", 8, "request_throughput", metric.Avg}, {"tok/s out", 10, "output_token_throughput", metric.Avg},
	{"TTFT p50", 9, "time_to_first_token", metric.P50}, {"p99", 8, "time_to_first_token", metric.P99},
	{"ITL p50", 8, "inter_token_latency", metric.P50}, {"latency p50", 12, "request_latency", metric.P50},
}

// errorCells is the width of the column of errors.
const errorCells = 7

// wideSpread is the coefficient of variation from which on repetitions agree badly, in percent.
const wideSpread = 10

// repeatTable is a row for each repetition, then their mean, the half width of its interval and how far they spread. Only complete runs are in these.
func repeatTable(trials []*trial, r *metric.Repeated) draw.Rows {
	var shown []repeatColumn // what no run has is left out
	for _, c := range repeatColumns {
		if !math.IsNaN(meanOf(trials, c.tag, c.of)) {
			shown = append(shown, c)
		}
	}
	var head draw.Row
	head.Right(draw.Faint, "run", 5)
	for _, c := range shown {
		head.Right(draw.Faint, c.name, c.cells)
	}
	rows := draw.Rows{*head.Right(draw.Faint, "errors", errorCells)}
	for _, t := range trials {
		rows = append(rows, t.row(shown))
	}
	var mean, half, spread draw.Row
	mean.Right(draw.Bold, "mean", 5)
	half.Right(draw.Faint, "±", 5)
	spread.Right(draw.Faint, "CV", 5)
	for _, c := range append(shown, repeatColumn{"errors", errorCells, "error_request_count", metric.Avg}) {
		v := valueOf(r, c.tag, c.of)
		mean.Right(draw.Bold, terminal.Figure(v.Mean), c.cells)
		half.Right(draw.Plain, terminal.Figure((v.High-v.Low)/2), c.cells)
		ink := draw.Plain
		if 100*v.CV > wideSpread {
			ink = draw.Warn
		}
		text := "–"
		if !math.IsNaN(v.CV) && !math.IsInf(v.CV, 0) {
			text = terminal.Figure(100*v.CV) + " %"
		}
		spread.Right(ink, text, c.cells)
	}
	half.Put(draw.Faint, fmt.Sprintf("  %g %%", 100*r.Confidence))
	spread.Put(draw.Faint, "  spread")
	return append(rows, mean, half, spread)
}

// row is the run beside the others, with what is wrong with it behind its figures.
func (t *trial) row(shown []repeatColumn) draw.Row {
	var row draw.Row
	row.Right(draw.Plain, fmt.Sprint(t.n+1), 5)
	if t.run == nil {
		return *row.Put(draw.Warn, "  "+terminal.Shorten(terminal.Line(t.fault()), lineWidth-7))
	}
	for _, c := range shown {
		row.Right(draw.Plain, terminal.Figure(t.run.Profiling.Value(c.tag, c.of)), c.cells)
	}
	row.Right(draw.Plain, fmt.Sprint(t.run.Profiling.Failed), errorCells)
	switch {
	case !t.ok():
		row.Put(draw.Warn, " ! left out")
	case len(t.run.Silences) > 0:
		row.Put(draw.Warn, " ! stall")
	}
	return row
}

// valueOf is one statistic over the runs; NaN where none of them has it.
func valueOf(r *metric.Repeated, tag string, of metric.Stat) (v metric.RepeatedValue) {
	for k := range r.Values {
		if r.Values[k].Tag == tag && r.Values[k].Stat == of {
			return r.Values[k]
		}
	}
	v.Mean, v.Low, v.High, v.CV = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	return v
}

// printRepeats writes the table; i.Terminal: with bold and faint text.
func (i *invocation) printRepeats(trials []*trial, r *metric.Repeated) error {
	_, err := io.WriteString(i.Out, "\n"+repeatTable(trials, r).String(draw.NewPaint(i.Colour, i.Terminal, i.ASCII)))
	return err
}
