package rereport

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/console"
)

// grid is a metric table of a console text: its title without the brand, the indentation and length of the title, and its lines.
type grid struct {
	title    string
	at, long int
	lines    []string
}

// grids are the metric tables of a console text. Rows that are set right for errors come in any order in 0.13: they are sorted.
func grids(text string) (list []grid) {
	lines := strings.Split(text, "\n")
	for i := 0; i+2 < len(lines); i++ {
		if !strings.HasPrefix(lines[i+1], "┏") || !strings.Contains(lines[i+2], " avg ┃") {
			continue
		}
		whole := strings.TrimSpace(lines[i])
		_, title, _ := strings.Cut(whole, " | ")
		g := grid{title: title, at: strings.Index(lines[i], whole), long: len(whole)}
		var adjusted []string
		for i++; i < len(lines) && lines[i] != ""; i++ {
			if strings.Contains(lines[i], "(error-adjusted)") {
				adjusted = append(adjusted, lines[i])
				continue
			}
			if strings.HasPrefix(lines[i], "└") {
				slices.Sort(adjusted)
				g.lines = append(append(g.lines, adjusted...), lines[i])
				break
			}
			g.lines = append(g.lines, lines[i])
		}
		list = append(list, g)
	}
	return list
}

// compareTables: the metric tables are those of 0.13 byte for byte once they hold its numbers; only the brand in their titles is another.
func (g *golden) compareTables(t *testing.T, run *metric.Run) {
	t.Helper()
	for i := range run.Profiling.Results { // except rates and curves, which 0.13 computes with another window and divisor (TestOurs)
		r := &run.Profiling.Results[i]
		var was map[string]any
		own := r.Tag == "effective_latency" || r.Tag == "credit_to_start_latency" // steps of 256 ns
		if r.Kind == metric.Record && !rateTags()[r.Tag] && !own || json.Unmarshal(g.summary[r.Tag], &was) != nil {
			continue
		}
		for s := range r.Values {
			if v, ok := was[metric.Stat(s).String()].(float64); ok && r.Has(metric.Stat(s)) {
				r.Values[s] = v
			}
		}
	}
	ours := map[string]grid{}
	for _, one := range grids(string(console.Text(run, console.ExportWidth, nil))) {
		ours[one.title] = one
	}
	for _, was := range grids(string(unzip(t, filepath.Join("testdata", g.name, "console.txt.gz")))) {
		if strings.HasPrefix(was.title, "HTTP") { // instants that no file has
			continue
		}
		is := ours[was.title]
		if !slices.Equal(is.lines, was.lines) {
			for i := range max(len(is.lines), len(was.lines)) {
				if i >= len(is.lines) || i >= len(was.lines) || is.lines[i] != was.lines[i] {
					t.Errorf("%s, line %d is\n%q, not\n%q", was.title, i, slices.Concat(is.lines, []string{""})[min(i, len(is.lines))], slices.Concat(was.lines, []string{""})[min(i, len(was.lines))])
					break
				}
			}
			continue
		}
		for _, one := range []grid{is, was} {
			if wide := utf8.RuneCountInString(one.lines[0]); one.at != (wide-one.long)/2 {
				t.Errorf("%s begins in column %d of %d", one.title, one.at, wide)
			}
		}
	}
}
