package htmlreport

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
)

// outcomes are the texts for the outcome of a comparison, and their levels of emphasis.
var outcomes = map[comparison.Outcome][2]string{
	comparison.Same: {"valid", "B is the same as A"}, comparison.Better: {"valid", "B is better than A"},
	comparison.Worse: {"failed", "B is worse than A"}, comparison.Cannot: {"suspect", "The data cannot tell whether B differs from A"},
}

// loudest lists the outcomes by importance for the reader.
var loudest = []comparison.Outcome{comparison.Worse, comparison.Better, comparison.Cannot, comparison.Same}

// Compare returns the report of a comparison: its result for every statistic, the intervals as a chart, and the distributions of both sides.
func Compare(r *comparison.Result, version string) ([]byte, error) {
	b, err := compareOf(r, version)
	if err != nil {
		return nil, err
	}
	return b.html()
}

// compareOf returns the content of the report of a comparison.
func compareOf(r *comparison.Result, version string) (*builder, error) {
	b := &builder{}
	b.Title, b.Eyebrow = sideName(r.A)+" against "+sideName(r.B), "Comparison, "+r.Basis
	nameA, nameB := r.Sides()
	b.Facts = []string{"A: " + sideFact(r.A), "B: " + sideFact(r.B), fmt.Sprintf("%g %% intervals", 100*r.Options.Confidence)}
	if r.Basis == "pairs" {
		b.Title, b.Eyebrow = "A: "+nameA+" against B: "+nameB, "Comparison in alternating blocks, "+terminal.Plural(len(r.A), "pair")
	}
	b.Foot = "Made by aiperf " + version + " from the records of the runs"
	b.Level, b.Verdict = outcomes[r.Outcome][0], outcomes[r.Outcome][1]
	if r.Basis == "one run each" && r.Options.Noise > 0 {
		b.Why = fmt.Sprintf("Run-to-run noise of %g %% is assumed; several runs on each side would measure it.", 100*r.Options.Noise)
	}
	if r.Refused != "" {
		b.Why = upper(r.Refused) + "."
	}
	short := shortPaths(r)
	b.Findings = append(b.Findings, namedOutcomes(r)...)
	for _, d := range r.Other {
		b.Findings = append(b.Findings, "Differs: "+short.Replace(d)+".")
	}
	for _, n := range r.Notes {
		b.Findings = append(b.Findings, upper(short.Replace(n))+".")
	}
	all := section{ID: "statistics", Title: "Statistics", Lead: "Differences are B relative to A. The grey band is the margin (differences that do not matter), the line is the interval, the dot is the estimate. Same: the 90 % interval is inside the band. Better or worse: the interval does not contain zero, also with the stricter limits that several statistics together need. Cannot tell: neither; the last column says what it would take."}
	all.Tables = []*table{forest(r, short)}
	shapes := section{ID: "shapes", Title: "Distributions", Lead: "Share of requests that were at least this fast, all runs of a side together."}
	for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
		if err := b.chart(&shapes, sides(r, tag), false, false); err != nil {
			return nil, err
		}
	}
	b.Sections = append(b.Sections, all)
	if shapes.Charts != nil {
		b.Sections = append(b.Sections, shapes)
	}
	b.Sections = append(b.Sections, section{ID: "runs", Title: "Targets and runs", Tables: []*table{targetTable(r), runTable(r)}})
	return b, nil
}

// namedOutcomes lists the statistics that are worse and those that are better.
func namedOutcomes(r *comparison.Result) (list []string) {
	for _, o := range []comparison.Outcome{comparison.Worse, comparison.Better} {
		var names []string
		for i := range r.Lines {
			if l := &r.Lines[i]; l.Outcome == o {
				names = append(names, lineName(l.Tag)+" "+l.Stat)
			}
		}
		if names != nil {
			list = append(list, upper(string(o))+": "+strings.Join(names, ", ")+".")
		}
	}
	return list
}

// lineName returns the name of a metric or of another statistic that is compared.
func lineName(tag string) string {
	if m, ok := metric.Lookup(tag); ok {
		return m.Header
	}
	return upper(strings.ReplaceAll(tag, "_", " "))
}

