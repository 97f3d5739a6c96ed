package htmlreport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// Sweep returns the report of several runs below a directory. file is the name of the report of each run, to which its row links.
func Sweep(dir string, runs []*runfiles.Run, file, version string) ([]byte, error) {
	runs = measuring(runs)
	cells := cellsOf(runs)
	b, err := sweepOf(runs, cells, func(r *runfiles.Run) runPlace {
		one := runPlace{name: relative(dir, r)}
		if file != "" {
			one.link = one.name + "/" + file
		}
		return one
	}, version)
	if err != nil {
		return nil, err
	}
	if !sameTarget(runs) {
		b.several(len(runs))
	}
	if b.Title == "" {
		b.Title = filepath.Base(dir)
	}
	if answer := runfiles.CapacityAnswer(dir); answer != "" {
		b.Findings = append([]string{answer}, b.Findings...)
	}
	b.unfinished(dir, cells)
	return b.html()
}

// measuring returns the runs without those with which a search waits for the server: no cell is made of them.
func measuring(runs []*runfiles.Run) []*runfiles.Run {
	list := slices.DeleteFunc(slices.Clone(runs), func(r *runfiles.Run) bool { return strings.HasSuffix(r.Dir, runfiles.SettlingSuffix) })
	if len(list) == 0 {
		return runs
	}
	return list
}

// runPlace is the name of a run on a page of several, and the address of its report; "" = none.
type runPlace struct{ name, link string }

// sweepOf returns the content of the report of several runs.
func sweepOf(runs []*runfiles.Run, cells []cell, place func(*runfiles.Run) runPlace, version string) (*builder, error) {
	first, err := runs[0].Summary()
	if err != nil {
		return nil, err
	}
	b := &builder{}
	b.Title, b.Eyebrow = first.Model(), terminal.Plural(len(runs), "run")+", "+terminal.Plural(len(cells), "cell")
	b.Facts = []string{first.Setting("endpoint.type"), first.Setting("endpoint.urls"), wallTime(first.Start)}
	b.Foot = "Made by aiperf " + version + " from the files of the runs"
	b.verdicts(runs, place)
	g := newGrid(cells)
	if sameTarget(runs) { // otherwise the load is not all that differs from cell to cell
		b.Findings = append(g.findings(), b.Findings...)
	}
	trade := section{ID: "trade", Title: "Trade-off", Lead: "Total output of the server against the speed that each user sees. The line, called frontier, joins the cells that no other cell beats in both. A point is a cell, with the 95 % interval over its runs if it has several."}
	per := section{ID: "growth", Title: "Latency against throughput", Lead: "Latency as the throughput grows."}
	front, growth := g.charts()
	if err := b.chart(&trade, front, false, true); err != nil {
		return nil, err
	}
	for _, c := range growth {
		if err := b.chart(&per, c, false, false); err != nil {
			return nil, err
		}
	}
	for _, s := range []*section{&trade, &per} {
		if s.Charts == nil {
			s.Empty = "The runs do not have the figures of this section."
		}
	}
	spread := section{ID: "spread", Title: "Distribution of the wait", Lead: "Share of requests of each cell that had their first token by this time. A steep line means that all users wait equally long."}
	if err := b.chart(&spread, waits(cells), false, true); err != nil {
		return nil, err
	}
	table := section{ID: "cells", Title: "Cells", Lead: "Means over the runs of a cell; ± is the half width of the 95 % interval (Student's t) where there are several. Below a figure is its difference from the best of the column, unless the intervals of both overlap.", Tables: []*table{g.table(place)}}
	if every := g.trials(place); every != nil {
		table.Tables = append(table.Tables, every)
	}
	if g.thin {
		table.Notes = append(table.Notes, "No cell has the hundred requests that p99 needs.")
	}
	b.Sections = append(b.Sections, trade, table, per)
	if spread.Charts != nil {
		b.Sections = append(b.Sections, spread)
	}
	b.shared(runs)
	return b, nil
}

