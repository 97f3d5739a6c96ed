package htmlreport

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/systems"
)

// cell holds the runs of one setting.
type cell struct {
	name string
	runs []*runfiles.Run
}

// sweepColumn is a column of the table of cells.
type sweepColumn struct {
	tag, stat, name string
	larger          bool // larger values are better
}

var sweepColumns = []sweepColumn{
	{"request_throughput", "avg", "Requests", true},
	{"output_token_throughput", "avg", "Output tokens", true},
	{"output_token_throughput_per_user", "p50", "Speed per user p50", true},
	{"time_to_first_token", "p50", "TTFT p50", false},
	{"time_to_first_token", "p99", "TTFT p99", false},
	{"inter_token_latency", "p50", "ITL p50", false},
	{"request_latency", "p50", "Latency p50", false},
}

// cellsOf groups runs of the same work by what their sweep varies, or else by the load. Runs of other servers, models or prompts are other cells.
func cellsOf(runs []*runfiles.Run) []cell {
	var list []cell
	var names []string
	var work []map[string]string
	for _, r := range runs {
		name, settings := r.Name, map[string]string(nil)
		if s, err := r.Summary(); err == nil {
			name, settings = systems.Name(s, r.Name), systems.Work(s)
		}
		k := 0
		for k < len(list) && !(names[k] == name && maps.Equal(work[k], settings)) {
			k++
		}
		if k == len(list) {
			list, names, work = append(list, cell{}), append(names, name), append(work, settings)
		}
		list[k].runs = append(list[k].runs, r)
	}
	for k, name := range systems.Distinct(names, work) {
		list[k].name = name
	}
	sorting.Stable(list, func(a, b cell) int {
		return cmp.Or(cmp.Compare(trailing(a.name), trailing(b.name)), cmp.Compare(a.name, b.name))
	})
	return list
}

// trailing returns the number at the end of a name; 0 = none.
func trailing(name string) float64 {
	at := strings.LastIndexAny(name, " =_")
	v, err := strconv.ParseFloat(name[at+1:], 64)
	if err != nil {
		return 0
	}
	return v
}

// estimate is the estimate of a figure of a cell.
type estimate struct {
	v, half float64
	ok      bool
}

// grid holds the figures of all cells, by cell and column.
type grid struct {
	cells []cell
	cols  []sweepColumn
	units []string
	v     [][]estimate
	best  []int // best cell of each column; -1 = no cell has the figure
	thin  bool  // no cell has enough requests for a p99
}

func newGrid(cells []cell) *grid {
	g := &grid{cells: cells, v: make([][]estimate, len(cells))}
	for _, col := range sweepColumns {
		unit, best := "", -1
		list := make([]estimate, len(cells))
		for i := range cells {
			e, u := cells[i].estimate(col.tag, col.stat)
			list[i], unit = e, cmp.Or(u, unit)
			if e.ok && (best < 0 || col.larger && e.v > list[best].v || !col.larger && e.v < list[best].v) {
				best = i
			}
		}
		if best < 0 {
			g.thin = g.thin || col.stat == "p99"
			continue // no cell has the figure
		}
		g.cols, g.units, g.best = append(g.cols, col), append(g.units, unit), append(g.best, best)
		for i := range cells {
			g.v[i] = append(g.v[i], list[i])
		}
	}
	return g
}

// estimate returns a figure of a cell.
func (g *grid) estimate(i int, tag, stat string) estimate {
	for k, col := range g.cols {
		if col.tag == tag && col.stat == stat {
			return g.v[i][k]
		}
	}
	return estimate{}
}

// both returns the two figures of the trade-off: the total output of the server, and the speed for each user.
func (g *grid) both(i int) (total, user estimate) {
	return g.estimate(i, "output_token_throughput", "avg"), g.estimate(i, "output_token_throughput_per_user", "p50")
}

// front reports whether no other cell is better in both figures.
func (g *grid) front(i int) bool {
	total, user := g.both(i)
	if !total.ok || !user.ok {
		return false
	}
	for k := range g.cells {
		if t, u := g.both(k); t.ok && u.ok && t.v >= total.v && u.v >= user.v && (t.v > total.v || u.v > user.v) {
			return false
		}
	}
	return true
}

// figureOf is a figure of an axis, with the axis title.
type figureOf struct{ tag, stat, title string }