// CompareSeries returns the report of a comparison of several cells: the result of each cell and of each of its statistics.
func CompareSeries(s *comparison.Series, version string) ([]byte, error) {
	b := &builder{}
	first := s.FirstJudged()
	b.Title, b.Eyebrow = "Series against series, "+terminal.Plural(len(s.Cells), "cell"), "Comparison, cell by cell"
	b.Facts = []string{s.Sentence(), fmt.Sprintf("%g %% intervals", 100*first.Options.Confidence)}
	b.Foot = "Made by aiperf " + version + " from the records of the runs"
	b.Level, b.Verdict = outcomes[s.Outcome][0], outcomes[s.Outcome][1]
	if first.Basis == "one run each" && first.Options.Noise > 0 {
		b.Why = fmt.Sprintf("Run-to-run noise of %g %% is assumed; several runs on each side would measure it.", 100*first.Options.Noise)
	}
	for name, cells := range map[string][]string{"A": s.OnlyA, "B": s.OnlyB} {
		if len(cells) > 0 {
			b.Findings = append(b.Findings, "Only in "+name+": "+strings.Join(cells, ", ")+".")
		}
	}
	slices.Sort(b.Findings)
	cells := &table{Caption: "Every cell that both sides have", Class: "numbers", Head: []string{"Cell", "Basis", "Verdict"}}
	for _, o := range loudest {
		cells.Head = append(cells.Head, upper(string(o)))
	}
	b.Sections = []section{{ID: "cells", Title: "Cells", Lead: "Number of statistics of each cell by verdict; all of them together are one family of tests.", Tables: []*table{cells}}}
	for i := range s.Cells {
		c := &s.Cells[i]
		id := fmt.Sprintf("cell-%d", i+1)
		row := []cellText{{Text: c.Name, Link: "#" + id}, {Text: c.Basis}, {Text: string(c.Outcome), Strong: c.Outcome != comparison.Same}}
		number := map[comparison.Outcome]int{}
		for k := range c.Lines {
			number[c.Lines[k].Outcome]++
		}
		for _, o := range loudest {
			row = append(row, cellText{Text: count(number[o])})
		}
		cells.Rows = append(cells.Rows, row)
		one := section{ID: id, Title: c.Name}
		names := shortPaths(c.Result)
		for _, text := range c.Other {
			one.Notes = append(one.Notes, "Differs: "+names.Replace(text)+".")
		}
		for _, text := range c.Notes {
			one.Notes = append(one.Notes, upper(names.Replace(text))+".")
		}
		if c.Refused == "" {
			one.Tables = append(one.Tables, forest(c.Result, names))
		} else {
			one.Empty = "Not judged: " + names.Replace(c.Refused) + "."
		}
		one.Tables = append(one.Tables, runTable(c.Result))
		b.Sections = append(b.Sections, one)
	}
	return b.html()
}

