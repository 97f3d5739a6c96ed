package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// Missing is the error of a chart for which data are missing. Fix says how to record them; "" = it depends on the server.
type Missing struct{ What, Fix string }

// Error implements error.
func (m *Missing) Error() string {
	if m.Fix == "" {
		return m.What + " missing"
	}
	return m.What + " missing; " + m.Fix
}

// missing wraps the error that a kind of data is missing.
func missing(err error) error {
	if errors.Is(err, runfiles.ErrNone) {
		return &Missing{What: err.Error()[:len(err.Error())-len(": "+runfiles.ErrNone.Error())]}
	}
	return err
}

// Single draws presets of one run.
type Single struct {
	Run      *runfiles.Run
	Theme    *chart.Theme
	Sampling Sampling

	events *events // of tokens; nil = not computed yet
}

// singleTypes are the chart types for one run.
var singleTypes map[string]func(*Single, *Preset) (*chart.Chart, error)

func init() {
	singleTypes = map[string]func(*Single, *Preset) (*chart.Chart, error){
		"scatter":                  (*Single).scatter,
		"scatter_with_percentiles": (*Single).rolling,
		"request_timeline":         (*Single).timeline,
		"area":                     (*Single).area,
		"dual_axis":                (*Single).dual,
		"timeslice":                (*Single).slices,
		"histogram":                (*Single).histogram,
		"percentile_bands":         (*Single).bands,
		"box":                      (*Single).box,
		"heatmap":                  (*Single).heatmap,
	}
}

// categories group the types by their source of data.
var categories = []struct {
	Name  string
	types []string
}{
	{"Requests", []string{"scatter", "scatter_with_percentiles", "request_timeline", "box", "heatmap"}},
	{"Combined", []string{"area", "dual_axis"}},
	{"Aggregated", []string{"timeslice", "histogram", "percentile_bands"}},
	{"Comparison", []string{"pareto", "scatter_line", "scatter", "bar", "latency_throughput_uncertainty"}},
}