// chart draws one figure against another: a point per cell, with the interval over its runs as a whisker. front joins the cells on the front, otherwise
// a line joins all cells by the first figure. It is nil if no cell has both figures.
func (g *grid) chart(x, y figureOf, title string, front bool) *chart.Chart {
	c := &chart.Chart{Name: title, Title: title, X: chart.Axis{Title: x.title}, Y: chart.Axis{Title: y.title}}
	dots := chart.Trace{Name: "cell", Kind: chart.Scatter, Mode: chart.Markers, Style: chart.Style{Color: hueP50, Size: 10}}
	type corner struct{ x, y float64 }
	var line []corner
	for i := range g.cells {
		a, _ := g.cells[i].estimate(x.tag, x.stat)
		b, _ := g.cells[i].estimate(y.tag, y.stat)
		if !a.ok || !b.ok {
			continue
		}
		dots.X, dots.Y, dots.Text = append(dots.X, a.v), append(dots.Y, b.v), append(dots.Text, g.cells[i].name)
		dots.ErrorX, dots.ErrorY = append(dots.ErrorX, a.half), append(dots.ErrorY, b.half)
		dots.Hover = append(dots.Hover, terminal.Plural(len(g.cells[i].runs), "run"))
		if !front || g.front(i) {
			line = append(line, corner{a.v, b.v})
		}
	}
	if dots.X == nil {
		return nil
	}
	sorting.Stable(line, func(a, b corner) int { return cmp.Compare(a.x, b.x) })
	joined := chart.Trace{Unlisted: true, Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: hueP50, Width: 2}}
	for _, one := range line {
		joined.X, joined.Y = append(joined.X, one.x), append(joined.Y, one.y)
	}
	c.X.FromZero, c.Y.FromZero = chart.NearZero(dots.X), chart.NearZero(dots.Y)
	c.Traces = []chart.Trace{joined, dots}
	return c
}

// findings returns sentences about the cells: the range, where more load begins to add less throughput, and whether the cells have few requests.
func (g *grid) findings() (list []string) {
	var has []int
	fewest, most := math.Inf(1), 0.0
	for i := range g.cells {
		n := g.cells[i].requests()
		fewest, most = min(fewest, n), max(most, n)
		if t, u := g.both(i); t.ok && u.ok {
			has = append(has, i)
		}
	}
	if len(has) > 1 {
		a, b := has[0], has[len(has)-1]
		t, u := g.both(a)
		t2, u2 := g.both(b)
		change := func(from, to float64) string {
			if figure(from) == figure(to) {
				return "stays at " + figure(to)
			}
			return "changes from " + figure(from) + " to " + figure(to)
		}
		list = append(list, fmt.Sprintf("From %s to %s the output %s tokens/s, and the speed per user %s.", g.cells[a].name, g.cells[b].name, change(t.v, t2.v), change(u.v, u2.v)))
		list = append(list, g.knee(has)...)
	}
	if fewest < stats.FewestForP99 {
		hold := count(int(fewest))
		if most > fewest {
			hold += " to " + count(int(most))
		}
		amount := "several"
		if slices.ContainsFunc(g.cells, func(c cell) bool { return len(c.runs) > 1 }) {
			amount = "more"
		}
		list = append(list, fmt.Sprintf("Runs of a cell have %s requests. Differences of a few percent need longer runs, or %s of each (%s).", hold, amount, spellSetting("multi_run.num_runs")))
	}
	return list
}

// knee returns a sentence about where more load begins to add less throughput.
func (g *grid) knee(has []int) []string {
	var load, output []float64
	has = slices.Clone(has)
	has = slices.DeleteFunc(has, func(i int) bool { return g.cells[i].clientDoubted() }) // they say nothing about the server
	for n, i := range has {
		t, _ := g.both(i)
		axis, amount := g.cells[i].load()
		first, _ := g.cells[has[0]].load()
		load, output = append(load, amount), append(output, t.v)
		if axis != first || load[n] <= 0 || t.v <= 0 || n > 0 && load[n] <= load[n-1] {
			return nil // the settings do not describe amounts of load
		}
	}
	if len(has) < 2 {
		return nil
	}
	n := stats.Knee(load, output)
	if n < 0 && stats.Knee([]float64{load[0], load[len(load)-1]}, []float64{output[0], output[len(output)-1]}) > 0 {
		return nil // the loads are too close to each other to show where the output stops growing
	}
	if n < 0 {
		return []string{fmt.Sprintf("The output grows with the load up to %s; more load would show where it stops.", g.cells[has[len(has)-1]].name)}
	}
	return []string{fmt.Sprintf("Returns diminish after %s: %s has %s times the load and %s times the output.", g.cells[has[n-1]].name, g.cells[has[n]].name, figure(load[n]/load[n-1]), figure(output[n]/output[n-1]))}
}

// load returns the axis and the load of a cell whose only setting is one, like "concurrency 8"; otherwise 0.
func (c *cell) load() (axis string, amount float64) {
	axis, _, ok := strings.Cut(c.name, " ")
	if !ok || axis != "concurrency" && axis != "rate" || strings.Count(c.name, " ") != 1 {
		return "", 0
	}
	return axis, trailing(c.name)
}

// requests returns the smallest number of successful requests in a run of a cell.
func (c *cell) requests() float64 {
	least := math.Inf(1)
	for _, r := range c.runs {
		if s, err := r.Summary(); err == nil {
			n, _ := s.Stat("request_count", "avg")
			least = min(least, n)
		}
	}
	return least
}

