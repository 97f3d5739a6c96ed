package htmlreport

import (
	"fmt"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/systems"
)

// systemsData is the input of the script that compares systems.
type systemsData struct {
	Systems []systems.System
	Points  []systems.Point
	Keys    []string    // settings in which points differ
	Shared  [][2]string // settings that all points have in common
	ColorBy string
	Spelled systems.Spelled
}

// SystemsFile is the usual name of the page.
const SystemsFile = "systems.html"

// Systems returns the page that compares systems by their measured points.
func Systems(c *systems.Comparison, version string) ([]byte, error) {
	return systemsOf(c, version).html()
}

// systemsOf returns the content of that page.
func systemsOf(c *systems.Comparison, version string) *builder {
	b := &builder{}
	b.Title, b.Eyebrow = "Comparison of "+terminal.Plural(len(c.Systems), "system"), terminal.Plural(len(c.Points), "measured point")
	for i := range c.Systems {
		b.Facts = append(b.Facts, c.Systems[i].Name)
	}
	b.Foot = "Made by aiperf " + version + " from the files of the runs"
	if b.Findings = c.Notes; b.Findings != nil {
		b.Level, b.Verdict = "suspect", "Read this before comparing"
	}
	b.data.Systems = systemsInput(c)
	b.Sections = []section{
		{ID: "objectives", Title: "Objectives", Lead: "Set limits to see which points keep them. The best point is the best by the vertical axis of the trade-off below.", Own: objectiveForm},
		{ID: "trade", Title: "Trade-off", Lead: "Each mark is a measured point, with the 95 % interval over its runs if it has several. A line joins the points of a system that pass and that no other passing point of it beats on both axes. Pale points fail a limit or do not count.", Own: tradeForm},
		{ID: "growth", Title: "Latency against load", Lead: "A line joins the points of a system in the order of the load. A dashed horizontal line is the limit from the objectives.", Own: growthForm},
		{ID: "systems", Title: "Systems", Lead: "Cost is the price of a GPU hour times the number of GPUs, divided by the tokens of an hour.", Tables: []*table{systemTable(c)}},
		{ID: "points", Title: "Points", Lead: "Figures are means over the runs of a point. ± is the half width of the 95 % interval (Student's t).", Tables: []*table{pointTable(c)}},
		{ID: "differences", Title: "Settings that differ", Tables: []*table{differenceTable(c)}},
	}
	b.Settings = b.data.Systems.Shared
	return b
}

// systemsInput returns the input of the script; the settings of a point are those that are not shared, without directories.
func systemsInput(c *systems.Comparison) *systemsData {
	d := &systemsData{Systems: c.Systems, Keys: c.Keys, ColorBy: c.ColorBy, Spelled: c.Spelled}
	shared := map[string]string{}
	for key, v := range c.Points[0].Settings {
		if !slices.Contains(c.Keys, key) {
			shared[key] = v
		}
	}
	d.Shared = sortedSettings(shared)
	for i := range c.Points {
		p := c.Points[i]
		own := map[string]string{}
		for _, key := range c.Keys {
			if v := p.Settings[key]; v != "" {
				own[key] = place(key, v)
			}
		}
		p.Settings = own
		d.Points = append(d.Points, p)
	}
	return d
}

// systemTable returns the table of the systems; the script adds the switches and the fields for prices.
func systemTable(c *systems.Comparison) *table {
	t := &table{Caption: "Systems and their GPUs", Class: "numbers sweep", Head: []string{"System", "Points", "GPUs", "Price of a GPU hour"}}
	for k := range c.Systems {
		s := &c.Systems[k]
		n := 0
		for i := range c.Points {
			if c.Points[i].System == k {
				n++
			}
		}
		price := "–"
		if s.Price > 0 {
			price = terminal.Exact(s.Price)
		}
		t.Rows = append(t.Rows, []cellText{{Text: s.Name}, {Text: count(n)}, {Text: s.GPUs}, {Text: price}})
	}
	return t
}

// pointFigure returns a figure of a point, or why it is missing.
type pointFigure func(c *systems.Comparison, p *systems.Point) (f systems.Figure, missing string)

// pointColumns are the figures of the table of points; those per GPU and the cost are derived. below is a second, smaller figure.
var pointColumns = []struct {
	name         string
	value, below pointFigure
}{
	{"Output tokens/s per GPU", perGPU("output_token_throughput:avg"), nil},
	{"Output tokens/s", plainFigure("output_token_throughput:avg"), nil},
	{"Tokens/s per user p50", plainFigure("output_token_throughput_per_user:p50"), nil},
	{"TTFT p99, ms", plainFigure("time_to_first_token:p99"), plainFigure("time_to_first_token:p50")},
	{"ITL p99, ms", plainFigure("inter_token_latency:p99"), plainFigure("inter_token_latency:p50")},
	{"Latency p99, ms", plainFigure("request_latency:p99"), plainFigure("request_latency:p50")},
	{costColumn, outputCost, nil},
	{"Energy, mJ/token out", plainFigure(systems.Energy), nil},
}

// costColumn is the head of the column that the script fills again when a price changes.
const costColumn = "Cost of 1\u00a0M output tokens"

