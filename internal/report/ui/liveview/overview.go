package liveview

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
)

// figure is the width of a column of figures.
const figure = 9

// column is one column of the head besides "last 10 s" and "run".
type column struct {
	name  string
	least int // smallest width of the terminal that shows it
	of    func(*Figure) float64
}

var columns = []column{
	{"p90", 100, func(f *Figure) float64 { return f.P90 }},
	{"p99", 0, func(f *Figure) float64 { return f.P99 }},
	{"avg", 120, func(f *Figure) float64 { return f.Avg }},
	{"max", 120, func(f *Figure) float64 { return f.Max }},
	{"min", 160, func(f *Figure) float64 { return f.Min }},
	{"std", 160, func(f *Figure) float64 { return f.Std }},
}

// TrendCells returns the width for trends in the head; each cell is a second.
func TrendCells(width int) int {
	n := 2
	for _, c := range columns {
		if width >= c.least {
			n++
		}
	}
	return max(0, min(60, width-label-figure*n-4))
}

// head draws the six figures in fixed columns, and the goodput if there are limits of service; on demand with their trends.
func head(s *State, v View, trends bool) termdraw.Rows {
	var first termdraw.Row
	first.To(label).Right(termdraw.Faint, "last 10 s", figure).Right(termdraw.Faint, "run", figure)
	for _, c := range columns {
		if v.Width >= c.least {
			first.Right(termdraw.Faint, c.name, figure)
		}
	}
	if trends {
		first.Put(termdraw.Faint, termdraw.Cut("   trend, 1 s a cell", v.Width-first.Cells()))
	}
	rows := termdraw.Rows{first}
	f := &s.Figures
	cells := TrendCells(v.Width)
	type line struct {
		name, unit string
		*Figure
		kind int
	}
	lines := []line{
		{"Requests", " /s", &f.Requests, 0}, {"Tokens out", " /s", &f.Tokens, 0}, {"TTFT", " p50 ms", &f.TTFT, 1}, {"ITL", " p50 ms", &f.ITL, 1},
		{"Latency", " p50 ms", &f.Latency, 1}, {"Errors", " %", &f.Errors, 2},
	}
	if f.limited() {
		lines = slices.Insert(lines, 2, line{"Goodput", " /s", &f.Goodput, 0})
	}
	for _, one := range lines {
		var r termdraw.Row
		r.To(1).Put(termdraw.Plain, one.name).Put(termdraw.Faint, one.unit).To(label)
		ink := termdraw.Bold
		if one.kind == 2 {
			ink = errorInk(one.Run)
		}
		r.Right(shade(one.Recent, termdraw.Plain), terminal.Figure(one.Recent), figure).Right(shade(one.Run, ink), terminal.Figure(one.Run), figure)
		for _, c := range columns {
			if v.Width < c.least {
				continue
			}
			if one.kind != 1 {
				r.To(r.Cells() + figure)
				continue
			}
			value := c.of(one.Figure)
			r.Right(shade(value, termdraw.Plain), terminal.Figure(value), figure)
		}
		if !trends {
			rows = append(rows, r)
			continue
		}
		r.Put(termdraw.Plain, "   ")
		trend := one.Trend[max(0, len(one.Trend)-cells):]
		switch one.kind {
		case 0:
			r.Row(termdraw.Lane(trend, termdraw.Top(trend), true, one.Silent[max(0, len(one.Silent)-cells):]))
		case 1:
			r.Row(termdraw.Lane(trend, termdraw.Top(trend), false, nil))
		default:
			r.Put(termdraw.Bad, termdraw.Columns(trend, max(4, termdraw.Top(trend)), 1)[0])
		}
		rows = append(rows, r)
	}
	return rows
}

// healthCells is the width of the column of the client's health.
const healthCells = 34

// beside puts rows at the right of others, from a column on.
func beside(left, right termdraw.Rows, column int) {
	for i := range min(len(left), len(right)) {
		left[i].To(column).Row(right[i])
	}
}