// typeNames returns the sorted types of a mode.
func typeNames(multi bool) []string {
	var list []string
	if multi {
		for name := range multiTypes {
			list = append(list, name)
		}
	} else {
		for name := range singleTypes {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Draw makes the chart of a preset. A Missing error says that the run lacks the data.
func (s *Single) Draw(p *Preset) (*chart.Chart, error) {
	if p.Y.Metric == "" {
		return nil, errors.New("y, the metric to draw, is missing")
	}
	c, err := singleTypes[p.Type](s, p)
	if err != nil {
		return nil, err
	}
	p.finish(c)
	return c, nil
}

// finish applies the settings that every chart of a preset has.
func (p *Preset) finish(c *chart.Chart) {
	c.Name, c.Description = p.Name, p.Description
	if c.Title == "" {
		c.Title = cmp.Or(p.Title, p.generated(c))
	}
	if p.XLabel != "" {
		c.X.Title = p.XLabel
	}
	if p.YLabel != "" {
		c.Y.Title = p.YLabel
	}
	if p.Autoscale == "x" || p.Autoscale == "both" {
		c.X.FromZero = false
	}
	if p.Autoscale == "y" || p.Autoscale == "both" {
		c.Y.FromZero = false
	}
	rescale(&c.X, p.XScale)
	rescale(&c.Y, p.YScale)
}

// rescale makes an axis linear or logarithmic; it does not change an axis of names. A logarithmic axis says so in its title and does not start at
// zero.
func rescale(a *chart.Axis, to chart.Scale) {
	if to == "" || a.Kind() == chart.Category || a.Kind() == to {
		return
	}
	a.Scale = to
	if to == chart.Log {
		a.Title += " (log)"
		a.FromZero, a.Fixed, a.Ticks = false, false, nil
	}
}

// line is a column of one run against another.
type line struct {
	x, y  []float64
	title string // title of y, with the unit
	step  bool   // y stays constant until the next x
	name  string
	hover []string
	more  []string // what each point represents
}

// points returns the values of a reference along an axis.
func (s *Single) points(x, y Ref) (*line, error) {
	switch y.Source {
	case "timeline":
		return s.secondsLine(y.Metric)
	case "gpu_telemetry":
		return s.gpuLine(y.Metric)
	case "server_metrics", "server_metrics_aggregated":
		list, err := s.serverLines(y.Metric)
		if err != nil {
			return nil, err
		}
		return merged(list), nil
	}
	if y.Metric == tokenRate || y.Metric == active {
		return s.eventLine(y.Metric)
	}
	if y.Metric == tokenPosition || x.Metric == tokenPosition {
		return s.positions()
	}
	return s.requestLine(x.Metric, y.Metric)
}

// column returns a column of the records.
func (s *Single) column(q *runfiles.Requests, name string) ([]float64, error) {
	since := func(at []int64, zero int64) []float64 {
		v := make([]float64, len(at))
		for i := range at {
			v[i] = float64(at[i]-zero) / 1e9
		}
		return v
	}
	switch name {
	case requestNumber, "":
		v := make([]float64, q.Len())
		for i := range v {
			v[i] = float64(i)
		}
		return v, nil
	case timestamp, timestampS:
		return since(q.End, slices.Min(q.End)), nil
	case startNS:
		return since(q.Start, slices.Min(q.Start)), nil
	case endNS:
		return since(q.End, slices.Min(q.Start)), nil
	}
	v, ok := q.Column(name)
	if !ok {
		return nil, &Missing{What: name}
	}
	return v, nil
}

// requestLine returns a column of the records against another, one point per record.
func (s *Single) requestLine(x, y string) (*line, error) {
	q, err := s.Run.Requests()
	if err != nil {
		return nil, err
	}
	l := &line{title: columnTitle(y), more: q.ID}
	if l.x, err = s.column(q, x); err != nil {
		return nil, err
	}
	l.y, err = s.column(q, y)
	return l, err
}

// warmups adds a note about warm-up records, which charts of all records include.
func (s *Single) warmups(c *chart.Chart) {
	q, err := s.Run.Requests()
	if err != nil {
		return
	}
	n := 0
	for _, w := range q.Warmup {
		if w {
			n++
		}
	}
	if n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %s belong to the warm-up.", n, terminal.Plural(q.Len(), "record")))
	}
}

// dots returns the trace of a column.
func (s *Single) dots(l *line) chart.Trace {
	return chart.Trace{Name: l.title, Kind: chart.Scatter, Mode: chart.Markers, X: l.x, Y: l.y, Key: l.more, Style: chart.Style{Color: s.Theme.Color(0), Size: 4, Opacity: 0.95}}
}

// scatter draws a dot for each record, or for each sample of a server metric.
func (s *Single) scatter(p *Preset) (*chart.Chart, error) {
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(p.X.Metric), FromZero: true}, Y: chart.Axis{FromZero: true}}
	if p.Y.Source == "server_metrics" {
		list, err := s.serverLines(p.Y.Metric)
		if err != nil {
			return nil, err
		}
		c.X.Title, c.Y.Title = columnTitle(timestampS), list[0].title
		for i, l := range list {
			t := s.dots(l)
			t.Name, t.Color, t.Size = l.name, s.Theme.Color(i), 6
			c.Traces = append(c.Traces, t)
		}
		return c, nil
	}
	l, err := s.points(p.X, p.Y)
	if err != nil {
		return nil, err
	}
	if p.Y.Source == "gpu_telemetry" {
		c.X.Title = columnTitle(timestampS)
	}
	c.Y.Title, c.Traces = l.title, []chart.Trace{s.dots(l)}
	if p.X.Metric == tokenPosition {
		c.Traces[0].Opacity = 0.35
	} else if p.Y.Source == "requests" {
		s.warmups(c)
	}
	return c, nil
}

// rolling draws the records with percentiles of the last ten.
func (s *Single) rolling(p *Preset) (*chart.Chart, error) {
	l, err := s.points(p.X, p.Y)
	if err != nil {
		return nil, err
	}
	l.sort()
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(p.X.Metric), FromZero: true}, Y: chart.Axis{Title: l.title, FromZero: true}}
	c.Traces = []chart.Trace{{
		Name: "Individual Requests", Kind: chart.Scatter, Mode: chart.Markers, X: l.x, Y: l.y, Key: l.more, Style: chart.Style{Color: chart.Gray, Size: 6, Opacity: 0.4},
	}}
	for i, one := range []struct {
		name  string
		level float64
		dash  string
	}{{"P50", 50, ""}, {"P95", 95, "dash"}, {"P99", 99, "dot"}} {
		c.Traces = append(c.Traces, chart.Trace{
			Name: one.name, Kind: chart.Scatter, Mode: chart.Lines, X: l.x, Y: rollingPercentile(l.y, min(10, len(l.y)), one.level),
			Style: chart.Style{Color: s.Theme.Color(i), Width: 2.5, Dash: one.dash},
		})
	}
	s.warmups(c)
	c.Notes = append(c.Notes, fmt.Sprintf("Lines: percentiles of the last %s. With such a small number, P99 and P95 are close to the maximum.", terminal.Plural(min(10, len(l.y)), "request")))
	return c, nil
}

// sort sorts the points by x; equal ones keep their order.
func (l *line) sort() {
	order := make([]int, len(l.x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l.x[a] < l.x[b]:
			return -1
		case l.x[a] > l.x[b]:
			return 1
		}
		return 0
	})
	pick := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i, k := range order {
			out[i] = v[k]
		}
		return out
	}
	l.x, l.y = pick(l.x), pick(l.y)
	if l.more != nil {
		more := make([]string, len(order))
		for i, k := range order {
			more[i] = l.more[k]
		}
		l.more = more
	}
}