// several replaces the model and the address of the first run in the head of a page whose runs have different ones.
func (b *builder) several(runs int) {
	b.Title, b.Facts = "Comparison of "+terminal.Plural(runs, "run"), nil
}

// sameTarget reports whether runs measured the same model at the same address in the same way, so that only their loads differ.
func sameTarget(runs []*runfiles.Run) bool {
	targets := map[string]bool{}
	for _, r := range runs {
		if s, err := r.Summary(); err == nil {
			targets[strings.Join([]string{s.Model(), s.Setting("endpoint.urls"), s.Setting("endpoint.type"), s.Setting("endpoint.streaming")}, "\x00")] = true
		}
	}
	return len(targets) < 2
}

// verdicts says whether every run is valid, and why the others are not. A run with failed requests can be valid, but is listed.
func (b *builder) verdicts(runs []*runfiles.Run, place func(*runfiles.Run) runPlace) {
	b.Level, b.Verdict, b.Why = "valid", "Every run is valid", ""
	invalid, unjudged := 0, 0
	for _, r := range runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		one := &builder{}
		if one.verdict(s); one.Level == "valid" {
			continue
		}
		b.Level = "suspect"
		switch word := s.Verdict().Word; {
		case word == "":
			unjudged++
		case word != string(metric.VerdictValid) || s.Cancelled || !s.Complete:
			invalid++
		}
		b.Findings = append(b.Findings, place(r).name+": "+strings.TrimSpace(one.Verdict+". "+one.Why))
	}
	switch {
	case invalid > 0:
		b.Verdict = "Not every run is valid"
	case unjudged > 0 && unjudged == len(runs):
		b.Verdict = "The runs have no verdicts"
	case unjudged > 0:
		b.Verdict = "Not every run has a verdict"
	case b.Level != "valid":
		b.Verdict = "Every run is valid, but requests failed"
	}
}

// charts draws the trade-off of the cells, and their latencies against the throughput. A chart without figures is nil.
func (g *grid) charts() (front *chart.Chart, growth []*chart.Chart) {
	user, output := figureOf{"output_token_throughput_per_user", "p50", "speed per user p50 (tokens/s)"}, figureOf{"output_token_throughput", "avg", "output (tokens/s)"}
	front = g.chart(user, output, "Output throughput against speed per user", true)
	rate := figureOf{"request_throughput", "avg", "requests/s"}
	for _, one := range []figureOf{{"time_to_first_token", "p50", "Time to first token"}, {"inter_token_latency", "p50", "Inter-token latency"}, {"request_latency", "p50", "Request latency"}} {
		title := one.title
		one.title = one.stat + " (ms)"
		growth = append(growth, g.chart(rate, one, title, false))
	}
	return front, growth
}

// unfinished says that a sweep ended before all of its cells were complete.
func (b *builder) unfinished(dir string, cells []cell) {
	planned, done := runfiles.PlannedCells(dir), 0
	for i := range cells {
		if cells[i].complete() {
			done++
		}
	}
	if done >= planned {
		return
	}
	b.Level, b.Verdict = "suspect", fmt.Sprintf("The sweep is not complete: %d of %s ran to the end", done, terminal.Plural(planned, "cell"))
}

// complete reports whether no run of a cell was stopped early.
func (c *cell) complete() bool {
	for _, r := range c.runs {
		if s, err := r.Summary(); err != nil || s.Cancelled {
			return false
		}
	}
	return true
}

// shared adds the command and the settings that all runs have in common.
func (b *builder) shared(runs []*runfiles.Run) {
	var same map[string]string
	for i, r := range runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		command := withoutDirectories(s.Command)
		if i == 0 {
			b.Command, same = command, s.Flat()
		}
		if command != b.Command {
			b.Command = ""
		}
		for key, v := range s.Flat() {
			if same[key] != v {
				delete(same, key)
			}
		}
	}
	b.Settings = sortedSettings(same)
}

// relative returns the path of a run relative to a directory.
func relative(dir string, r *runfiles.Run) string {
	rel, err := filepath.Rel(dir, r.Dir)
	if err != nil {
		return r.Name
	}
	return filepath.ToSlash(rel)
}
