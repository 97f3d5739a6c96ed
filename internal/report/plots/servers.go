package plots

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// filter is a reference to a server metric: name[endpoint_url]{label=value,label2="v"}; everything but the name is optional.
type filter struct {
	name, url string
	labels    map[string]string
}

// parseFilter reads such a reference.
func parseFilter(text string) (*filter, error) {
	f := &filter{name: text, labels: map[string]string{}}
	if at := strings.IndexByte(f.name, '{'); at >= 0 {
		inner, ok := strings.CutSuffix(f.name[at+1:], "}")
		if !ok {
			return nil, fmt.Errorf("%s: the closing } is missing", text)
		}
		f.name = f.name[:at]
		for pair := range strings.SplitSeq(inner, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, fmt.Errorf("%s: %q must be label=value", text, pair)
			}
			f.labels[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	if at := strings.IndexByte(f.name, '['); at >= 0 {
		url, ok := strings.CutSuffix(f.name[at+1:], "]")
		if !ok {
			return nil, fmt.Errorf("%s: the closing ] is missing", text)
		}
		f.url, f.name = url, f.name[:at]
	}
	if strings.ContainsAny(f.name, "[]{}") {
		return nil, fmt.Errorf("%s: brackets do not match; write name[endpoint_url]{label=value}", text)
	}
	return f, nil
}

// fits reports whether the filter matches a series.
func (f *filter) fits(s *runfiles.Series) bool {
	if s.Metric != f.name && s.Metric+"_total" != f.name || f.url != "" && f.url != s.URL {
		return false
	}
	for name, value := range f.labels {
		if s.Labels[name] != value {
			return false
		}
	}
	return true
}

// series returns the series that match a reference.
func (s *Single) series(text string) ([]runfiles.Series, error) {
	f, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	all, err := s.Run.Servers()
	if err != nil {
		return nil, missing(err)
	}
	var list []runfiles.Series
	for _, one := range all {
		if f.fits(&one) {
			list = append(list, one)
		}
	}
	if list == nil {
		return nil, &Missing{What: "server_metrics " + text}
	}
	return list, nil
}

// serverLines returns the matching series over time, thinned out, with distinct names.
func (s *Single) serverLines(text string) ([]*line, error) {
	list, err := s.series(text)
	if err != nil {
		return nil, err
	}
	names := distinct(list)
	var out []*line
	for i := range list {
		one := &list[i]
		if len(one.At) == 0 {
			continue
		}
		l := &line{y: one.Value, title: title(one.Metric, unitOf(one)), name: names[i]}
		if len(list) == 1 {
			l.name = l.title
		}
		if l.x, err = s.since(one.At); err != nil {
			return nil, err
		}
		if one.Low == nil && one.P50 == nil { // slices have few points already
			s.Sampling.thin(l)
		}
		out = append(out, l)
	}
	if out == nil {
		return nil, &Missing{What: "server_metrics " + text + " over time (server_metrics_export.jsonl, or time slices in server_metrics_export.json)"}
	}
	return out, nil
}

// unitOf returns the unit of the drawn values: for a counter, that of its rate.
func unitOf(s *runfiles.Series) string {
	if s.Type == "counter" {
		if s.Unit == "" {
			return "1/s"
		}
		return s.Unit + "/s"
	}
	return s.Unit
}

// distinct names series by the labels in which they differ, and by the server if there are several.
func distinct(list []runfiles.Series) []string {
	values := map[string]map[string]bool{}
	note := func(key, v string) {
		if values[key] == nil {
			values[key] = map[string]bool{}
		}
		values[key][v] = true
	}
	keys := map[string]bool{}
	for i := range list {
		for name := range list[i].Labels {
			keys[name] = true
		}
	}
	for i := range list {
		note("", list[i].URL)
		for name := range keys {
			note(name, list[i].Labels[name])
		}
	}
	var names []string
	for i := range list {
		var parts []string
		if len(values[""]) > 1 {
			parts = append(parts, list[i].URL)
		}
		for _, name := range sorted(keys) {
			if len(values[name]) > 1 {
				parts = append(parts, name+"="+list[i].Labels[name])
			}
		}
		if parts == nil {
			parts = []string{list[i].Metric}
		}
		names = append(names, strings.Join(parts, ", "))
	}
	return names
}

func sorted(set map[string]bool) []string {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// merged returns the mean of several lines at each instant.
func merged(list []*line) *line {
	if len(list) == 1 {
		return list[0]
	}
	at := map[float64][]float64{}
	for _, l := range list {
		for i := range l.x {
			at[l.x[i]] = append(at[l.x[i]], l.y[i])
		}
	}
	out := &line{title: list[0].title, name: list[0].title}
	for x := range at {
		out.x = append(out.x, x)
	}
	slices.Sort(out.x)
	for _, x := range out.x {
		out.y = append(out.y, stats.Mean(at[x]))
	}
	return out
}

// thin replaces each window of points by one point, at the mean of their times.
func (m Sampling) thin(l *line) {
	if !m.Enabled || len(l.x) == 0 {
		return
	}
	var x, y []float64
	for i := 0; i < len(l.x); {
		window := math.Floor(l.x[i] / m.Seconds)
		j := i
		for j < len(l.x) && math.Floor(l.x[j]/m.Seconds) == window {
			j++
		}
		values := slices.Sorted(slices.Values(l.y[i:j]))
		v := stats.Mean(values)
		switch m.Method {
		case "max":
			v = values[len(values)-1]
		case "min":
			v = values[0]
		case "median":
			v = stats.Percentile(values, 50)
		}
		x, y, i = append(x, stats.Mean(l.x[i:j])), append(y, v), j
	}
	l.x, l.y = x, y
}

// serverSlices draws a server metric over time and its average over the run.
func (s *Single) serverSlices(p *Preset) (*chart.Chart, error) {
	list, err := s.serverLines(p.Y.Metric)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(timestampS), FromZero: true}, Y: chart.Axis{Title: list[0].title, FromZero: true}}
	if all, err := s.series(p.Y.Metric); err == nil && len(list) == 1 {
		mean, ok := all[0].Stats["avg"]
		if spread, std := all[0].Stats["std"]; ok && all[0].Type != "counter" {
			ends := []float64{list[0].x[0], list[0].x[len(list[0].x)-1]}
			if std {
				c.Traces = append(c.Traces, chart.Trace{
					Name: withUnit(fmt.Sprintf("Run Std: %.2f", spread), all[0].Unit), Kind: chart.Scatter, Mode: chart.Lines, X: []float64{ends[0], ends[1], ends[1], ends[0]},
					Y: []float64{mean + spread, mean + spread, mean - spread, mean - spread}, Style: chart.Style{Color: chart.Gray, Fill: chart.ToSelf, Filling: 0.18},
				})
			}
			c.Traces = append(c.Traces, chart.Trace{
				Name: withUnit(fmt.Sprintf("Run Average: %.2f", mean), all[0].Unit), Kind: chart.Scatter, Mode: chart.Lines, X: ends, Y: []float64{mean, mean},
				Style: chart.Style{Color: s.averageLine(), Width: 2},
			})
		}
	}
	for i, l := range list {
		c.Traces = append(c.Traces, chart.Trace{
			Name: l.name, Kind: chart.Scatter, Mode: chart.LinesMarkers, X: l.x, Y: l.y, Style: chart.Style{Color: s.Theme.Color(i), Width: 2, Size: 6, Symbol: chart.Symbols[i%len(chart.Symbols)]},
		})
	}
	return c, nil
}