// headHeight returns the number of rows of the head with its counts and gauges.
func headHeight(s *State, gauges bool) int {
	n := 9 // names, six figures, an empty row, counts
	if s.Figures.limited() {
		n++
	}
	if gauges {
		n++
	}
	return n
}

// limited reports whether limits of service were given.
func (f *Figures) limited() bool { return f.Goodput.Trend != nil || !math.IsNaN(f.Goodput.Run) }

// Rows that the timeline leaves for what is below it: errors, slowest requests and log, on a wide screen also distributions.
const (
	belowLanes     = 12
	belowWideLanes = 18
)

// lanes returns the timeline for a number of rows and the height of each lane in rows; height 0 = the lanes do not fit. One row stays empty.
func lanes(s *State, v View, room int) (line termdraw.Timeline, high int) {
	if room < 24 || v.Width < 100 || len(s.Timeline.Series) == 0 {
		return line, 0
	}
	below := belowLanes
	if v.Width >= PictureWidth {
		below = belowWideLanes
	}
	return s.Timeline.Fit(room - 1 - below)
}

// shade returns the ink of a figure; the dash for a missing figure is faint.
func shade(v float64, ink termdraw.Ink) termdraw.Ink {
	if math.IsNaN(v) {
		return termdraw.Faint
	}
	return ink
}

// errorInk returns the ink for a share of errors in percent.
func errorInk(percent float64) termdraw.Ink {
	switch {
	case percent > 10:
		return termdraw.Bad
	case percent > 0:
		return termdraw.WarnBold
	}
	return termdraw.GoodBold
}

// counts draws as many counts as fit.
func counts(s *State, v View) termdraw.Row {
	c := &s.Counts
	var r termdraw.Row
	add := func(name, value string, cells int) {
		var one termdraw.Row
		if r.Cells() > 0 {
			one.Put(termdraw.Plain, "   ")
		}
		one.Put(termdraw.Faint, name+" ").Right(termdraw.Plain, value, max(cells, termdraw.Width(value)))
		if r.Cells()+one.Cells() <= v.Width-label-1 {
			r.Row(one)
		}
	}
	add("in flight", number(c.InFlight), 3)
	add("sent", number(c.Sent), 5)
	add("ok", number(c.OK), 5)
	add("errors", number(c.Errors), 4)
	if v.Width >= 100 {
		add("cancelled", number(c.Cancelled), 3)
		add("records", number(c.Records), 5)
	}
	if v.Width >= 120 && !math.IsNaN(c.CPU) {
		add("client CPU", fmt.Sprintf("%.0f %%", c.CPU), 5)
	}
	return labelled("Counts", termdraw.Rows{r})[0]
}

// gauges draws the latest readings of servers and GPUs in one row.
func gauges(s *State, v View) termdraw.Row {
	var r termdraw.Row
	for i := range s.Gauges {
		g := &s.Gauges[i]
		var one termdraw.Row
		if i > 0 {
			one.Put(termdraw.Plain, "   ")
		}
		one.Put(termdraw.Faint, g.Name+" ").Right(termdraw.Plain, g.text(), max(5, termdraw.Width(g.text())))
		if r.Cells()+one.Cells() <= v.Width-label-1 {
			r.Row(one)
		}
	}
	return labelled("Servers", termdraw.Rows{r})[0]
}

// PictureWidth is the width from which distributions are shown.
const PictureWidth = 160

