package plots

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// histogram draws a bar for each bucket of a server's histogram, or for each time slice.
func (s *Single) histogram(p *Preset) (*chart.Chart, error) {
	switch p.Y.Source {
	case "server_metrics", "server_metrics_aggregated":
		return s.buckets(p)
	case "timeslices":
		c, err := s.slices(p)
		if err != nil {
			return nil, err
		}
		for i := range c.Traces {
			if t := &c.Traces[i]; t.Mode == chart.Markers {
				t.Kind, t.Mode = chart.Bar, ""
			}
		}
		return c, nil
	}
	l, err := s.points(Ref{}, p.Y)
	if err != nil {
		return nil, err
	}
	edges, counts := binned(l.y)
	if counts == nil {
		return nil, &Missing{What: p.Y.Metric}
	}
	c := &chart.Chart{X: chart.Axis{Title: l.title}, Y: chart.Axis{Title: "Requests", FromZero: true}}
	t := chart.Trace{Name: "Requests", Kind: chart.Bar, Style: chart.Style{Color: s.Theme.Color(0), Opacity: 0.9}}
	for i, n := range counts {
		t.X, t.Y = append(t.X, (edges[i]+edges[i+1])/2), append(t.Y, n)
	}
	c.Traces = []chart.Trace{t}
	return c, nil
}

// binned counts values in bins of equal width. It uses the square root of their number, at most 60 bins, and fewer if integers lie close together.
func binned(values []float64) (edges, counts []float64) {
	var have []float64
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			have = append(have, v)
		}
	}
	if have == nil {
		return nil, nil
	}
	low, high := slices.Min(have), slices.Max(have)
	n := min(60, max(5, int(math.Ceil(math.Sqrt(float64(len(have)))))))
	switch whole := !slices.ContainsFunc(have, func(v float64) bool { return v != math.Trunc(v) }); {
	case whole: // integers: every bin holds as many of them as its neighbours
		width := math.Ceil((high - low + 1) / float64(n))
		n = int(math.Ceil((high - low + 1) / width))
		low -= 0.5
		high = low + float64(n)*width
	case low == high:
		low, high = low-0.5, high+0.5
	}
	counts = make([]float64, n)
	for _, v := range have {
		counts[min(n-1, int(float64(n)*(v-low)/(high-low)))]++
	}
	for i := range n + 1 {
		edges = append(edges, low+(high-low)*float64(i)/float64(n))
	}
	return edges, counts
}

// numbers returns the ticks if there are few bins with one integer each; otherwise nil.
func numbers(edges []float64) (list []chart.Tick) {
	if edges[1]-edges[0] != 1 || len(edges) > 20 {
		return nil
	}
	for _, low := range edges[:len(edges)-1] {
		list = append(list, chart.Tick{At: low + 0.5, Text: fmt.Sprintf("%.0f", low+0.5)})
	}
	return list
}

// buckets draws a bar for each bucket of a server's histogram.
func (s *Single) buckets(p *Preset) (*chart.Chart, error) {
	list, err := s.series(p.Y.Metric)
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	var edges []string
	for i := range list {
		for _, b := range list[i].Buckets {
			if _, ok := sums[b.Edge]; !ok {
				edges = append(edges, b.Edge)
			}
			sums[b.Edge] += b.Count
		}
	}
	if edges == nil {
		return nil, &Missing{What: "server_metrics " + p.Y.Metric + " with buckets"}
	}
	runfiles.SortEdges(edges)
	c := &chart.Chart{
		X: chart.Axis{Title: title(list[0].Metric, list[0].Unit), Scale: chart.Category, Labels: make([]string, len(edges))}, Y: chart.Axis{Title: "Observations", FromZero: true},
	}
	t := chart.Trace{Name: "Observations", Kind: chart.Bar, Style: chart.Style{Color: s.Theme.Color(0), Opacity: 0.9}}
	for i, e := range edges {
		c.X.Labels[i] = "≤ " + e
		if i == len(edges)-1 && i > 0 {
			c.X.Labels[i] = "> " + edges[i-1]
		}
		t.X, t.Y = append(t.X, float64(i)), append(t.Y, sums[e])
	}
	c.Traces = []chart.Trace{t}
	return c, nil
}

// bands draws the median of a server metric over time with its upper percentiles. For a gauge it draws the mean and the range.
func (s *Single) bands(p *Preset) (*chart.Chart, error) {
	list, err := s.series(p.Y.Metric)
	if err != nil {
		return nil, err
	}
	of := &list[0]
	for i := range list {
		if len(list[i].At) > len(of.At) {
			of = &list[i]
		}
	}
	if len(of.At) == 0 {
		return nil, &Missing{What: "server_metrics " + p.Y.Metric + " over time (time slices in server_metrics_export.json)"}
	}
	x, err := s.since(of.At)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(timestampS), FromZero: true}, Y: chart.Axis{Title: title(of.Metric, unitOf(of)), FromZero: true}}
	if len(list) > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("This plot shows one of %d series: %s.", len(list), of.Key()))
	}
	band := func(name string, low, high []float64, k int) {
		t := chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: s.Theme.Color(k), Fill: chart.ToSelf, Filling: 0.2}}
		t.X, t.Y = append(t.X, x...), append(t.Y, high...)
		for i := len(x) - 1; i >= 0; i-- {
			t.X, t.Y = append(t.X, x[i]), append(t.Y, low[i])
		}
		c.Traces = append(c.Traces, t)
	}
	middle, name := of.Value, "mean"
	switch {
	case of.P50 != nil:
		band("p95-p99 band", of.P95, of.P99, 2)
		band("p50-p95 band", of.P50, of.P95, 1)
		middle, name = of.P50, "p50 (median)"
	case of.Low != nil:
		band("min-max band", of.Low, of.High, 1)
	case of.Type == "counter":
		name = "rate"
	}
	c.Traces = append(c.Traces, chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: middle, Style: chart.Style{Color: s.Theme.Color(0), Width: 2.5}})
	return c, nil
}