// clientDoubted reports whether the client limited a run of the cell, or may have.
func (c *cell) clientDoubted() bool {
	return slices.ContainsFunc(c.runs, func(r *runfiles.Run) bool {
		s, err := r.Summary()
		if err != nil {
			return false
		}
		v := s.Verdict()
		return v.ClientDoubt() != ""
	})
}

// verdicts lists the verdicts of the runs of a cell, without duplicates.
func (c *cell) verdicts() string {
	var list []string
	for _, r := range c.runs {
		if s, err := r.Summary(); err == nil {
			if word := cmp.Or(s.Verdict().Word, "none"); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
	}
	return strings.Join(list, ", ")
}

// table returns the table with one row per cell.
func (g *grid) table(place func(*runfiles.Run) runPlace) *table {
	t := &table{Caption: "Figures of each cell", Class: "numbers sweep", Head: []string{"Cell"}}
	for k, col := range g.cols {
		t.Head = append(t.Head, col.name+", "+g.units[k])
	}
	t.Head = append(t.Head, "Failed, %", "Verdict")
	for i := range g.cells {
		c := &g.cells[i]
		about := terminal.Plural(int64(c.requests()), "request")
		if len(c.runs) > 1 {
			about = fmt.Sprintf("%d runs, at least %s", len(c.runs), about)
		}
		if len(g.cells) > 1 && g.front(i) {
			about += ", on the frontier"
		}
		row := []cellText{{Text: c.name, Link: place(c.runs[0]).link, Below: about}}
		for k := range g.cols {
			value, below := g.estimateText(i, k)
			row = append(row, cellText{Text: value, Below: below, Strong: len(g.cells) > 1 && i == g.best[k]})
		}
		failed, _ := c.estimate("request_error_rate", "avg")
		value := "0"
		if failed.ok {
			value = figure(failed.v)
		}
		t.Rows = append(t.Rows, append(row, cellText{Text: value}, cellText{Text: c.verdicts()}))
	}
	return t
}

// estimateText formats a figure with its interval, and its distance from the best.
func (g *grid) estimateText(i, k int) (value, below string) {
	e, best := g.v[i][k], g.v[g.best[k]][k]
	if !e.ok {
		return "–", ""
	}
	value = figure(e.v)
	if e.half > 0 {
		value += " ± " + figure(e.half)
	}
	switch {
	case len(g.cells) == 1: // nothing to compare with
		return value, ""
	case i == g.best[k]:
		return value, "best"
	case e.half+best.half > 0 && math.Abs(e.v-best.v) < e.half+best.half:
		return value, "intervals overlap"
	case best.v != 0:
		return value, percent((e.v - best.v) / best.v)
	}
	return value, ""
}

// percent formats a share in percent with its sign: two digits below ten.
func percent(share float64) string {
	if v := 100 * share; math.Abs(v) < 9.95 {
		return fmt.Sprintf("%+.1f %%", v)
	}
	return fmt.Sprintf("%+.0f %%", 100*share)
}

// estimate returns the mean of a figure over the runs of a cell. A p99 needs a hundred requests in every run.
func (c *cell) estimate(tag, stat string) (e estimate, unit string) {
	var v []float64
	for _, r := range c.runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		n, counted := s.Stat(tag, "count")
		if one, ok := s.Stat(tag, stat); ok && !(stat == "p99" && counted && n < stats.FewestForP99) {
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

// maxWaits is the largest number of settings in one chart of waits.
const maxWaits = 10

// waits draws the share of requests that had their first token within a time, one line per cell; nil if answers were not streamed.
func waits(cells []cell) *chart.Chart {
	c := &chart.Chart{Name: "waits", Title: "Time to first token", X: chart.Axis{Title: "ms (log)", Scale: chart.Log}, Y: chart.Axis{Title: "share of the requests", FromZero: true, Max: 1, Fixed: true}}
	step := (len(cells) + maxWaits - 1) / maxWaits
	var every []float64
	for i := 0; i < len(cells); i += step {
		var v []float64
		for _, r := range cells[i].runs {
			q, err := r.Requests()
			if err != nil {
				continue
			}
			list, _ := q.Column("time_to_first_token")
			for k := range list {
				if list[k] > 0 && !q.Warmup[k] && q.Failure[k] == "" {
					v = append(v, list[k])
				}
			}
		}
		if len(v) < 2 {
			continue
		}
		slices.Sort(v)
		every = append(every, v...)
		n := len(c.Traces)
		t := chart.Trace{Name: cells[i].name, Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: []string{hueP50, hueP90, hueP99, hueDecode, hueFail}[n%5], Width: 2, Dash: []string{"", "dash"}[n/5%2]}}
		for k := range 101 {
			t.X, t.Y = append(t.X, stats.Percentile(v, float64(k))), append(t.Y, float64(k)/100)
		}
		c.Traces = append(c.Traces, t)
	}
	if c.Traces == nil {
		return nil
	}
	slices.Sort(every)
	c.Notes = clip(&c.X, every, "ms")
	if step > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("One of %d settings is shown.", step))
	}
	return c
}
