package plots

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
)

// slices draws a dot for each time slice, and the average of the run.
func (s *Single) slices(p *Preset) (*chart.Chart, error) {
	if p.Y.Source == "server_metrics" || p.Y.Source == "server_metrics_aggregated" {
		return s.serverSlices(p)
	}
	all, err := s.Run.Slices()
	if err != nil {
		err = missing(err)
		if lack, ok := errors.AsType[*Missing](err); ok {
			lack.Fix = "record them with " + config.FlagOf("artifacts.slice_duration")
		}
		return nil, err
	}
	header := p.Y.Metric
	if m, ok := metric.Lookup(header); ok {
		header = m.Header // a tag is accepted too
	}
	unit, ok := all.Unit(header)
	stat := p.Y.Stat
	if stat == "" {
		stat = "avg"
	}
	at, values := all.Stat(header, stat)
	if !ok || len(at) == 0 {
		return nil, &Missing{What: "timeslices: " + header + " " + stat}
	}
	c := &chart.Chart{X: chart.Axis{Title: "Timeslice (s)", FromZero: true}, Y: chart.Axis{Title: title(header, unit), FromZero: true}}
	if stat != "avg" {
		c.Y.Title = title(header+" ("+stat+")", unit)
	}
	step := all.Seconds
	if !p.SliceTimes || step == 0 {
		step = 0
		c.X.Title = "Timeslice"
	}
	std := map[int]float64{}
	if where, v := all.Stat(header, "std"); stat == "avg" {
		for i, k := range where {
			std[k] = v[i]
		}
	}
	s.sliceTraces(c, sliced{header, unit, stat}, at, values, std, step)
	if strings.Contains(header, "Request Throughput") && s.uneven() {
		c.Notes = append(c.Notes, "Requests differ in input or output length, so requests per second is a poor measure of capacity here.")
	}
	return c, nil
}

// sliced is a statistic of a metric in time slices.
type sliced struct{ header, unit, stat string }

// word returns the statistic as legends have it.
func (m *sliced) word() string {
	if m.stat == "avg" {
		return "Average"
	}
	return strings.ToUpper(m.stat[:1]) + m.stat[1:]
}

// sliceTraces draws slices at their middles if their length is known, otherwise at their numbers.
func (s *Single) sliceTraces(c *chart.Chart, m sliced, at []int, values []float64, std map[int]float64, step float64) {
	place := func(k int) float64 {
		if step == 0 {
			return float64(k)
		}
		return (float64(k) + 0.5) * step
	}
	last := at[len(at)-1] + 1
	ends := []float64{-0.5, float64(last) - 0.5}
	if step > 0 {
		ends = []float64{0, float64(last) * step}
		c.X.Fixed, c.X.Min, c.X.Max = true, 0, ends[1]
		for _, k := range at {
			c.X.Ticks = append(c.X.Ticks, chart.Tick{At: place(k), Text: fmt.Sprintf("%s-%s", short(float64(k)*step), short(float64(k+1)*step))})
		}
	}
	mean, spread, ok := s.runStatistic(m.header, m.stat)
	if ok {
		if !math.IsNaN(spread) {
			c.Traces = append(c.Traces, chart.Trace{
				Name: withUnit(fmt.Sprintf("Run Std: %.2f", spread), m.unit), Kind: chart.Scatter, Mode: chart.Lines, X: []float64{ends[0], ends[1], ends[1], ends[0]},
				Y: []float64{mean + spread, mean + spread, mean - spread, mean - spread}, Style: chart.Style{Color: chart.Gray, Fill: chart.ToSelf, Filling: 0.18},
			})
		}
		c.Traces = append(c.Traces, chart.Trace{
			Name: withUnit(fmt.Sprintf("Run %s: %.2f", m.word(), mean), m.unit), Kind: chart.Scatter, Mode: chart.Lines, X: ends, Y: []float64{mean, mean},
			Style: chart.Style{Color: s.averageLine(), Width: 2},
		})
	}
	usual := chart.Trace{Name: "Timeslice " + m.word(), Kind: chart.Scatter, Mode: chart.Markers, Style: chart.Style{Color: s.Theme.Color(0), Size: 6}}
	odd := chart.Trace{Name: "Outliers", Kind: chart.Scatter, Mode: chart.Markers, Style: chart.Style{Color: chart.Red, Size: 9, Symbol: "diamond"}}
	for i, k := range at {
		t := &usual
		if ok && outlier(m.header, values[i], mean, spread+std[k]) {
			t = &odd
		}
		t.X, t.Y = append(t.X, place(k)), append(t.Y, values[i])
		if len(std) > 0 {
			half, has := std[k]
			if !has {
				half = math.NaN()
			}
			t.ErrorY = append(t.ErrorY, half)
		}
	}
	for _, t := range []*chart.Trace{&usual, &odd} {
		if t.X != nil {
			c.Traces = append(c.Traces, *t)
		}
	}
	if len(std) > 0 {
		c.Legend = append(c.Legend, chart.Entry{Name: "±1 Timeslice Std", Mode: chart.Lines, Style: chart.Style{Color: s.Theme.Color(0), Width: 3}})
	}
}

// averageLine returns the colour of the line of the run's average, which is visible in both themes.
func (s *Single) averageLine() string {
	if s.Theme.Name == "dark" {
		return s.Theme.Muted
	}
	return chart.Line
}

// outlier reports whether a slice is worse than the spreads of run and slice explain.
func outlier(header string, v, mean, spread float64) bool {
	if m := metricByHeader(header); m != nil && strings.Contains(m.Tag, "throughput") {
		return v < mean-spread
	}
	return v > mean+spread
}

// runStatistic returns a statistic of the run, and the spread of the run if the statistic is the average, NaN otherwise: only averages of slices are
// judged by it. Metrics with a single value, such as rates and counts, have none.
func (s *Single) runStatistic(header, stat string) (value, spread float64, ok bool) {
	m := metricByHeader(header)
	sum, err := s.Run.Summary()
	if m == nil || err != nil || strings.Contains(strings.ToLower(header), "total") {
		return 0, 0, false
	}
	value, has := sum.Stat(m.Tag, stat)
	spread, hasSpread := sum.Stat(m.Tag, "std")
	dist := hasSpread
	if !dist {
		_, dist = sum.Stat(m.Tag, "p50")
	}
	if !hasSpread || stat != "avg" {
		spread = math.NaN()
	}
	return value, spread, has && dist
}

// uneven reports whether the requests differ in input or output length.
func (s *Single) uneven() bool {
	q, err := s.Run.Requests()
	if err != nil {
		return false
	}
	for _, tag := range []string{"input_sequence_length", "output_sequence_length"} {
		v, _ := q.Column(tag)
		first := math.NaN()
		for _, one := range v {
			switch {
			case math.IsNaN(one):
			case math.IsNaN(first):
				first = one
			case one != first:
				return true
			}
		}
	}
	return false
}

// withUnit formats a number with its unit.
func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// short formats a number without unnecessary digits.
func short(v float64) string { return fmt.Sprintf("%.10g", math.Round(v*1e6)/1e6) }
