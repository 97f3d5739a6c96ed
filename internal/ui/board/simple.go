package board

import (
	"fmt"
	"strings"

	"aiperf/internal/draw"
	"aiperf/internal/terminal"
)

// Simple is the state in one line of less than width cells: phase, percent, bar, count, rates, errors, time left. Where there is no room the
// least missed leave first: the bar, the rates, the count, the errors.
func Simple(s *State, width int) string {
	c := &s.Counts
	if s.Stage == Starting {
		text := fmt.Sprintf("%-11s", s.title())
		for _, one := range s.Steps {
			if one.State == Runs {
				text += strings.TrimRight(one.Name+"  "+one.Text, " ")
			}
		}
		return draw.Cut(text, width-1)
	}
	percent := "     "
	if s.Known {
		percent = fmt.Sprintf("%3.0f %%", 100*s.Share)
	}
	head := fmt.Sprintf("%-10s %s", draw.Cut(s.title(), 10), percent)
	bar := draw.Bar(s.Share, 20, draw.Plain)
	first, second := fmt.Sprintf("%6s req/s", terminal.Figure(s.Figures.Requests.Recent)), fmt.Sprintf("%7s tok/s", terminal.Figure(s.Figures.Tokens.Recent))
	if s.Stall.Now > 0 {
		first, second = fmt.Sprintf("%12s", "stalled"), fmt.Sprintf("%13s", fmt.Sprintf("%.1f s", s.Stall.Now.Seconds()))
	}
	left := ""
	if c.ETA >= 0 && (s.Stage == Warmup || s.Stage == Profiling) {
		left = "ETA " + Span(c.ETA)
	}
	fields := []struct {
		text string
		rank int // the lowest leaves first; 0 stays
	}{
		{head, 0}, {bar.Plain(), 1}, {fmt.Sprintf("%14s", s.count()), 4}, {first, 3}, {second, 2},
		{fmt.Sprintf("%4s err", number(c.Errors)), 5}, {left, 0},
	}
	for drop := 0; drop <= 5; drop++ {
		var parts []string
		for _, f := range fields {
			if f.rank > drop || f.rank == 0 {
				parts = append(parts, f.text)
			}
		}
		if text := strings.TrimRight(strings.Join(parts, "   "), " "); draw.Width(text) < width || drop == 5 {
			return draw.Cut(text, width-1)
		}
	}
	return ""
}
