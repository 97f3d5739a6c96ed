package page

import (
	"math"
	"slices"

	"aiperf/internal/runfiles"
	"aiperf/internal/stats"
	"aiperf/internal/terminal"
)

// trials are the runs of cells that were measured several times, a row each with a way to its own page, and below those of a cell how far they spread; nil
// where no cell was.
func (g *grid) trials(dir, file string) *table {
	if !slices.ContainsFunc(g.cells, func(c cell) bool { return len(c.runs) > 1 }) {
		return nil
	}
	t := &table{Caption: "Every run, and the coefficient of variation of those of a cell", Class: "numbers sweep", Head: []string{"Run"}}
	for k, col := range g.cols {
		t.Head = append(t.Head, col.name+", "+g.units[k])
	}
	t.Head = append(t.Head, "Failed, %", "Verdict")
	for i := range g.cells {
		c := &g.cells[i]
		values := make([][]float64, len(g.cols))
		for _, r := range c.runs {
			one := cell{c.name, []*runfiles.Run{r}}
			row := []cellText{{Text: relative(dir, r), Link: link(dir, r, file), Below: terminal.Plural(int64(one.requests()), "request")}}
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

// spreadRow is how far the runs of a cell spread in each figure.
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
