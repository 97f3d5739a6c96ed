package plots

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// Multi draws presets of several runs.
type Multi struct {
	Runs    []*runfiles.Run
	Theme   *chart.Theme
	Classes *Classes
	Warn    func(format string, args ...any)

	colours map[[2]string]chart.Style // styles of groups by column and value, the same in every chart
}

// multiTypes are the chart types for several runs.
var multiTypes map[string]func(*Multi, *Preset, *chart.Chart, []group)

func init() {
	multiTypes = map[string]func(*Multi, *Preset, *chart.Chart, []group){
		"pareto":                         (*Multi).pareto,
		"scatter_line":                   (*Multi).linesOfGroups,
		"scatter":                        (*Multi).pointsOnly,
		"bar":                            (*Multi).bars,
		"latency_throughput_uncertainty": (*Multi).uncertainty,
	}
}

// point is a run in a chart.
type point struct {
	x, y  float64
	label string
	run   *runfiles.Run
}

// group holds the runs of a series.
type group struct {
	value  string // value of the group column
	name   string // in the legend
	points []point
	chart.Style
}

// Draw makes the chart of a preset. A Missing error says that the runs lack the data. Any other error means that the preset cannot be drawn for any
// runs.
func (m *Multi) Draw(p *Preset) (*chart.Chart, error) {
	use := *p
	if m.Classes != nil {
		use.Group = "experiment_group"
	}
	fallen := m.withoutGPUs(&use)
	if use.Type == "pareto" {
		for _, r := range []Ref{use.X, use.Y} {
			if r.Metric == "" {
				return nil, errors.New("a pareto plot needs x and y")
			}
		}
	}
	groups, err := m.groups(&use)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{X: chart.Axis{Title: metricTitle(use.X.Metric, m.shownStat(use.X)), FromZero: true}, Y: chart.Axis{Title: metricTitle(use.Y.Metric, m.shownStat(use.Y)), FromZero: true}}
	multiTypes[p.Type](m, &use, c, groups)
	if use.Type == "pareto" {
		c.X.FromZero, c.Y.FromZero = fromZero(c)
	}
	if fallen {
		m.Warn("%s: %s is missing, because no run has gpu_telemetry; drawing the total instead, %s", p.Name, perGPU, total)
		c.Notes = append(c.Notes, "No run has GPU telemetry, so the throughput is the total of the server, not per GPU.")
	}
	if len(groups) > 4 {
		m.Warn("%s: %d series in one plot are hard to read", p.Name, len(groups))
	}
	use.finish(c)
	return c, nil
}

// fromZero reports which axes of a chart should include zero: those whose values are not all far from it.
func fromZero(c *chart.Chart) (x, y bool) {
	var xs, ys []float64
	for i := range c.Traces {
		t := &c.Traces[i]
		xs, ys = append(xs, t.X...), append(ys, t.Y...)
	}
	return chart.NearZero(xs), chart.NearZero(ys)
}

// withoutGPUs draws the total throughput if the number of GPUs is unknown for all runs.
func (m *Multi) withoutGPUs(p *Preset) bool {
	asked := p.X.Metric == perGPU || p.Y.Metric == perGPU
	if !asked || slices.ContainsFunc(m.Runs, func(r *runfiles.Run) bool { return r.GPUCount() > 0 }) {
		return false
	}
	for _, r := range []*Ref{&p.X, &p.Y} {
		if r.Metric == perGPU {
			r.Metric = total
		}
	}
	if p.Title == "" {
		return true // the title is generated from the axes, which say what is drawn
	}
	p.Title = strings.ReplaceAll(strings.ReplaceAll(p.Title, "Token Throughput per GPU", "Total Token Throughput"), " per GPU", " (total)")
	if !strings.Contains(strings.ToLower(p.Title), "total") {
		p.Title += " (total throughput)"
	}
	return true
}

// shownStat returns the statistic for a title; "" if the metric has only one value.
func (m *Multi) shownStat(r Ref) string {
	for _, run := range m.Runs {
		s, err := run.Summary()
		if err == nil && r.Stat != "" {
			if _, ok := s.Stat(r.Metric, r.Stat); ok {
				return r.Stat
			}
		}
	}
	return ""
}

