package board

import (
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/draw"
	"aiperf/internal/terminal"
)

// figure is the width of a column of figures.
const figure = 9

// column is one column of the head beside "last 10 s" and "run".
type column struct {
	name  string
	least int // width of the terminal from which on it is shown
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

// TrendCells is the width that the head leaves for trends, a second a cell.
func TrendCells(width int) int {
	n := 2
	for _, c := range columns {
		if width >= c.least {
			n++
		}
	}
	return max(0, min(60, width-label-figure*n-4))
}

// head is the six figures; their columns are fixed.
func head(s *State, v View) draw.Rows {
	var first draw.Row
	first.To(label).Right(draw.Faint, "last 10 s", figure).Right(draw.Faint, "run", figure)
	for _, c := range columns {
		if v.Width >= c.least {
			first.Right(draw.Faint, c.name, figure)
		}
	}
	first.Put(draw.Faint, draw.Cut("   trend, 1 s a cell", v.Width-first.Cells()))
	rows := draw.Rows{first}
	f := &s.Figures
	cells := TrendCells(v.Width)
	for _, one := range []struct {
		name, unit string
		*Figure
		kind int
	}{
		{"Requests", " /s", &f.Requests, 0}, {"Tokens out", " /s", &f.Tokens, 0}, {"TTFT", " p50 ms", &f.TTFT, 1}, {"ITL", " p50 ms", &f.ITL, 1},
		{"Latency", " p50 ms", &f.Latency, 1}, {"Errors", " %", &f.Errors, 2},
	} {
		var r draw.Row
		r.To(1).Put(draw.Plain, one.name).Put(draw.Faint, one.unit).To(label)
		ink := draw.Bold
		if one.kind == 2 {
			ink = errorInk(one.Run)
		}
		r.Right(shade(one.Recent, draw.Plain), terminal.Figure(one.Recent), figure).Right(shade(one.Run, ink), terminal.Figure(one.Run), figure)
		for _, c := range columns {
			if v.Width < c.least {
				continue
			}
			if one.kind != 1 {
				r.To(r.Cells() + figure)
				continue
			}
			value := c.of(one.Figure)
			r.Right(shade(value, draw.Plain), terminal.Figure(value), figure)
		}
		r.Put(draw.Plain, "   ")
		trend := one.Trend[max(0, len(one.Trend)-cells):]
		switch one.kind {
		case 0:
			r.Row(draw.Lane(trend, draw.Top(trend), true, one.Silent[max(0, len(one.Silent)-cells):]))
		case 1:
			r.Row(draw.Lane(trend, draw.Top(trend), false, nil))
		default:
			r.Put(draw.Bad, draw.Columns(trend, max(4, draw.Top(trend)), 1)[0])
		}
		rows = append(rows, r)
	}
	return rows
}

// shade is the ink of a figure; a dash that stands for none is faint.
func shade(v float64, ink draw.Ink) draw.Ink {
	if math.IsNaN(v) {
		return draw.Faint
	}
	return ink
}

// errorInk says how bad a share of errors in percent is.
func errorInk(percent float64) draw.Ink {
	switch {
	case percent > 10:
		return draw.Bad
	case percent > 0:
		return draw.WarnBold
	}
	return draw.GoodBold
}

// counts is as many counts as fit.
func counts(s *State, v View) draw.Row {
	c := &s.Counts
	var r draw.Row
	add := func(name, value string, cells int) {
		var one draw.Row
		if r.Cells() > 0 {
			one.Put(draw.Plain, "   ")
		}
		one.Put(draw.Faint, name+" ").Right(draw.Plain, value, max(cells, draw.Width(value)))
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
	return labelled("Counts", draw.Rows{r})[0]
}

// gauges are what the servers and GPUs told last, in one row.
func gauges(s *State, v View) draw.Row {
	var r draw.Row
	for i := range s.Gauges {
		g := &s.Gauges[i]
		var one draw.Row
		if i > 0 {
			one.Put(draw.Plain, "   ")
		}
		one.Put(draw.Faint, g.Name+" ").Right(draw.Plain, g.text(), max(5, draw.Width(g.text())))
		if r.Cells()+one.Cells() <= v.Width-label-1 {
			r.Row(one)
		}
	}
	return labelled("Servers", draw.Rows{r})[0]
}

// PictureWidth is the width from which on distributions are shown.
const PictureWidth = 160

// overview is the head and whatever else fits, the most important first.
func overview(s *State, v View, room int) draw.Rows {
	rows := append(append(make(draw.Rows, 0, room), head(s, v)...), draw.Row{}, counts(s, v))
	if len(s.Gauges) > 0 && room >= 16 {
		rows = append(rows, gauges(s, v))
	}
	rest := func() int { return room - len(rows) }
	if n := 3 + 1 + 1 + 2; rest() >= 24 && v.Width >= 100 && len(s.Timeline.Series) > 0 { // lanes, digits, axis
		high := 2
		if rest() >= 34 {
			high = 3
		}
		if n+3*(high-1) < rest() {
			rows = append(append(rows, draw.Row{}), draw.Indent(s.Timeline.Draw(v.Width-2, high), 1)...)
		}
	}
	if v.Width >= PictureWidth && rest() >= 20 && len(s.Pictures) > 0 {
		half := (v.Width - 6) / 2
		left := s.Pictures[0].Draw(half, 3)
		var right draw.Rows
		if len(s.Pictures) > 1 {
			right = s.Pictures[1].Draw(half, 3)
		}
		rows = append(append(rows, draw.Row{}), draw.Indent(draw.Beside(left, right, half+4), 1)...)
	}
	if v.Width >= 160 {
		half := (v.Width - 4) / 2
		errors := errorPanel(s, half-label, 4)
		slowest := labelled("Slowest", slowRows(s, half-label, 4))
		if rest() > 5 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, draw.Beside(errors, slowest, half+2)...)
	} else {
		kinds, slow := 3, 2
		if rest() >= 15 {
			slow = 4
		}
		air := rest() > 12
		if air {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, errorPanel(s, v.Width-label-1, kinds)...)
		if air {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, labelled("Slowest", slowRows(s, v.Width-label-1, slow))...)
	}
	if !v.HideLog && rest() > 0 {
		if rest() > 4 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, labelled("Log", logLines(s, v.Width-label-1, rest(), 0))...)
	}
	return rows
}

