package page

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/chart"
	"aiperf/internal/plots"
	"aiperf/internal/runfiles"
	"aiperf/internal/stats"
)

// cell is the runs of one setting.
type cell struct {
	name string
	runs []*runfiles.Run
}

// sweepColumns are the figures of the table of cells.
var sweepColumns = []struct {
	tag, stat, name string
	larger          bool // is better
}{
	{"request_throughput", "avg", "Requests", true},
	{"output_token_throughput", "avg", "Output tokens", true},
	{"output_token_throughput_per_user", "p50", "Speed per user p50", true},
	{"time_to_first_token", "p50", "TTFT p50", false},
	{"time_to_first_token", "p99", "TTFT p99", false},
	{"inter_token_latency", "p50", "ITL p50", false},
	{"request_latency", "p50", "Latency p50", false},
}

// Sweep is the report over several runs below a directory. file is the name of the report of each run, which its row leads to.
func Sweep(dir string, runs []*runfiles.Run, file, version string) ([]byte, error) {
	cells := cellsOf(runs)
	first, err := runs[0].Summary()
	if err != nil {
		return nil, err
	}
	b := &builder{}
	b.Title, b.Eyebrow = first.Model(), fmt.Sprintf("%d runs, %d settings", len(runs), len(cells))
	if b.Title == "" {
		b.Title = filepath.Base(dir)
	}
	b.Facts = []string{first.Setting("endpoint.type"), first.Setting("endpoint.urls")}
	b.Foot = "Made by aiperf " + version + " from the files of the runs"
	b.Level, b.Verdict, b.Why = "valid", "Every run is valid", ""
	for _, r := range runs {
		one := &builder{}
		if s, err := r.Summary(); err == nil {
			if one.verdict(s); one.Level != "valid" {
				b.Level, b.Verdict = "suspect", "Not every run is valid"
				b.Findings = append(b.Findings, relative(dir, r)+": "+one.Verdict+". "+one.Why)
			}
		}
	}
	trade := section{ID: "trade", Title: "Trade-off", Lead: "What the server gives in all against what each user sees. The line joins the settings that no other beats in both; a point is a run."}
	per := section{ID: "growth", Title: "Latency against throughput", Lead: "What latency costs as the throughput grows."}
	for _, one := range []struct {
		to      *section
		x, y    plots.Ref
		kind, t string
	}{
		{&trade, plots.Ref{Metric: "output_token_throughput_per_user", Stat: "p50"}, plots.Ref{Metric: "output_token_throughput", Stat: "avg"}, "pareto", "Output throughput against speed per user"},
		{&per, plots.Ref{Metric: "request_throughput", Stat: "avg"}, plots.Ref{Metric: "time_to_first_token", Stat: "p50"}, "scatter_line", "Time to first token"},
		{&per, plots.Ref{Metric: "request_throughput", Stat: "avg"}, plots.Ref{Metric: "inter_token_latency", Stat: "p50"}, "scatter_line", "Inter-token latency"},
		{&per, plots.Ref{Metric: "request_throughput", Stat: "avg"}, plots.Ref{Metric: "request_latency", Stat: "p50"}, "scatter_line", "Request latency"},
	} {
		m := &plots.Multi{Runs: runs, Theme: chart.Themes["light"], Warn: func(string, ...any) {}}
		c, err := m.Draw(&plots.Preset{Name: one.t, Type: one.kind, X: one.x, Y: one.y, Title: one.t, Label: "concurrency", Group: "model", Level: 0.95})
		if err != nil {
			continue // a figure that the runs lack
		}
		for i := range c.Traces {
			c.Traces[i].Color = []string{hueP50, hueP90, hueP99, hueDecode, hueFail}[i/(1+b2i(one.kind == "pareto"))%5]
		}
		if err := b.chart(one.to, c, false, one.kind == "pareto"); err != nil {
			return nil, err
		}
	}
	for _, s := range []*section{&trade, &per} {
		if s.Charts == nil {
			s.Empty = "The runs lack the figures of this part."
		}
	}
	table := section{ID: "cells", Title: "Settings", Lead: "Means over the runs of a setting; ± is the half width of the 95 % interval (Student's t) where there are several. The difference from the best setting of a column stands behind it, unless the intervals of both overlap: then they are not told apart.", Tables: []*table{cellTable(dir, cells, file)}}
	b.Sections = append(b.Sections, trade, table, per)
	return b.html()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// relative is the place of a run below a directory.
func relative(dir string, r *runfiles.Run) string {
	rel, err := filepath.Rel(dir, r.Dir)
	if err != nil {
		return r.Name
	}
	return filepath.ToSlash(rel)
}

// cellsOf sorts runs by what their sweep varies, else by the load.
func cellsOf(runs []*runfiles.Run) []cell {
	var list []cell
	for _, r := range runs {
		name := r.Name
		if s, err := r.Summary(); err == nil {
			switch {
			case s.Variation != "":
				name = s.Variation
			case s.Phase("concurrency") != "":
				name = "concurrency " + s.Phase("concurrency")
			case s.Phase("rate") != "":
				name = "rate " + s.Phase("rate")
			}
		}
		name = strings.ReplaceAll(name, "phases.profiling.", "")
		if k := slices.IndexFunc(list, func(c cell) bool { return c.name == name }); k >= 0 {
			list[k].runs = append(list[k].runs, r)
			continue
		}
		list = append(list, cell{name, []*runfiles.Run{r}})
	}
	slices.SortStableFunc(list, func(a, b cell) int {
		return cmp.Or(cmp.Compare(trailing(a.name), trailing(b.name)), cmp.Compare(a.name, b.name))
	})
	return list
}

// trailing is the number at the end of a name; 0 = there is none.
func trailing(name string) float64 {
	at := strings.LastIndexAny(name, " =_")
	v, err := strconv.ParseFloat(name[at+1:], 64)
	if err != nil {
		return 0
	}
	return v
}

// estimate is a figure of a cell.
type estimate struct {
	v, half float64
	ok      bool
}

// cellTable is a row a cell.
func cellTable(dir string, cells []cell, file string) *table {
	t := &table{Caption: "Figures of each setting", Head: []string{"Setting"}}
	grid := make([][]estimate, len(cells))
	for _, col := range sweepColumns {
		unit := ""
		best := -1
		for i := range cells {
			e, u := cells[i].estimate(col.tag, col.stat)
			if u != "" {
				unit = u
			}
			grid[i] = append(grid[i], e)
			k := len(grid[i]) - 1
			if e.ok && (best < 0 || col.larger && e.v > grid[best][k].v || !col.larger && e.v < grid[best][k].v) {
				best = i
			}
		}
		t.Head = append(t.Head, col.name+" ("+unit+")")
		for i := range cells {
			k := len(grid[i]) - 1
			if len(t.Rows) <= i {
				t.Rows = append(t.Rows, []cellText{{Text: cells[i].name, Link: link(dir, cells[i].runs[0], file)}})
			}
			t.Rows[i] = append(t.Rows[i], cellText{Text: worded(grid[i][k], grid, best, k, i == best)})
		}
	}
	return t
}

// link leads from the page of the series to that of a run.
func link(dir string, r *runfiles.Run, file string) string { return relative(dir, r) + "/" + file }

// worded is a figure, its interval, and how far it is from the best.
func worded(e estimate, grid [][]estimate, best, k int, isBest bool) string {
	if !e.ok {
		return "–"
	}
	text := figure(e.v)
	if e.half > 0 {
		text += " ± " + figure(e.half)
	}
	of := grid[best][k]
	switch {
	case isBest:
		return text + " (best)"
	case e.half+of.half > 0 && abs(e.v-of.v) < e.half+of.half:
		return text + " (not told apart)"
	case of.v != 0:
		return text + fmt.Sprintf(" (%+.0f %%)", 100*(e.v-of.v)/of.v)
	}
	return text
}

func abs(v float64) float64 { return max(v, -v) }

// estimate is the mean of a figure over the runs of a cell. p99 needs a hundred requests in every run.
func (c *cell) estimate(tag, stat string) (e estimate, unit string) {
	var v []float64
	for _, r := range c.runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		n, counted := s.Stat(tag, "count")
		if one, ok := s.Stat(tag, stat); ok && !(stat == "p99" && counted && n < fewestP99) {
			v, unit = append(v, one), s.Figures[tag].Unit
		}
	}
	if v == nil {
		return e, unit
	}
	e = estimate{v: stats.Mean(v), ok: true}
	if len(v) > 1 {
		in := stats.Confidence(v, 0.95)
		e.half = in.High - in.Mean
	}
	return e, unit
}
