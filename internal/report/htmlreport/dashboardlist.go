package htmlreport

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/plots"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/systems"
)

// listPage builds the page that lists the runs: which are compared, and the plots of these.
func (d *Dashboard) listPage() *builder {
	b := &builder{}
	b.Title, b.Eyebrow, b.Facts = terminal.Plural(len(d.Runs), "run"), "Benchmark runs", d.models()
	b.Foot = "Made by aiperf " + d.Version + " from the files of the runs"
	b.verdicts(d.Runs, d.place)
	b.Sections = []section{
		{ID: "runs", Title: "Runs", Lead: "Tick the runs to compare; the plots below show the same ones. The name of a run leads to its report.", Own: d.runTools() + d.runTable().node()},
		d.plotSection(""),
	}
	return b
}

// place returns the name of a run and the address of its report.
func (d *Dashboard) place(r *runfiles.Run) runPlace {
	return runPlace{name: d.name(r), link: fmt.Sprintf("report?run=%d", slices.Index(d.Runs, r))}
}

// name returns the name of a run's directory, with those above it as far as runs of the same name differ in them.
func (d *Dashboard) name(r *runfiles.Run) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(r.Dir)), "/")
	for k := len(parts) - 1; k > 0; k-- {
		name := strings.Join(parts[k:], "/")
		if !slices.ContainsFunc(d.Runs, func(other *runfiles.Run) bool {
			return other != r && strings.HasSuffix("/"+filepath.ToSlash(filepath.Clean(other.Dir)), "/"+name)
		}) {
			return name
		}
	}
	return r.Name
}

// models lists the models of the runs.
func (d *Dashboard) models() (list []string) {
	for _, r := range d.Runs {
		if name := plots.Column(r, "model"); name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// runTools returns the controls above the table: ticks for groups of runs, and the links that the script keeps up to date.
func (d *Dashboard) runTools() node {
	return el("p", attrs{"class", "tools no-print"}, el("span", attrs{"id", "groups"}), " ", el("span", attrs{"id", "selected", "role", "status"}), " ",
		el("a", attrs{"id", "compare", "class", "button", "href", "compare", "hidden?", "yes"}, "Compare"), " ",
		htmlgen.If(d.Systems != nil, el("a", attrs{"id", "systems", "class", "button", "href", "systems"}, "Compare as systems")))
}

// runTable returns the table with one row per run.
func (d *Dashboard) runTable() *table {
	runs := d.sorted()
	var cells []cell
	for _, r := range runs {
		cells = append(cells, cell{r.Name, []*runfiles.Run{r}})
	}
	g := newGrid(cells)
	t := &table{Caption: "Figures of each run", Class: "numbers sweep", Head: []string{"Run"}}
	for k, col := range g.cols {
		t.Head = append(t.Head, col.name+", "+g.units[k])
	}
	t.Head = append(t.Head, "Failed, %", "Verdict", "More")
	for i, r := range runs {
		row := []cellText{d.runCell(r)}
		for k := range g.cols {
			text := "–"
			if g.v[i][k].ok {
				text = figure(g.v[i][k].v)
			}
			row = append(row, cellText{Text: text})
		}
		failed, _ := cells[i].estimate("request_error_rate", "avg")
		more := el("button", attrs{"type", "button", "class", "figures no-print", "data-dir", r.Dir, "aria-label", "Figures of " + d.name(r)}, "Figures")
		t.Rows = append(t.Rows, append(row, cellText{Text: figure(failed.v)}, cellText{Text: cells[i].verdicts()}, cellText{Drawn: more}))
	}
	return t
}

// sorted returns the runs by group, load and name.
func (d *Dashboard) sorted() []*runfiles.Run {
	runs := slices.Clone(d.Runs)
	sorting.Stable(runs, func(a, b *runfiles.Run) int {
		return cmp.Or(cmp.Compare(d.group(a), d.group(b)), cmp.Compare(trailing(load(a)), trailing(load(b))), cmp.Compare(a.Name, b.Name))
	})
	return runs
}

// group returns the group of a run: its experiment if the settings of the plots have some, else its model.
func (d *Dashboard) group(r *runfiles.Run) string {
	return cmp.Or(d.Config.Experiment(r), plots.Column(r, "model"))
}

// load returns what a run varies, or its load; "" = unknown.
func load(r *runfiles.Run) string {
	if s, err := r.Summary(); err == nil {
		return systems.Name(s, "")
	}
	return ""
}

// runCell returns the first cell of a run's row: its tick, its name as a link, and its load.
func (d *Dashboard) runCell(r *runfiles.Run) cellText {
	at := d.place(r)
	tick := el("input", attrs{"type", "checkbox", "class", "tick no-print", "checked?", "yes", "autocomplete", "off", "data-dir", r.Dir, "data-group", d.group(r), "data-link", at.link, "aria-label", "Compare " + at.name})
	return cellText{Text: at.name, Link: at.link, Below: load(r), Control: tick}
}