// rollingPercentile returns, for each value, a percentile of the window that ends with it, ignoring missing values.
func rollingPercentile(v []float64, window int, level float64) []float64 {
	out := make([]float64, len(v))
	var have []float64
	for i := range v {
		have = have[:0]
		for _, one := range v[max(0, i-window+1) : i+1] {
			if !math.IsNaN(one) {
				have = append(have, one)
			}
		}
		slices.Sort(have)
		out[i] = stats.Percentile(have, level)
	}
	return out
}

// timeline draws a line for each request at the height of a metric: one part before the first token, and one after it.
func (s *Single) timeline(p *Preset) (*chart.Chart, error) {
	q, err := s.Run.Requests()
	if err != nil {
		return nil, err
	}
	ttft, ok := q.Column("time_to_first_token")
	if !ok {
		return nil, &Missing{What: "time_to_first_token"}
	}
	y, err := s.column(q, p.Y.Metric)
	if err != nil {
		return nil, err
	}
	var rows []int
	dropped := 0
	for i := range y {
		switch {
		case math.IsNaN(y[i]) || math.IsNaN(ttft[i]):
		case ttft[i]*1e6 > float64(q.End[i]-q.Start[i]):
			dropped++
		default:
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		switch {
		case y[a] < y[b]:
			return -1
		case y[a] > y[b]:
			return 1
		}
		return 0
	})
	c := &chart.Chart{X: chart.Axis{Title: "Time (seconds)", FromZero: true}, Y: chart.Axis{Title: columnTitle(p.Y.Metric)}}
	zero := slices.Min(q.Start)
	prefill, decode := chart.Style{Color: chart.Green, Width: 2}, chart.Style{Color: s.Theme.Color(1), Width: 2}
	shown := false
	for k, i := range rows {
		from, to := float64(q.Start[i]-zero)/1e9, float64(q.End[i]-zero)/1e9
		first := from + ttft[i]/1e3
		c.Traces = append(c.Traces, phase("Prefill Phase", k > 0, from, first, y[i], prefill, q.ID[i]))
		if to-first > 0.001 { // shorter lines would not be visible
			c.Traces = append(c.Traces, phase("Decode Phase", shown, first, to, y[i], decode, q.ID[i]))
			shown = true
		}
	}
	if dropped > 0 {
		c.Notes = append(c.Notes, "Skipped, because their time to first token is longer than their duration: "+terminal.Plural(dropped, "request")+".")
	}
	s.warmups(c)
	return c, nil
}

func phase(name string, unlisted bool, from, to, y float64, style chart.Style, key string) chart.Trace {
	return chart.Trace{Name: name, Unlisted: unlisted, Kind: chart.Scatter, Mode: chart.Lines, X: []float64{from, to}, Y: []float64{y, y}, Key: []string{key, key}, Style: style}
}

// area draws a filled curve.
func (s *Single) area(p *Preset) (*chart.Chart, error) {
	l, err := s.points(p.X, p.Y)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(timestampS), FromZero: true}, Y: chart.Axis{Title: l.title, FromZero: true}}
	style := chart.Style{Color: s.Theme.Color(0), Width: 2, Fill: chart.ToZero, Filling: 0.2}
	if l.step {
		style.Shape = "hv"
	}
	if p.Y.Source == "requests" && !l.step {
		c.X.Title = columnTitle(p.X.Metric)
	}
	c.Traces = []chart.Trace{{Name: l.title, Kind: chart.Scatter, Mode: chart.Lines, X: l.x, Y: l.y, Hover: l.hover, Style: style}}
	return c, nil
}

// since converts instants to seconds after the start of the first request.
func (s *Single) since(at []int64) ([]float64, error) {
	q, err := s.Run.Requests()
	if err != nil {
		return nil, err
	}
	zero := slices.Min(q.Start)
	v := make([]float64, len(at))
	for i := range at {
		v[i] = float64(at[i]-zero) / 1e9
	}
	return v, nil
}

// positions returns the time to each token except the first, against its position in the answer.
func (s *Single) positions() (*line, error) {
	q, err := s.Run.Requests()
	if err != nil {
		return nil, err
	}
	l := &line{title: "Token-to-Token Latency (ms)"}
	for i := range q.Len() {
		for k, gap := range q.Gaps(i) {
			l.x, l.y = append(l.x, float64(k+2)), append(l.y, gap)
		}
	}
	if l.x == nil {
		return nil, &Missing{What: "inter_chunk_latency"}
	}
	return l, nil
}

// metricByHeader returns the metric with a display name.
func metricByHeader(header string) *metric.Metric {
	for _, m := range metric.All() {
		if m.Header == header && !m.Hidden() {
			return m
		}
	}
	return nil
}