func plainFigure(key string) pointFigure {
	return func(_ *systems.Comparison, p *systems.Point) (systems.Figure, string) {
		return p.Figures[key], p.Missing[key]
	}
}

func perGPU(key string) pointFigure {
	return func(c *systems.Comparison, p *systems.Point) (f systems.Figure, missing string) {
		if p.GPUs == 0 {
			return f, "needs " + c.Spelled.GPUs
		}
		if f, missing = p.Figures[key], p.Missing[key]; missing == "" {
			n := float64(p.GPUs)
			f.Value, f.Half, f.Low, f.High = f.Value/n, f.Half/n, f.Low/n, f.High/n
		}
		return f, missing
	}
}

// outputCost returns the cost of a million output tokens: GPUs times the price of their hour over the tokens of an hour.
func outputCost(c *systems.Comparison, p *systems.Point) (f systems.Figure, missing string) {
	s := &c.Systems[p.System]
	rate, missing := p.Figures["output_token_throughput:avg"], p.Missing["output_token_throughput:avg"]
	switch {
	case p.GPUs == 0:
		return f, "needs " + c.Spelled.GPUs
	case s.Price == 0:
		return f, "needs a price"
	case missing != "" || rate.Value <= 0:
		return f, "no throughput"
	}
	f.Value = float64(p.GPUs) * s.Price / (rate.Value * 3600) * 1e6
	f.Half = f.Value * rate.Half / rate.Value
	return f, ""
}

// pointTable returns the table of all points; the script adds which of them pass, and their configuration.
func pointTable(c *systems.Comparison) *table {
	t := &table{Caption: "Figures of each point", Class: "numbers sweep", Head: []string{"Point"}}
	for _, col := range pointColumns {
		t.Head = append(t.Head, col.name)
	}
	t.Head = append(t.Head, "Verdict")
	for i := range c.Points {
		p := &c.Points[i]
		about := terminal.Plural(p.Runs, "run")
		if p.GPUs > 0 {
			about += ", " + terminal.Plural(p.GPUs, "GPU")
		}
		row := []cellText{{Text: c.Systems[p.System].Name + ", " + p.Name, Below: about}}
		for _, col := range pointColumns {
			f, missing := col.value(c, p)
			if missing != "" {
				row = append(row, cellText{Text: "–", Below: missing})
				continue
			}
			one := cellText{Text: figure(f.Value)}
			if f.Half > 0 {
				one.Text += " ± " + figure(f.Half)
			}
			if col.below != nil {
				if f, missing := col.below(c, p); missing == "" {
					one.Below = "p50 " + figure(f.Value)
				}
			}
			row = append(row, one)
		}
		t.Rows = append(t.Rows, append(row, cellText{Text: p.Verdict, Below: figure(p.Failed) + " % failed"}))
	}
	return t
}

// differenceTable lists the settings in which points differ, with the points that have each value.
func differenceTable(c *systems.Comparison) *table {
	t := &table{Caption: "Every setting with more than one value", Head: []string{"Key", "Values"}}
	for _, key := range c.Keys {
		var values []string
		for i := range c.Points {
			v := place(key, c.Points[i].Settings[key])
			if v == "" {
				v = "not set"
			}
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		text := fmt.Sprintf("%d values", len(values))
		if len(values) <= 8 {
			text = ""
			for k, v := range values {
				if k > 0 {
					text += " · "
				}
				text += v
			}
		}
		t.Rows = append(t.Rows, []cellText{{Text: key}, {Text: text}})
	}
	if t.Rows == nil {
		t.Rows = [][]cellText{{{Text: "No setting differs."}, {}}}
	}
	return t
}

// objectiveForm holds the limits and the answer; the script fills the choices.
const objectiveForm htmlgen.Node = `<div class="panel"><div class="limits no-print" id="limits"></div><div class="tools no-print"><label>Failed requests, at most <input id="failed" type="number" min="0" max="100" step="any" value="1"> %</label> <label><input id="doubtful" type="checkbox"> Count points whose measurement is not valid or not complete</label> <button type="button" id="clear">No limits</button></div><p id="best" role="status"></p><ul id="best-of"></ul></div>`

const tradeForm htmlgen.Node = `<div class="panel drawn"><div class="tools no-print" role="group" aria-label="Axes of the trade-off"><label>Vertical <select id="trade-y"></select></label> <label>Horizontal <select id="trade-x"></select></label> <label><input type="checkbox" id="trade-log-y"> Vertical axis logarithmic</label> <label><input type="checkbox" id="trade-log-x"> Horizontal axis logarithmic</label> <label>Colour by <select id="color-by"></select></label></div><div class="tools no-print" role="group" aria-label="Systems" id="switches"></div><div id="trade-chart"></div><div class="detail" id="chosen"><p>Point at a mark to see the whole configuration of the point.</p></div></div>`

const growthForm htmlgen.Node = `<div class="panel drawn"><div class="tools no-print" role="group" aria-label="Axes of latency against load"><label>Latency <select id="growth-y"></select></label> <label>Statistic <select id="growth-stat"></select></label> <label>Load <select id="growth-x"></select></label> <label><input type="checkbox" id="growth-log-y"> Vertical axis logarithmic</label> <label><input type="checkbox" id="growth-log-x"> Horizontal axis logarithmic</label></div><div id="growth-chart"></div></div>`