// Value returns a run's value of a reference.
func Value(run *runfiles.Run, r Ref) (float64, bool) {
	s, err := run.Summary()
	if err != nil {
		return 0, false
	}
	switch r.Metric {
	case perGPU:
		n := run.GPUCount()
		v, ok := s.Stat(total, "avg")
		return v / float64(max(n, 1)), ok && n > 0
	case concurrency, "request_rate", "duration_seconds":
		v, err := strconv.ParseFloat(Column(run, r.Metric), 64)
		return v, err == nil
	}
	stat := r.Stat
	if stat == "" {
		stat = "avg"
	}
	if v, ok := s.Stat(r.Metric, stat); ok {
		return v, true
	}
	if f := s.Figures[r.Metric]; f != nil {
		if _, dist := f.Stats["p50"]; !dist {
			v, ok := f.Stats["avg"]
			return v, ok // for a single value, every statistic is that value
		}
	}
	return 0, false
}

// Column returns a column of a run as text; "" = the run has none.
func Column(run *runfiles.Run, name string) string {
	s, err := run.Summary()
	if err != nil {
		return ""
	}
	switch name {
	case "run_name":
		return run.Name
	case "model":
		return s.Model()
	case concurrency:
		return s.Phase("concurrency")
	case "request_rate":
		return s.Phase("rate")
	case "request_count":
		return s.Phase("requests")
	case "endpoint_type":
		return s.Setting("endpoint.type")
	case "duration_seconds":
		return strconv.FormatFloat(s.Seconds(), 'g', 6, 64)
	}
	return s.Flat()[name]
}

// column is Column with the columns that classification adds.
func (m *Multi) column(run *runfiles.Run, name string) string {
	if m.Classes != nil && (name == "experiment_group" || name == "experiment_type") {
		kind, group := m.Classes.class(run)
		if name == "experiment_type" {
			return kind
		}
		return group
	}
	return Column(run, name)
}

