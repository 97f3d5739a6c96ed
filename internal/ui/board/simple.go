package board

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/draw"
	"aiperf/internal/terminal"
)

// Simple is the state in one line of less than width cells: phase, percent, bar, count, rates, errors, time left. Where there is no room the
// least missed leave first: the bar, the rates, the count, the errors.
func Simple(s *State, width int) draw.Row {
	c := &s.Counts
	if s.Stage == Starting {
		text := fmt.Sprintf("%-11s", s.title())
		for _, one := range s.Steps {
			if one.State == Runs {
				text += strings.TrimRight(one.Name+"  "+one.Text, " ")
			}
		}
		return draw.Text(draw.Plain, draw.Cut(text, width-1))
	}
	var head draw.Row
	head.Left(s.boldInk(), draw.Cut(s.title(), 10), 11)
	percent := "     "
	if s.Known {
		percent = fmt.Sprintf("%3.0f %%", math.Floor(100*s.Share))
	}
	head.Put(draw.Plain, percent)
	rates := [2]draw.Row{
		draw.Text(draw.Plain, fmt.Sprintf("%6s req/s", terminal.Figure(s.Figures.Requests.Recent))),
		draw.Text(draw.Plain, fmt.Sprintf("%7s tok/s", terminal.Figure(s.Figures.Tokens.Recent))),
	}
	if s.Stall.Now > 0 {
		rates = [2]draw.Row{draw.Text(draw.Bad, fmt.Sprintf("%12s", "stalled")), draw.Text(draw.Bad, fmt.Sprintf("%13s", fmt.Sprintf("%.1f s", s.Stall.Now.Seconds())))}
	}
	errors := draw.Plain
	if c.Errors > 0 {
		errors = errorInk(s.Figures.Errors.Run)
	}
	left := ""
	if s.estimates() {
		left = "ETA " + Span(c.ETA)
	}
	count := s.count()
	if s.Stage == Processing && s.Writing.Of > 0 {
		count += " conversations"
		rates = [2]draw.Row{} // nothing is measured any more
	}
	fields := []struct {
		draw.Row
		rank int // the lowest leaves first; 0 stays
	}{
		{head, 0}, {draw.Bar(s.Share, 20, s.ink()), 1}, {draw.Text(draw.Plain, fmt.Sprintf("%14s", count)), 4}, {rates[0], 3}, {rates[1], 2},
		{draw.Text(errors, fmt.Sprintf("%4s err", number(c.Errors))), 5}, {draw.Text(draw.Plain, left), 0},
	}
	const most = 5
	for drop := 0; ; drop++ {
		var row draw.Row
		for _, f := range fields {
			if f.rank > 0 && f.rank <= drop || f.Cells() == 0 {
				continue
			}
			if row.Cells() > 0 {
				row.Put(draw.Plain, "   ")
			}
			row.Row(f.Row)
		}
		if row.Cells() < width || drop == most {
			return row.Most(width - 1)
		}
	}
}
