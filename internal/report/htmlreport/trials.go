package htmlreport

import (
	"math"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/runfiles"
)

// trials returns a table of the runs of cells that were measured several times: a row per run with a link to its page, and below them how much the
// runs of the cell differ. It is nil if no cell was repeated.
func (g *grid) trials(place func(*runfiles.Run) runPlace) *table {
	if !slices.ContainsFunc(g.cells, func(c cell) bool { return len(c.runs) > 1 }) {
		return nil
	}
	t := &table{Caption: "Every run, with the coefficient of variation within a cell", Class: "numbers sweep", Head: []string{"Run"}}
	for k, col := range g.cols {
		t.Head = append(t.Head, col.name+", "+g.units[k])
	}
	t.Head = append(t.Head, "Failed, %", "Verdict")
	for i := range g.cells {
		c := &g.cells[i]
		values := make([][]float64, len(g.cols))
		for _, r := range c.runs {
			one := cell{c.name, []*runfiles.Run{r}}
			at := place(r)
			row := []cellText{{Text: at.name, Link: at.link, Below: terminal.Plural(int64(one.requests()), "request")}}
			for k, col := range g.cols {
				text := "–"
				if e, _ := one.estimate(col.tag, col.stat); e.ok {
					text, values[k] = figure(e.v), append(values[k], e.v)
				}
				row = append(row, cellText{Text: text})
			}
			failed, _ := one.estimate("request_error_rate", "avg")
			t.Rows = append(t.Rows, append(row, cellText{Text: figure(failed.v)}, cellText{Text: one.verdicts()}))
		}
		if len(c.runs) > 1 {
			t.Rows = append(t.Rows, spreadRow(c.name, values))
		}
	}
	return t
}

// spreadRow returns how much the runs of a cell differ in each figure.
func spreadRow(name string, values [][]float64) []cellText {
	row := []cellText{{Text: "Spread", Below: name}}
	for _, v := range values {
		text := "–"
		if len(v) > 1 {
			if cv := stats.Confidence(v, 0.95).CV; !math.IsNaN(cv) && !math.IsInf(cv, 0) {
				text = figure(100*cv) + " %"
			}
		}
		row = append(row, cellText{Text: text})
	}
	return append(row, cellText{}, cellText{})
}
