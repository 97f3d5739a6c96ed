package console

import (
	"fmt"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// Windows of a search that a terminal shows: the first and the last ones. The files have all.
const (
	firstWindows = 12
	lastWindows  = 12
)

// adaptiveResults shows on a terminal how an adaptive load searched for its limit and what it found.
func (d *drawing) adaptiveResults() {
	if !d.fits {
		return
	}
	for i := range d.run.Adaptive {
		d.search(&d.run.Adaptive[i])
	}
}

func (d *drawing) search(s *metric.AdaptiveResult) {
	title := "Search for the highest " + s.Name() + ", phase " + terminal.Line(s.Phase)
	if len(s.Windows) == 0 {
		d.rule(title)
	} else {
		t := &table{title: title, head: []string{"At", "Load", "Requests", "Errors"}, nameless: true}
		for k, text := range s.Levels {
			name := fmt.Sprintf("Level %d", k+1)
			if len(s.Levels) == 1 {
				name = termdraw.Cut(terminal.Line(text), max(8, d.room()-56))
			}
			t.head = append(t.head, name)
		}
		t.head = append(t.head, "  Service level, then")
		t.leftAligned = make([]bool, len(t.head))
		t.leftAligned[len(t.leftAligned)-1] = true
		for i := range s.Windows {
			if len(s.Windows) <= firstWindows+lastWindows || i < firstWindows || i >= len(s.Windows)-lastWindows {
				t.rows = append(t.rows, d.window(s, i))
			}
		}
		for _, c := range []string{"Errors", "Requests", "At"} { // a narrow terminal does not show these columns
			if i := slices.Index(t.head, c); t.overflow(d.room()) > 0 {
				t.drop(i)
			}
		}
		d.table(t)
		if n := len(s.Windows) - firstWindows - lastWindows; n > 0 {
			d.say("%s\n", d.style.dim("in the middle "+terminal.Plural(n, "more window")+"; the files list all"))
		}
	}
	if len(s.Levels) > 1 {
		for k, text := range s.Levels {
			d.say("Level %d: %s\n", k+1, terminal.Line(text))
		}
	}
	d.say("%s\n", d.style.bold(terminal.Line(s.Answer())))
}

// window returns one row of the search.
func (d *drawing) window(s *metric.AdaptiveResult, i int) []string {
	w := &s.Windows[i]
	row := []string{fmt.Sprintf("%.1f s", w.End.Seconds()), s.Load(w.Load), trim(float64(w.Requests)), trim(float64(w.Errors))}
	for _, v := range w.Values {
		row = append(row, terminal.Figure(v))
	}
	then := w.Level + ", " + s.NextStep(i)
	if w.Held {
		then = "held: " + then
	}
	if w.Level == "broken" {
		then = d.style.paint(paintWarn, markWarn) + " " + then
	} else {
		then = "  " + then
	}
	return append(row, then)
}