// box draws the quartiles of a metric with every request next to them.
func (s *Single) box(p *Preset) (*chart.Chart, error) {
	l, err := s.points(Ref{}, p.Y)
	if err != nil {
		return nil, err
	}
	var have []float64
	dots := chart.Trace{Name: "Requests", Kind: chart.Scatter, Mode: chart.Markers, Style: chart.Style{Color: s.Theme.Color(0), Size: 5, Opacity: 0.55}}
	for _, v := range l.y {
		if math.IsNaN(v) {
			continue
		}
		// next to the box, spread by the golden ratio so that neighbours do not hide each other
		_, share := math.Modf(float64(len(have)) * 0.6180339887498949)
		dots.X, dots.Y = append(dots.X, -0.42+0.14*share), append(dots.Y, v)
		have = append(have, v)
	}
	if have == nil {
		return nil, &Missing{What: p.Y.Metric}
	}
	slices.Sort(have)
	q1, q2, q3 := stats.Percentile(have, 25), stats.Percentile(have, 50), stats.Percentile(have, 75)
	low, high := have[0], have[len(have)-1]
	for _, v := range have {
		if v >= q1-1.5*(q3-q1) {
			low = v
			break
		}
	}
	for i := len(have) - 1; i >= 0; i-- {
		if have[i] <= q3+1.5*(q3-q1) {
			high = have[i]
			break
		}
	}
	edge := chart.Style{Color: s.Theme.Color(0), Width: 2}
	shape := func(name string, style chart.Style, x, y []float64) chart.Trace {
		return chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: y, Style: style}
	}
	body := edge
	body.Fill, body.Filling = chart.ToSelf, 0.2
	median := edge
	median.Width, median.Color = 3, s.Theme.Color(1)
	c := &chart.Chart{
		X: chart.Axis{Title: s.Run.Name, Fixed: true, Min: -0.7, Max: 0.7, Ticks: []chart.Tick{}}, Y: chart.Axis{Title: l.title, FromZero: true},
		Traces: []chart.Trace{
			dots,
			shape("p25 to p75", body, []float64{-0.2, 0.2, 0.2, -0.2, -0.2}, []float64{q1, q1, q3, q3, q1}),
			shape("Median", median, []float64{-0.2, 0.2}, []float64{q2, q2}),
			shape("Whiskers: within 1.5 × the box", edge, []float64{-0.1, 0.1, 0, 0}, []float64{high, high, high, q3}),
			shape("", edge, []float64{-0.1, 0.1, 0, 0}, []float64{low, low, low, q1}),
		},
	}
	s.warmups(c)
	return c, nil
}

// heatmap counts requests in cells of two metrics.
func (s *Single) heatmap(p *Preset) (*chart.Chart, error) {
	l, err := s.points(p.X, p.Y)
	if err != nil {
		return nil, err
	}
	ex, _ := binned(l.x)
	ey, _ := binned(l.y)
	if ex == nil || ey == nil {
		return nil, &Missing{What: p.X.Metric}
	}
	w, h := ex[1]-ex[0], ey[1]-ey[0]
	counts := map[[2]int]float64{}
	for i := range l.x {
		if math.IsNaN(l.x[i]) || math.IsNaN(l.y[i]) {
			continue
		}
		counts[[2]int{min(len(ex)-2, int((l.x[i]-ex[0])/w)), min(len(ey)-2, int((l.y[i]-ey[0])/h))}]++
	}
	t := chart.Trace{Name: "Requests", Kind: chart.Scatter, Mode: chart.Markers, Cell: chart.Cell{Width: w, Height: h}, Style: chart.Style{Color: s.Theme.Color(0), Symbol: "square"}}
	most := 0.0
	for _, n := range counts {
		most = max(most, n)
	}
	for i := range len(ex) - 1 {
		for k := range len(ey) - 1 {
			if n := counts[[2]int{i, k}]; n > 0 {
				t.X, t.Y, t.Shade = append(t.X, ex[i]+w/2), append(t.Y, ey[k]+h/2), append(t.Shade, n/most)
				t.Hover = append(t.Hover, fmt.Sprintf("%.0f requests", n))
				if len(counts) <= 100 {
					t.Text = append(t.Text, fmt.Sprintf("%.0f", n))
				}
			}
		}
	}
	c := &chart.Chart{X: chart.Axis{Title: columnTitle(p.X.Metric), Ticks: numbers(ex)}, Y: chart.Axis{Title: l.title, Ticks: numbers(ey)}, Traces: []chart.Trace{t}}
	c.Notes = append(c.Notes, fmt.Sprintf("The darkest cell holds %.0f requests.", most))
	if s.Theme.Name == "dark" {
		c.Notes[0] = fmt.Sprintf("The brightest cell holds %.0f requests.", most)
	}
	s.warmups(c)
	return c, nil
}
