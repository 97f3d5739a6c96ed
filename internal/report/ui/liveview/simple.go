package liveview

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
)

// Simple draws the state in one line of less than width cells: phase, percent, bar, count, rates, errors, time left. If there is not enough room, it
// drops the bar, the rates, the count, the errors and the place in the series, in this order.
func Simple(s *State, width int) termdraw.Row {
	c := &s.Counts
	if s.Stage == Starting {
		text := fmt.Sprintf("%-11s", s.title())
		if s.Plan.Place != "" {
			text = s.Plan.Place + "   " + text
		}
		for _, one := range s.Steps {
			if one.State == Runs {
				text += strings.TrimRight(one.Name+"  "+one.Text, " ")
			}
		}
		return termdraw.Text(termdraw.Plain, termdraw.Cut(text, width-1))
	}
	var head termdraw.Row
	head.Left(s.boldInk(), termdraw.Cut(s.title(), 10), 11)
	percent := "     "
	if s.Known {
		percent = fmt.Sprintf("%3.0f %%", math.Floor(100*s.Share))
	}
	head.Put(termdraw.Plain, percent)
	rates := [2]termdraw.Row{
		termdraw.Text(termdraw.Plain, fmt.Sprintf("%6s req/s", terminal.Figure(s.Figures.Requests.Recent))),
		termdraw.Text(termdraw.Plain, fmt.Sprintf("%7s tok/s", terminal.Figure(s.Figures.Tokens.Recent))),
	}
	if s.Stall.Now > 0 {
		rates = [2]termdraw.Row{termdraw.Text(termdraw.Bad, fmt.Sprintf("%12s", "stalled")), termdraw.Text(termdraw.Bad, fmt.Sprintf("%13s", fmt.Sprintf("%.1f s", s.Stall.Now.Seconds())))}
	}
	errors := termdraw.Plain
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
		rates = [2]termdraw.Row{} // nothing is measured any more
	}
	fields := []struct {
		termdraw.Row
		rank int // the lowest rank is dropped first; 0 always stays
	}{
		{termdraw.Text(termdraw.Bold, s.Plan.Place), 6}, {head, 0}, {termdraw.Bar(s.Share, 20, s.ink()), 1}, {termdraw.Text(termdraw.Plain, fmt.Sprintf("%14s", count)), 4}, {rates[0], 3}, {rates[1], 2},
		{termdraw.Text(errors, fmt.Sprintf("%4s err", number(c.Errors))), 5}, {termdraw.Text(termdraw.Plain, left), 0},
	}
	const most = 6
	for drop := 0; ; drop++ {
		var row termdraw.Row
		for _, f := range fields {
			if f.rank > 0 && f.rank <= drop || f.Cells() == 0 {
				continue
			}
			if row.Cells() > 0 {
				row.Put(termdraw.Plain, "   ")
			}
			row.Row(f.Row)
		}
		if row.Cells() < width || drop == most {
			return row.Most(width - 1)
		}
	}
}
