package htmlreport

import (
	"path/filepath"
	"strings"

	"aiperf/internal/report/runfiles"
)

// phases adds the figures of each measured phase, for runs with several: the main figures combine them.
func (b *builder) phases(run *runfiles.Run, sum *runfiles.Summary) {
	names := sum.Measured()
	if len(names) < 2 {
		return
	}
	t := &table{Caption: "Figures of each phase", Class: "numbers sweep", Head: []string{"Phase"}}
	t.Rows = make([][]cellText, 0, len(names))
	for _, name := range names {
		one, err := runfiles.Open(filepath.Join(run.Dir, "phases", name)).Summary()
		if err != nil {
			continue // the phase did not finish, or the tool wrote no files of phases
		}
		row := []cellText{{Text: name}}
		for _, col := range sweepColumns {
			text := "–"
			if f := one.Figures[col.tag]; f != nil {
				if text = statText(f, col.stat); !strings.HasPrefix(text, "needs") {
					text += " " + f.Unit
				}
			}
			row = append(row, cellText{Text: text})
		}
		failed, _ := one.Stat("error_request_count", "avg")
		t.Rows = append(t.Rows, append(row, cellText{Text: count(int(failed))}))
	}
	if len(t.Rows) == 0 {
		return
	}
	for _, col := range sweepColumns {
		t.Head = append(t.Head, col.name)
	}
	t.Head = append(t.Head, "Failed")
	b.Sections = append(b.Sections, section{ID: "phases", Title: "Phases", Lead: "The figures above cover all measured phases together; these cover each phase.", Tables: []*table{t}})
}
