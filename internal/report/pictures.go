package report

import (
	"fmt"
	"math"

	"aiperf/internal/draw"
	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// Bounds of the pictures.
const (
	widest     = 160 // longer lines do not help the eye
	sideBySide = 100 // width from which on distributions stand next to each other
	fewest     = 20  // values that make a distribution
	slowShown  = 5
	fewBins    = 10 // of a timeline
	perBin     = 4  // requests, at least
	leastBins  = 4  // of a run that has a course
)

// pictures draws, for a terminal, what latencies look like, how the run went, and its slowest requests.
func (d *drawing) pictures(o *Options) {
	if !d.fits || d.run.Course == nil || d.run.Profiling.Valid == 0 {
		return
	}
	width := min(d.width, widest)
	var rows draw.Rows
	for _, part := range []draw.Rows{distributions(d.run.Course, width), course(d.run, width), slowest(d.run, width)} {
		if len(part) > 0 {
			rows = append(append(rows, draw.Row{}), part...)
		}
	}
	for i := range rows {
		rows[i] = rows[i].Most(width)
	}
	d.print("%s", rows.String(draw.NewPaint(o.Colour, o.Colour, o.ASCII)))
}

// distributions are those of the time to the first token and of the latency.
func distributions(c *metric.Course, width int) draw.Rows {
	var list []draw.Distribution
	for _, tag := range []string{"time_to_first_token", "request_latency"} {
		if s := c.Sketch(tag); s != nil && s.Count >= fewest {
			m, _ := metric.Lookup(tag)
			list = append(list, draw.Of(m.Header, m.Display, s))
		}
	}
	if len(list) == 2 && width >= sideBySide {
		half := (width - 4) / 2
		return draw.Beside(list[0].Draw(half, 4), list[1].Draw(half, 4), half+4)
	}
	var rows draw.Rows
	for i := range list {
		if i > 0 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, list[i].Draw(width, 3)...)
	}
	return rows
}

// course is the timeline of the run.
func course(run *metric.Run, width int) draw.Rows {
	window := run.Course.Window
	span := float64(window.To-window.From) / 1e9
	if span <= 0 {
		return nil
	}
	most := max(fewBins, int(run.Profiling.Valid+run.Profiling.Failed)/perBin) // fewer requests in a bin are noise that looks like load
	seconds, bins, _ := draw.Bin(span, min(width-draw.TimelineLabel, most))
	if bins < leastBins {
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
	lanes := []draw.Series{{Name: "Requests/s", Zeros: true, Marks: silent, Values: values(func(b *metric.Bin) float64 { return b.Answered / seconds })}}
	if run.Profiling.Value("total_osl", metric.Avg) > 0 {
		lanes = append(lanes, draw.Series{Name: "Tokens/s", Unit: "out", Zeros: true, Marks: silent, Values: values(func(b *metric.Bin) float64 { return b.Tokens / seconds })})
	}
	if _, streams := run.Profiling.Get("time_to_first_token"); streams {
		lanes = append(lanes, draw.Series{Name: "TTFT p50", Unit: "ms", Values: values(func(b *metric.Bin) float64 { return b.TTFT / 1e6 })})
	}
	lanes = append(lanes,
		draw.Series{Name: "In flight", Low: true, Values: values(func(b *metric.Bin) float64 { return b.InFlight })},
		draw.Series{Name: "Errors", Digits: true, Values: values(func(b *metric.Bin) float64 { return b.Failed })})
	if len(run.Silences) > 0 {
		lanes = append(lanes, draw.Series{Name: "No answer", Marks: silent})
	}
	high := 2
	if width < sideBySide {
		high = 1
	}
	line := draw.Timeline{Seconds: seconds, Bins: bins, Series: lanes}
	return append(draw.Rows{draw.Rule("Timeline", "  "+draw.Round(seconds)+" s a column", width)}, line.Draw(width, high)...)
}

// marks are the bins in which servers stood still.
func marks(silences []metric.Silence, from int64, seconds float64, bins int) []bool {
	list := make([]bool, bins)
	for _, s := range silences {
		first, last := int(float64(s.From-from)/1e9/seconds), int(float64(s.To-from)/1e9/seconds)
		for i := max(first, 0); i <= min(last, bins-1); i++ {
			list[i] = true
		}
	}
	return list
}

// slowest are the slowest requests, and why where that is known.
func slowest(run *metric.Run, width int) draw.Rows {
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
		{"Tokens", 8, func(q *metric.SlowRequest) string { return draw.Round(q.Tokens) }},
		{"Sent at", 9, func(q *metric.SlowRequest) string {
			return fmt.Sprintf("%.1f s", float64(q.Start-run.Course.Window.From)/1e9)
		}},
	}
	if !wide { // an id that is cut finds no request
		columns = append(columns[:2:2], columns[3:]...)
	}
	id := 8
	for i := range run.Slowest[:min(slowShown, len(run.Slowest))] {
		id = max(id, min(draw.Width(terminal.Line(run.Slowest[i].RequestID)), 38)+2)
	}
	var head draw.Row
	for _, c := range columns {
		head.Right(draw.Faint, c.name, c.cells)
	}
	head.Put(draw.Plain, "  ").Left(draw.Faint, "Request", id).Put(draw.Faint, "Why")
	rows := draw.Rows{draw.Rule("Slowest requests", "  ms", width), head}
	for i := range run.Slowest[:min(slowShown, len(run.Slowest))] {
		q := &run.Slowest[i]
		var r draw.Row
		for k, c := range columns {
			ink := draw.Plain
			if k == 0 {
				ink = draw.Bold
			}
			r.Right(ink, c.text(q), c.cells)
		}
		r.Put(draw.Plain, "  ").Left(draw.Plain, draw.Cut(terminal.Line(q.RequestID), id-2), id).Put(draw.Warn, reason(run, q).words(wide))
		rows = append(rows, r)
	}
	return rows
}

// slowness is why a request was slow: in full, and where there is little room.
type slowness struct{ long, short string }

func (s slowness) words(wide bool) string {
	if wide {
		return s.long
	}
	return s.short
}

// reason is why a request was slow, as far as its own instants say; nothing = they do not.
func reason(run *metric.Run, q *metric.SlowRequest) slowness {
	for _, s := range run.Silences {
		if q.Start < s.To && q.End > s.From {
			return slowness{"in the stall", "stall"}
		}
	}
	usual := run.Profiling.Value("output_sequence_length", metric.P50)
	switch {
	case q.TTFT > q.Latency/2 && q.ITL > 0:
		return slowness{"first token", "TTFT"}
	case !math.IsNaN(usual) && q.Tokens > 2*usual:
		return slowness{"long answer", "long"}
	}
	return slowness{}
}