// overview draws the head and as many other panels as fit, the most important first.
func overview(s *State, v View, room int) termdraw.Rows {
	hasGauges := len(s.Gauges) > 0 && room >= 16
	line, high := lanes(s, v, room-headHeight(s, hasGauges))
	laid := high > 0 && v.Width >= PictureWidth // the lanes show the trends, so the client has their place
	rows := append(make(termdraw.Rows, 0, room), head(s, v, !laid)...)
	if laid {
		beside(rows, healthColumn(&s.Health), rows[0].Cells()+8)
	}
	rows = append(rows, termdraw.Row{}, counts(s, v))
	if hasGauges {
		rows = append(rows, gauges(s, v))
	}
	rest := func() int { return room - len(rows) }
	if high > 0 {
		rows = append(append(rows, termdraw.Row{}), termdraw.Indent(line.Draw(v.Width-2, high), 1)...)
	}
	if v.Width >= PictureWidth && rest() >= 18 && len(s.Pictures) > 0 {
		half := (v.Width - 6) / 2
		left := s.Pictures[0].Draw(half, 3)
		var right termdraw.Rows
		if len(s.Pictures) > 1 {
			right = s.Pictures[1].Draw(half, 3)
		}
		rows = append(append(rows, termdraw.Row{}), termdraw.Indent(termdraw.SideBySide(left, right, half+4), 1)...)
	}
	if v.Width >= 160 {
		half := (v.Width - 4) / 2
		errors := errorPanel(s, half-label, 4)
		slowest := labelled("Slowest", slowRows(s, half-label, 4))
		if rest() > 5 {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, termdraw.SideBySide(errors, slowest, half+2)...)
	} else {
		kinds, slow := 3, 2
		if rest() >= 15 {
			slow = 4
		}
		air := rest() > 12
		if air {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, errorPanel(s, v.Width-label-1, kinds)...)
		if air {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, labelled("Slowest", slowRows(s, v.Width-label-1, slow))...)
	}
	if !v.HideLog && rest() > 0 {
		if rest() > 4 {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, labelled("Log", logLines(s, v.Width-label-1, rest(), 0))...)
	}
	return rows
}

// errorPanel draws the errors with their label. The last line counts errors that no row includes yet, because their answers have not been processed.
func errorPanel(s *State, cells, n int) termdraw.Rows {
	rows := errorRows(s, cells, n)
	out := labelled("Errors", rows)
	unread := s.Counts.Errors
	for i := range s.Errors {
		unread -= s.Errors[i].Count
	}
	if unread > 0 && n > 1 {
		out[1] = termdraw.Row{}
		out[1].To(1).Left(termdraw.Faint, "+"+number(unread)+" unread", label-2).To(label).Row(rows[1])
	}
	return out
}

// agoCells is the width of the time since an error.
const agoCells = 10

// errorRows draws the kinds of errors in the order of their first occurrence, so that rows do not swap. If not all fit, it shows the most frequent
// ones.
func errorRows(s *State, cells, n int) termdraw.Rows {
	rows := make(termdraw.Rows, n)
	if len(s.Errors) == 0 {
		if s.Counts.Errors == 0 {
			rows[0].Put(termdraw.Faint, "none")
		}
		return rows
	}
	code := 0
	for i := range s.Errors {
		if s.Errors[i].Code != "" {
			code = 5
		}
	}
	for i, e := range mostFrequent(s.Errors, n) {
		var left, right termdraw.Row
		left.Right(termdraw.Bad, number(e.Count), 6).Put(termdraw.Plain, "  ").Left(termdraw.Plain, e.Code, code)
		const typed = 23
		if message := brief(e.Message); e.Code == "" || message == "" || left.Cells()+typed+termdraw.Width(message)+agoCells < cells {
			left.Left(termdraw.Plain, termdraw.Cut(e.Type, typed-2), typed)
		} // otherwise the type would take the room of the message, and the code says the same
		left.Put(termdraw.Faint, brief(e.Message))
		right.Right(termdraw.Faint, Span(time.Duration((s.Counts.Elapsed.Seconds()-e.Last)*float64(time.Second)))+" ago", agoCells)
		rows[i] = termdraw.Ends(left, right, cells)
	}
	return rows
}

// brief removes from a message what all errors of its kind contain: the address that was dialled.
func brief(message string) string {
	if _, why, found := strings.Cut(message, ": connect: "); found && strings.HasPrefix(message, "dial ") {
		return why
	}
	return message
}

// mostFrequent returns the n most frequent kinds in their original order.
func mostFrequent(all []ErrorKind, n int) []ErrorKind {
	kept := append([]ErrorKind{}, all...)
	for len(kept) > n {
		least := 0
		for i := range kept {
			if kept[i].Count <= kept[least].Count {
				least = i
			}
		}
		kept = append(kept[:least], kept[least+1:]...)
	}
	return kept
}

