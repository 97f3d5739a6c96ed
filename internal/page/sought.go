package page

import (
	"aiperf/internal/metric"
	"aiperf/internal/runfiles"
	"aiperf/internal/terminal"
)

// mostWindows bounds the rows of a search.
const mostWindows = 1000

// sought are the windows of each phase whose load seeks its limit; the answers stand with the verdict.
func (b *builder) sought(run *runfiles.Run) error {
	list, err := run.Sought()
	if err != nil || len(list) == 0 {
		return err
	}
	one := section{ID: "limit", Title: "Search for the limit", Lead: "As long as a window keeps the service level the load rises; the last value that kept it is then held. Times are in ms."}
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

// windows is the table of a search.
func windows(name string, s *metric.Sought) *table {
	t := &table{Caption: name, Class: "numbers sweep", Head: []string{"Load", "Until, s", "Requests", "Errors"}}
	t.Head = append(append(t.Head, s.Levels...), "Service level", "Then")
	if n := len(s.Windows); n > mostWindows {
		t.Caption += ", the first " + terminal.Plural(mostWindows, "window") + " of " + count(n)
	}
	for i := range s.Windows[:min(len(s.Windows), mostWindows)] {
		w := &s.Windows[i]
		row := []cellText{{Text: s.Load(w.Load)}, {Text: figure(w.End.Seconds())}, {Text: count(int(w.Requests))}, {Text: count(int(w.Errors))}}
		for _, v := range w.Values {
			row = append(row, cellText{Text: figure(v)})
		}
		level := cellText{Text: w.Level}
		if w.Held {
			level.Text += ", held"
		}
		t.Rows = append(t.Rows, append(row, level, cellText{Text: s.Then(i)}))
	}
	return t
}
