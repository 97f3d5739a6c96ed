package console

import (
	"fmt"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// Limits for the charts.
const (
	widest     = 160 // longer lines are hard to read
	sideBySide = 100 // width from which distributions are placed side by side
	fewest     = 20  // values that a distribution needs
	slowShown  = 5
	fewBins    = 10 // of a timeline
	perBin     = 4  // smallest number of requests per bin
	minBins    = 4  // of a run with a timeline
)

// pictures draws on a terminal the distributions of latencies, the timeline of the run, and its slowest requests.
func (d *drawing) pictures(o *Options) {
	if !d.fits || d.run.Course == nil || d.run.Profiling.Valid == 0 {
		return
	}
	width := min(d.width, widest)
	var rows termdraw.Rows
	for _, part := range []termdraw.Rows{distributions(d.run.Course, width), timeCourse(d.run, width), slowest(d.run, width)} {
		if len(part) > 0 {
			rows = append(append(rows, termdraw.Row{}), part...)
		}
	}
	for i := range rows {
		rows[i] = rows[i].Most(width)
	}
	d.print("%s", rows.String(termdraw.NewPaint(o.Colour, o.Colour, o.ASCII)))
}

// distributions draws the distributions of the time to first token and of the latency.
func distributions(c *metric.TimeCourse, width int) termdraw.Rows {
	var list []termdraw.Distribution
	for _, tag := range []string{"time_to_first_token", "request_latency"} {
		if s := c.Sketch(tag); s != nil && s.Count >= fewest {
			m, _ := metric.Lookup(tag)
			list = append(list, termdraw.Of(m.Header, m.Display, s))
		}
	}
	if len(list) == 2 && width >= sideBySide {
		half := (width - 4) / 2
		return termdraw.SideBySide(list[0].Draw(half, 4), list[1].Draw(half, 4), half+4)
	}
	var rows termdraw.Rows
	for i := range list {
		if i > 0 {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, list[i].Draw(width, 3)...)
	}
	return rows
}

// timeCourse draws the timeline of the run.
func timeCourse(run *metric.Run, width int) termdraw.Rows {
	window := run.Course.Window
	span := float64(window.To-window.From) / 1e9
	if span <= 0 {
		return nil
	}
	most := max(fewBins, int(run.Profiling.Valid+run.Profiling.Failed)/perBin) // with fewer requests per bin, noise looks like load
	seconds, bins, _ := termdraw.Bin(span, min(width-termdraw.TimelineLabel, most))
	if bins < minBins {
		return nil
	}
	values := func(of func(*metric.Bin) float64) []float64 {
		list := make([]float64, bins)
		for i, b := range run.Course.Bins(seconds, bins) {
			list[i] = of(&b)
		}
		return list
	}
	silent := marks(run.Silences, window.From, seconds, bins)
	lanes := []termdraw.Series{{Name: "Requests/s", Zeros: true, Marks: silent, Values: values(func(b *metric.Bin) float64 { return b.Answered / seconds })}}
	if run.Profiling.Value("total_osl", metric.Avg) > 0 {
		lanes = append(lanes, termdraw.Series{Name: "Tokens/s", Unit: "out", Zeros: true, Marks: silent, Values: values(func(b *metric.Bin) float64 { return b.Tokens / seconds })})
	}
	if _, streams := run.Profiling.Get("time_to_first_token"); streams {
		lanes = append(lanes, termdraw.Series{Name: "TTFT p50", Unit: "ms", Values: values(func(b *metric.Bin) float64 { return b.TTFT / 1e6 })})
	}
	lanes = append(lanes,
		termdraw.Series{Name: "In flight", Low: true, Values: values(func(b *metric.Bin) float64 { return b.InFlight })},
		termdraw.Series{Name: "Errors", Digits: true, Values: values(func(b *metric.Bin) float64 { return b.Failed })})
	if len(run.Silences) > 0 {
		lanes = append(lanes, termdraw.Series{Name: "No answer", Marks: silent})
	}
	if events := podEvents(run); len(events) > 0 {
		lanes = append(lanes, termdraw.Series{Name: "Server pods", Marks: marks(events, window.From, seconds, bins)})
	}
	high := 2
	if width < sideBySide {
		high = 1
	}
	line := termdraw.Timeline{Seconds: seconds, Bins: bins, Series: lanes}
	return append(termdraw.Rows{termdraw.Rule("Timeline", "  "+termdraw.Round(seconds)+" s a column", width)}, line.Draw(width, high)...)
}

// podEvents returns the instants at which something happened to the pods of the server.
func podEvents(run *metric.Run) (list []metric.ServerSilence) {
	if run.Validity == nil || run.Validity.ServerPods == nil {
		return nil
	}
	for _, e := range run.Validity.ServerPods.Events {
		list = append(list, metric.ServerSilence{From: e.At, To: e.At})
	}
	return list
}

// marks returns the bins in which servers stalled, or in which something happened to their pods.
func marks(silences []metric.ServerSilence, from int64, seconds float64, bins int) []bool {
	list := make([]bool, bins)
	for _, s := range silences {
		first, last := int(float64(s.From-from)/1e9/seconds), int(float64(s.To-from)/1e9/seconds)
		for i := max(first, 0); i <= min(last, bins-1); i++ {
			list[i] = true
		}
	}
	return list
}

// slowest lists the slowest requests, and why they were slow where that is known.
func slowest(run *metric.Run, width int) termdraw.Rows {
	if len(run.Slowest) == 0 {
		return nil
	}
	wide := width >= sideBySide
	columns := []struct {
		name  string
		cells int
		text  func(q *metric.SlowRequest) string
	}{
		{"Latency", 9, func(q *metric.SlowRequest) string { return terminal.Figure(q.Latency / 1e6) }},
		{"TTFT", 8, func(q *metric.SlowRequest) string { return terminal.Figure(q.TTFT / 1e6) }},
		{"ITL", 7, func(q *metric.SlowRequest) string { return terminal.Figure(q.ITL / 1e6) }},
		{"Tokens", 8, func(q *metric.SlowRequest) string { return termdraw.Round(q.Tokens) }},
		{"Sent at", 9, func(q *metric.SlowRequest) string {
			return fmt.Sprintf("%.1f s", float64(q.Start-run.Course.Window.From)/1e9)
		}},
	}
	if !wide { // a truncated id cannot be searched for
		columns = append(columns[:2:2], columns[3:]...)
	}
	id := 8
	for i := range run.Slowest[:min(slowShown, len(run.Slowest))] {
		id = max(id, min(termdraw.Width(terminal.Line(run.Slowest[i].RequestID)), 38)+2)
	}
	var head termdraw.Row
	for _, c := range columns {
		head.Right(termdraw.Faint, c.name, c.cells)
	}
	head.Put(termdraw.Plain, "  ").Left(termdraw.Faint, "Request", id).Put(termdraw.Faint, "Why")
	rows := termdraw.Rows{termdraw.Rule("Slowest requests", "  ms", width), head}
	for i := range run.Slowest[:min(slowShown, len(run.Slowest))] {
		q := &run.Slowest[i]
		var r termdraw.Row
		for k, c := range columns {
			ink := termdraw.Plain
			if k == 0 {
				ink = termdraw.Bold
			}
			r.Right(ink, c.text(q), c.cells)
		}
		r.Put(termdraw.Plain, "  ").Left(termdraw.Plain, termdraw.Cut(terminal.Line(q.RequestID), id-2), id).Put(termdraw.Warn, reason(run, q).words(wide))
		rows = append(rows, r)
	}
	return rows
}

// slowReason is why a request was slow, in a long and a short form.
type slowReason struct{ long, short string }

func (s slowReason) words(wide bool) string {
	if wide {
		return s.long
	}
	return s.short
}

// clearlySlower is the share of the median latency by which a request must exceed it before its first token counts as the reason.
const clearlySlower = 0.1

// reason returns why a request was slower than the median one, as far as its own instants show; empty = unknown.
func reason(run *metric.Run, q *metric.SlowRequest) slowReason {
	for _, s := range run.Silences {
		if q.Start < s.To && q.End > s.From {
			return slowReason{"in the stall", "stall"}
		}
	}
	usual := func(tag string) float64 { return run.Profiling.Value(tag, metric.P50) } // times in ms; comparisons with NaN are false
	excess := q.Latency/1e6 - usual("request_latency")
	switch {
	case q.ITL > 0 && excess > clearlySlower*usual("request_latency") && q.TTFT/1e6-usual("time_to_first_token") > excess/2:
		return slowReason{"late first token", "TTFT"}
	case q.Tokens > 2*usual("output_sequence_length"):
		return slowReason{"long answer", "long"}
	}
	return slowReason{}
}