// groups returns the series of a chart: the values of each run on both axes, grouped by the group column.
func (m *Multi) groups(p *Preset) ([]group, error) {
	by := map[string][]point{}
	lost := map[string]int{}
	for _, run := range m.Runs {
		at := point{label: m.column(run, p.Label), run: run}
		okX, okY := true, true
		if p.X.Metric != "" {
			at.x, okX = Value(run, p.X)
		}
		if p.Y.Metric != "" {
			at.y, okY = Value(run, p.Y)
		}
		if !okX {
			lost[p.X.Metric]++
		}
		if !okY {
			lost[p.Y.Metric]++
		}
		if okX && okY {
			value := m.column(run, p.Group)
			by[value] = append(by[value], at)
		}
	}
	for _, name := range sortedKeys(lost) {
		if lost[name] == len(m.Runs) {
			return nil, &Missing{What: name}
		}
		m.Warn("%s: %d of %d runs skipped: %s is missing", p.Name, lost[name], len(m.Runs), name)
	}
	if len(by) == 0 {
		return nil, &Missing{What: fold(sortedKeys(lost))}
	}
	var list []group
	for _, value := range m.order(p.Group, slices.Collect(maps.Keys(by))) {
		g := group{value: value, name: value, points: by[value]}
		if m.Classes != nil && m.Classes.Names[value] != "" {
			g.name = m.Classes.Names[value]
		}
		if g.name == "" {
			g.name = "(no " + p.Group + ")"
		}
		sorting.Stable(g.points, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.y, a.y)) })
		list = append(list, g)
	}
	m.paint(p.Group, list)
	return list, nil
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// order sorts the values of a column: numbers by size, words alphabetically; baseline experiments first.
func (m *Multi) order(column string, values []string) []string {
	slices.SortFunc(values, func(a, b string) int {
		if d := cmp.Compare(m.rank(column, a), m.rank(column, b)); d != 0 {
			return d
		}
		x, err1 := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(b, 64)
		if err1 == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
	return values
}

// rank returns 0 for an experiment that is a baseline, 1 for anything else.
func (m *Multi) rank(column, value string) int {
	if m.Classes == nil || column != "experiment_group" {
		return 1
	}
	for _, run := range m.Runs {
		if kind, group := m.Classes.class(run); group == value && kind == baseline {
			return 0
		}
	}
	return 1
}

// greys are the colours of baselines.
var greys = []string{chart.Gray, "#777777", "#bbbbbb", "#5f5f5f"}

// paint assigns a colour and a marker to every group and keeps them for later charts.
func (m *Multi) paint(column string, list []group) {
	if m.colours == nil {
		m.colours = map[[2]string]chart.Style{}
	}
	for i := range list {
		key := [2]string{column, list[i].value}
		style, ok := m.colours[key]
		if !ok {
			grey, rest := 0, 0
			for k := range m.colours {
				switch {
				case k[0] != column:
				case m.rank(column, k[1]) == 0:
					grey++
				default:
					rest++
				}
			}
			style.Color = m.Theme.Groups[rest%len(m.Theme.Groups)]
			if m.rank(column, list[i].value) == 0 {
				style.Color = greys[grey%len(greys)]
			}
			style.Symbol = chart.Symbols[(grey+rest)%len(chart.Symbols)]
			m.colours[key] = style
		}
		list[i].Style = style
	}
}

// trace returns the points of a group as a trace.
func (g *group) trace(points []point, mode string) chart.Trace {
	t := chart.Trace{Name: g.name, Kind: chart.Scatter, Mode: mode, Style: g.Style}
	t.Width, t.Size, t.Halo = 3, 9, true
	texts := false
	for _, one := range points {
		t.X, t.Y, t.Text, t.Key = append(t.X, one.x), append(t.Y, one.y), append(t.Text, one.label), append(t.Key, one.run.Dir)
		t.Hover = append(t.Hover, one.run.Name)
		texts = texts || one.label != ""
	}
	if !texts {
		t.Text = nil
	}
	return t
}

// linesOfGroups draws a line through the points of each group.
func (m *Multi) linesOfGroups(_ *Preset, c *chart.Chart, groups []group) {
	for i := range groups {
		c.Traces = append(c.Traces, groups[i].trace(groups[i].points, chart.LinesMarkers))
	}
}

// pointsOnly draws only the points.
func (m *Multi) pointsOnly(_ *Preset, c *chart.Chart, groups []group) {
	for i := range groups {
		c.Traces = append(c.Traces, groups[i].trace(groups[i].points, chart.Markers))
	}
}

// bars draws a bar for each run, with its label or its name.
func (m *Multi) bars(p *Preset, c *chart.Chart, groups []group) {
	c.X.Scale, c.X.Title = chart.Category, words(p.Label)
	if p.Label == "" {
		c.X.Title = "Run"
	}
	for i := range groups {
		t := groups[i].trace(groups[i].points, "")
		t.Kind, t.Text, t.Halo = chart.Bar, nil, false
		for k, one := range groups[i].points {
			name := one.label
			if name == "" {
				name = one.run.Name
			}
			t.X[k] = float64(len(c.X.Labels))
			c.X.Labels = append(c.X.Labels, name)
		}
		c.Traces = append(c.Traces, t)
	}
}

// larger reports whether large values of a metric are good.
func larger(tag string) bool {
	if m, ok := metric.Lookup(tag); ok {
		return m.Better != metric.Smaller
	}
	return true // throughput per GPU and settings of the load
}

// pareto draws all runs, and a line through those that no other run of their group dominates.
func (m *Multi) pareto(p *Preset, c *chart.Chart, groups []group) {
	for i := range groups {
		g := &groups[i]
		front := frontier(g.points, larger(p.X.Metric), larger(p.Y.Metric))
		line := g.trace(front, chart.Lines)
		line.Name, line.Text = "", nil
		dots := g.trace(g.points, chart.Markers)
		dots.Halo = false
		c.Traces = append(c.Traces, line, dots)
	}
	c.Notes = append(c.Notes, "Lines connect the Pareto-optimal runs: no other run of the group is better in both figures.")
}

// frontier returns the points that no other point dominates, sorted by x. Equal points do not dominate each other.
func frontier(points []point, largerX, largerY bool) []point {
	list := slices.Clone(points)
	sorting.Stable(list, func(a, b point) int { // best x first, then best y
		x, y := cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)
		if largerX {
			x = -x
		}
		if largerY {
			y = -y
		}
		return cmp.Or(x, y)
	})
	best := math.Inf(1)
	if largerY {
		best = math.Inf(-1)
	}
	var front []point
	for _, one := range list {
		if largerY && one.y >= best || !largerY && one.y <= best {
			front, best = append(front, one), one.y
		}
	}
	sorting.Stable(front, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return front
}

// uncertainty draws the mean of the runs of each concurrency, with intervals on both axes and the region that they span.
func (m *Multi) uncertainty(p *Preset, c *chart.Chart, groups []group) {
	few, several := false, false
	for i := range groups {
		g := &groups[i]
		var means []cell
		for _, runs := range cells(g.points) {
			means = append(means, newCell(runs, p.Level))
		}
		sorting.Stable(means, func(a, b cell) int { return cmp.Compare(a.x, b.x) })
		line := chart.Trace{Name: p.Group + " = " + g.name, Kind: chart.Scatter, Mode: chart.LinesMarkers, Style: g.Style}
		line.Width, line.Size = 2, 9
		var regions []chart.Trace
		for _, one := range means {
			line.X, line.Y, line.Text = append(line.X, one.x), append(line.Y, one.y), append(line.Text, one.label)
			line.ErrorX, line.ErrorY = append(line.ErrorX, one.halfX), append(line.ErrorY, one.halfY)
			line.Key, line.Hover = append(line.Key, one.key), append(line.Hover, terminal.Plural(one.n, "run"))
			few, several = few || one.n < 3, several || one.n > 1
			regions = append(regions, one.region(g.Color))
		}
		c.Traces = append(append(c.Traces, line), regions...)
	}
	if several { // a single run has no region
		c.Legend = append(c.Legend, chart.Entry{Name: fmt.Sprintf("%.0f%% Confidence Region", 100*p.Level), Mode: chart.Lines, Style: chart.Style{Color: chart.Gray, Width: 1.5, Fill: chart.ToSelf, Filling: 0.2}})
	}
	if few && several {
		c.Legend = append(c.Legend, chart.Entry{Name: "Low sample (n < 3)", Mode: chart.Lines, Style: chart.Style{Color: chart.Gray, Width: 1.5, Dash: "dash"}})
	}
	if few {
		c.Notes = append(c.Notes, "One run has no confidence interval; with two, it is wide (Student's t).")
	}
}

// cell holds the runs of one point.
type cell struct {
	x, y, halfX, halfY float64
	n                  int
	label, key         string
}

// cells groups points by concurrency; a run without one is its own group.
func cells(points []point) [][]point {
	by := map[string][]point{}
	for _, one := range points {
		key := Column(one.run, concurrency)
		if key == "" {
			key = one.run.Dir
		}
		by[key] = append(by[key], one)
	}
	var list [][]point
	for _, key := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[key])
	}
	return list
}

// newCell computes the mean of runs and its interval from Student's t.
func newCell(runs []point, level float64) cell {
	var x, y []float64
	for _, one := range runs {
		x, y = append(x, one.x), append(y, one.y)
	}
	c := cell{x: stats.Mean(x), y: stats.Mean(y), n: len(runs), label: runs[0].label, key: runs[0].run.Dir}
	if len(runs) > 1 {
		t := stats.StudentT(level, float64(len(runs)-1)) / math.Sqrt(float64(len(runs)))
		c.halfX, c.halfY = t*stats.SampleStd(x), t*stats.SampleStd(y)
	}
	return c
}

// region returns an ellipse with the intervals as half axes: 64 points and the first one again.
func (c *cell) region(hue string) chart.Trace {
	t := chart.Trace{Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: hue, Width: 1.5, Fill: chart.ToSelf, Filling: 0.15}}
	if c.n < 3 {
		t.Dash = "dash"
	}
	for k := range 65 {
		angle := 2 * math.Pi * float64(k%64) / 64
		t.X, t.Y = append(t.X, c.x+c.halfX*math.Cos(angle)), append(t.Y, c.y+c.halfY*math.Sin(angle))
	}
	return t
}