func slowRows(s *State, cells, n int) termdraw.Rows {
	rows := make(termdraw.Rows, n)
	for i, q := range s.Slowest[:min(n, len(s.Slowest))] {
		r := &rows[i]
		r.Right(termdraw.Bold, terminal.Figure(q.Latency), 6).Put(termdraw.Plain, " ms")
		for _, f := range []struct {
			name  string
			value float64
		}{{"TTFT", q.TTFT}, {"ITL", q.ITL}, {"tokens", q.Tokens}} {
			text := terminal.Figure(f.value)
			switch {
			case f.name == "tokens":
				text = termdraw.Round(f.value)
			case f.value < 0.1: // no more digits than fit into the field
				text = fmt.Sprintf("%.3f", f.value)
			}
			r.Put(termdraw.Faint, "  "+f.name+" ").Right(shade(f.value, termdraw.Plain), text, 5)
		}
		r.Put(termdraw.Faint, "  at ").Right(termdraw.Plain, fmt.Sprintf("%.1f s", q.At), 7)
		if r.Cells()+2+12 <= cells {
			r.Put(termdraw.Faint, "  "+termdraw.Cut(q.Conversation, cells-r.Cells()-2))
		}
		rows[i] = r.Most(cells)
	}
	return rows
}

// logPanel draws the log on the whole screen. Long lines continue below; the last back rows are skipped.
func logPanel(s *State, cells, room, back int) termdraw.Rows {
	var blocks []termdraw.Rows // of the lines, the last first
	total := 0
	for i := len(s.Log) - 1; i >= 0 && total < room+back; i-- {
		one := s.Log[i].wrapped(cells)
		blocks, total = append(blocks, one), total+len(one)
	}
	rows := make(termdraw.Rows, 0, total)
	for _, one := range slices.Backward(blocks) {
		rows = append(rows, one...)
	}
	end := max(len(rows)-max(back, 0), min(room, len(rows)))
	return rows[max(0, end-room):end]
}

// logStamp is the width of the time before a line of the log.
const logStamp = 14

// wrapped draws a line of the log in as many rows as it needs.
func (l *Line) wrapped(cells int) (rows termdraw.Rows) {
	for i, text := range strings.Split(ansi.Wrap(l.Level.String()+" "+l.Text, max(cells-logStamp, 20), ""), "\n") {
		var r termdraw.Row
		if r.To(1); i == 0 {
			r.Put(termdraw.Faint, l.At.Format("15:04:05.000")+" ")
		}
		r.To(logStamp)
		level, rest := "", text
		if i == 0 {
			level, rest, _ = strings.Cut(text, " ")
		}
		ink, body := termdraw.Faint, termdraw.Faint
		switch l.Level {
		case Error:
			ink, body = termdraw.Bad, termdraw.Plain
		case Warning:
			ink, body = termdraw.Warn, termdraw.Plain
		}
		if level != "" {
			r.Put(ink, level+" ")
		}
		rows = append(rows, *r.Put(body, rest))
	}
	return rows
}

// logLines returns the last lines of the log; the last back lines are skipped.
func logLines(s *State, cells, n, back int) termdraw.Rows {
	end := max(len(s.Log)-max(back, 0), min(n, len(s.Log)))
	lines := s.Log[max(0, end-n):end]
	rows := make(termdraw.Rows, n)
	for i, l := range lines {
		r := &rows[i]
		r.Put(termdraw.Faint, l.At.Format("15:04:05.000")+" ")
		switch l.Level {
		case Error:
			r.Put(termdraw.Bad, l.Level.String()+" ").Put(termdraw.Plain, l.Text)
		case Warning:
			r.Put(termdraw.Warn, l.Level.String()+" ").Put(termdraw.Plain, l.Text)
		default:
			r.Put(termdraw.Faint, l.Level.String()+" "+l.Text)
		}
		rows[i] = r.Most(cells)
	}
	return rows
}
