package htmlreport

import (
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
)

// maxWindows is the largest number of rows of a search.
const maxWindows = 1000

// adaptiveWindows adds the windows of each phase whose load searched for its limit; the results are next to the verdict.
func (b *builder) adaptiveWindows(run *runfiles.Run) error {
	list, err := run.Adaptive()
	if err != nil || len(list) == 0 {
		return err
	}
	one := section{ID: "limit", Title: "Search for the limit", Lead: "The load rises while a window meets the service level; then the last value that met it is held. Times are in ms."}
	for i := range list {
		s := &list[i]
		name, answer := "Phase "+s.Phase+", "+s.Name(), s.Answer()
		if len(list) > 1 {
			answer = "Phase " + s.Phase + ". " + answer
		}
		one.Tables, b.Findings = append(one.Tables, windows(name, s)), append(b.Findings, answer)
	}
	b.Sections = append(b.Sections, one)
	return nil
}

// windows returns the table of a search.
func windows(name string, s *metric.AdaptiveResult) *table {
	t := &table{Caption: name, Class: "numbers sweep", Head: []string{"Load", "Until, s", "Requests", "Errors"}}
	t.Head = append(append(t.Head, s.Levels...), "Service level", "Then")
	if n := len(s.Windows); n > maxWindows {
		t.Caption += ", the first " + terminal.Plural(maxWindows, "window") + " of " + count(n)
	}
	for i := range s.Windows[:min(len(s.Windows), maxWindows)] {
		w := &s.Windows[i]
		row := []cellText{{Text: s.Load(w.Load)}, {Text: figure(w.End.Seconds())}, {Text: count(int(w.Requests))}, {Text: count(int(w.Errors))}}
		for _, v := range w.Values {
			row = append(row, cellText{Text: figure(v)})
		}
		level := cellText{Text: w.Level}
		if w.Held {
			level.Text += ", held"
		}
		t.Rows = append(t.Rows, append(row, level, cellText{Text: s.NextStep(i)}))
	}
	return t
}