// errorPanel is the rows of the errors with their label; below it stands how many errors no row has yet, since their answers have not been worked up.
func errorPanel(s *State, cells, n int) draw.Rows {
	rows := errorRows(s, cells, n)
	out := labelled("Errors", rows)
	unread := s.Counts.Errors
	for i := range s.Errors {
		unread -= s.Errors[i].Count
	}
	if unread > 0 && n > 1 {
		out[1] = draw.Row{}
		out[1].To(1).Left(draw.Faint, "+"+number(unread)+" unread", label-2).To(label).Row(rows[1])
	}
	return out
}

// errorRows are the kinds of errors in the order of first sight, so that rows do not swap; of more than fit, the most frequent ones.
func errorRows(s *State, cells, n int) draw.Rows {
	rows := make(draw.Rows, n)
	if len(s.Errors) == 0 {
		if s.Counts.Errors == 0 {
			rows[0].Put(draw.Faint, "none")
		}
		return rows
	}
	code := 0
	for i := range s.Errors {
		if s.Errors[i].Code != "" {
			code = 5
		}
	}
	for i, e := range most(s.Errors, n) {
		var left, right draw.Row
		left.Right(draw.Bad, number(e.Count), 6).Put(draw.Plain, "  ").Left(draw.Plain, e.Code, code).Left(draw.Plain, draw.Cut(e.Type, 21), 23).Put(draw.Faint, brief(e.Message))
		right.Right(draw.Faint, Span(time.Duration((s.Counts.Elapsed.Seconds()-e.Last)*float64(time.Second)))+" ago", 10)
		rows[i] = draw.Ends(left, right, cells)
	}
	return rows
}

// brief is a message without what is in all of its kind: the address that was dialled.
func brief(message string) string {
	if _, why, found := strings.Cut(message, ": connect: "); found && strings.HasPrefix(message, "dial ") {
		return why
	}
	return message
}

// most keeps the n most frequent kinds, in their order.
func most(all []ErrorKind, n int) []ErrorKind {
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

func slowRows(s *State, cells, n int) draw.Rows {
	rows := make(draw.Rows, n)
	for i, q := range s.Slowest[:min(n, len(s.Slowest))] {
		r := &rows[i]
		r.Right(draw.Bold, terminal.Figure(q.Latency), 6).Put(draw.Plain, " ms")
		for _, f := range []struct {
			name  string
			value float64
		}{{"TTFT", q.TTFT}, {"ITL", q.ITL}, {"tokens", q.Tokens}} {
			text := terminal.Figure(f.value)
			switch {
			case f.name == "tokens":
				text = draw.Round(f.value)
			case f.value < 0.1: // no more digits than the field has
				text = fmt.Sprintf("%.3f", f.value)
			}
			r.Put(draw.Faint, "  "+f.name+" ").Right(shade(f.value, draw.Plain), text, 5)
		}
		r.Put(draw.Faint, "  at ").Right(draw.Plain, fmt.Sprintf("%.1f s", q.At), 7)
		if r.Cells()+2+12 <= cells {
			r.Put(draw.Faint, "  "+draw.Cut(q.Conversation, cells-r.Cells()-2))
		}
		rows[i] = r.Most(cells)
	}
	return rows
}

// logLines are the last lines of the log; back = so many before the last are skipped.
func logLines(s *State, cells, n, back int) draw.Rows {
	end := max(len(s.Log)-max(back, 0), min(n, len(s.Log)))
	lines := s.Log[max(0, end-n):end]
	rows := make(draw.Rows, n)
	for i, l := range lines {
		r := &rows[i]
		r.Put(draw.Faint, l.At.Format("15:04:05.000")+" ")
		switch l.Level {
		case Error:
			r.Put(draw.Bad, l.Level.String()+" ").Put(draw.Plain, l.Text)
		case Warning:
			r.Put(draw.Warn, l.Level.String()+" ").Put(draw.Plain, l.Text)
		default:
			r.Put(draw.Faint, l.Level.String()+" "+l.Text)
		}
		rows[i] = r.Most(cells)
	}
	return rows
}