// sideName returns the name of a side: the last part of the directory that was given, so that the rest of the path is not published.
func sideName(runs []comparison.Run) string {
	var names []string
	for _, r := range runs {
		path := r.Path
		if above := filepath.Dir(path); filepath.Base(above) == "profile_runs" || filepath.Base(above) == "blocks" {
			path = filepath.Dir(above)
		}
		if name := filepath.Base(path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// shortPaths replaces the directories of runs by names, so that paths are not published.
func shortPaths(r *comparison.Result) *strings.Replacer {
	var pairs []string
	for _, one := range slices.Concat(r.A, r.B) {
		pairs = append(pairs, one.Path, filepath.Base(one.Path))
	}
	return strings.NewReplacer(pairs...)
}

// sideFact says what a side is: its runs and what they measured.
func sideFact(runs []comparison.Run) string {
	return strings.TrimSuffix(runsOf(runs)+" of "+comparison.Described(runs), " of ")
}

func runsOf(runs []comparison.Run) string {
	if len(runs) == 1 {
		return "1 run"
	}
	return terminal.Plural(len(runs), "run")
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// forest returns a table with one row per statistic and its interval as a drawing.
func forest(r *comparison.Result, short *strings.Replacer) *table {
	nameA, nameB := r.Sides()
	t := &table{Caption: "Every statistic that is compared", Class: "numbers forest", Head: []string{"Statistic", "A: " + nameA, "B: " + nameB, "Difference", "Interval", "Verdict", "Interval, drawn", "Why"}}
	reach := 0.0
	for i := range r.Lines {
		for _, v := range []float64{r.Lines[i].Low, r.Lines[i].High, r.Lines[i].Margin, r.Lines[i].Difference} {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				reach = max(reach, math.Abs(v))
			}
		}
	}
	reach = min(max(reach, 0.01), 1)
	for i := range r.Lines {
		l := &r.Lines[i]
		share := func(v float64) string {
			if !l.Bounded(v) {
				return "unbounded"
			}
			if l.Tag == "error_rate" {
				return fmt.Sprintf("%+.1f points", 100*v)
			}
			return strings.Replace(percent(v), "-0.0", "+0.0", 1)
		}
		value := figure
		if l.Tag == "error_rate" {
			value = func(v float64) string { return figure(100*v) + " %" }
		}
		end := func(v float64) string { return strings.ReplaceAll(share(v), " ", "\u00a0") } // the cell may only break between the ends of the interval
		name := lineName(l.Tag)
		why := short.Replace(l.Reason)
		if l.Needed != "" {
			why = strings.TrimPrefix(why+"; it would take "+l.Needed, "; ")
		}
		t.Rows = append(t.Rows, []cellText{
			{Text: name + " " + l.Stat, Below: l.Unit}, {Text: value(l.A)}, {Text: value(l.B)}, {Text: share(l.Difference)}, {Text: reachText(end(l.Low), end(l.High))},
			{Text: string(l.Outcome), Strong: l.Outcome != comparison.Same}, {Drawn: interval(l, reach)}, {Text: why},
		})
	}
	return t
}

// reachText joins the ends of an interval.
func reachText(low, high string) string {
	if low == "unbounded" && high == "unbounded" {
		return low
	}
	return low + " to " + high
}

// Sizes of the drawing of an interval, in px.
const (
	forestWide = 220
	forestTall = 20
)

// interval draws one line of the forest: margin, zero, interval, estimate. Ends outside of the drawing are clamped to its edge.
func interval(l *comparison.Line, reach float64) node {
	x := func(v float64) string {
		if math.IsNaN(v) {
			v = 0
		}
		return fmt.Sprintf("%.1f", (1+max(-1, min(1, v/reach)))*(forestWide-8)/2+4)
	}
	at := func(name string, more ...string) attrs { return append(attrs{"class", name}, more...) }
	middle, bottom := fmt.Sprint(forestTall/2), fmt.Sprint(forestTall)
	wide := math.Min(l.Margin/reach, 1) * (forestWide - 8)
	return el("svg", attrs{"class", "interval " + strings.ReplaceAll(string(l.Outcome), " ", "-"), "width", fmt.Sprint(forestWide), "height", bottom, "viewBox", fmt.Sprintf("0 0 %d %d", forestWide, forestTall), "aria-hidden", "true"},
		el("rect", at("margin", "x", x(-l.Margin), "y", "2", "width", fmt.Sprintf("%.1f", wide), "height", fmt.Sprint(forestTall-4))),
		el("line", at("zero", "x1", x(0), "x2", x(0), "y1", "0", "y2", bottom)),
		el("line", at("span", "x1", x(l.Low), "x2", x(l.High), "y1", middle, "y2", middle)),
		el("circle", at("dot", "cx", x(l.Difference), "cy", middle, "r", "4")))
}

// sides draws the distributions of a metric on both sides; nil if one side has none.
func sides(r *comparison.Result, tag string) *chart.Chart {
	m, ok := metric.Lookup(tag)
	if !ok {
		return nil
	}
	c := &chart.Chart{Name: tag, Title: m.Header, X: chart.Axis{Title: m.Display + " (log)", Scale: chart.Log}, Y: chart.Axis{Title: "share of the requests", Fixed: true, Max: 1}}
	for k, side := range [][]comparison.Run{r.A, r.B} {
		var v []float64
		for i := range side {
			v = append(v, side[i].Values[tag]...)
		}
		v = slices.DeleteFunc(v, func(x float64) bool { return !(x > 0) })
		if len(v) < 2 {
			return nil
		}
		slices.Sort(v)
		t := chart.Trace{Name: "AB"[k : k+1], Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: []string{hueP50, hueP90}[k], Width: 2, Dash: []string{"", "dash"}[k]}}
		for i := range 201 {
			t.X, t.Y = append(t.X, stats.Percentile(v, float64(i)/2)), append(t.Y, float64(i)/200)
		}
		c.Traces = append(c.Traces, t)
	}
	return c
}

// targetTable returns the table of what both sides measured: a row for each target, without columns that no target has.
func targetTable(r *comparison.Result) *table {
	t := &table{Caption: "What was measured", Head: []string{"Side"}}
	columns := []struct {
		name string
		of   func(*comparison.Target) string
	}{
		{"Label", func(one *comparison.Target) string { return one.Label }}, {"URL", func(one *comparison.Target) string { return place("endpoint.urls", one.URL) }},
		{"Model", func(one *comparison.Target) string { return one.Model }}, {"Model in the answers", func(one *comparison.Target) string { return one.Answered }},
		{"Server, by its metrics", func(one *comparison.Target) string { return one.Server }},
	}
	var targets []comparison.Target
	for k, side := range [][]comparison.Run{r.A, r.B} {
		before := len(targets)
		for i := range side {
			if one := side[i].Target; !slices.Contains(targets[before:], one) {
				targets = append(targets, one)
				t.Rows = append(t.Rows, []cellText{{Text: "AB"[k : k+1]}})
			}
		}
	}
	for _, c := range columns {
		if !slices.ContainsFunc(targets, func(one comparison.Target) bool { return c.of(&one) != "" }) {
			continue
		}
		t.Head = append(t.Head, c.name)
		for i := range targets {
			text := c.of(&targets[i])
			if text == "" {
				text = "–"
			}
			t.Rows[i] = append(t.Rows[i], cellText{Text: text})
		}
	}
	return t
}

// runTable returns the table of the runs of both sides.
func runTable(r *comparison.Result) *table {
	t := &table{Caption: "The runs", Class: "numbers", Head: []string{"Run", "Side", "Requests that succeeded", "Failed", "Length, s", "Doubt"}}
	for k, side := range [][]comparison.Run{r.A, r.B} {
		for i := range side {
			one := &side[i]
			t.Rows = append(t.Rows, []cellText{{Text: filepath.Base(one.Path)}, {Text: "AB"[k : k+1]}, {Text: count(len(one.Values["request_latency"]))}, {Text: count(one.Failed)}, {Text: figure(one.Seconds)}, {Text: one.Doubt}})
		}
	}
	return t
}
