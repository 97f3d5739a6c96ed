package htmlreport

import (
	"fmt"
	"math"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/termdraw"
)

// Rows of a heat map, and the smallest number of requests of one: fewer are seen better as dots.
const (
	heatRows   = 24
	heatFewest = 200
)

// heat draws how many requests of each slice had which latency, on a logarithmic axis; nil if the run has too few.
func (c *clock) heat(q *runfiles.Requests, tag, name string) *chart.Chart {
	v, ok := q.Column(tag)
	m, known := metric.Lookup(tag)
	if !ok || !known {
		return nil
	}
	low, high, n := math.Inf(1), math.Inf(-1), 0
	measured := func(i int) bool { return v[i] > 0 && !q.Warmup[i] && q.Failure[i] == "" }
	for i := range v {
		if measured(i) {
			low, high, n = min(low, math.Log10(v[i])), max(high, math.Log10(v[i])), n+1
		}
	}
	if n < heatFewest || high-low < 1e-3 {
		return nil
	}
	tall := (high - low) / heatRows
	cells, most := make([][heatRows]int, c.n), 0
	for i := range v {
		if measured(i) {
			k, row := c.slice(c.at(q.Start[i])), min(heatRows-1, int((math.Log10(v[i])-low)/tall))
			cells[k][row]++
			most = max(most, cells[k][row])
		}
	}
	t := chart.Trace{Name: "requests", Unlisted: true, Kind: chart.Scatter, Mode: chart.Markers, Cell: chart.Cell{Width: c.step, Height: tall}, Style: chart.Style{Color: hueDot}}
	middles := c.middles()
	for k := range cells {
		for row, count := range cells[k] {
			if count == 0 {
				continue
			}
			from := low + float64(row)*tall
			t.X, t.Y = append(t.X, middles[k]), append(t.Y, from+tall/2)
			t.Shade = append(t.Shade, math.Log1p(float64(count))/math.Log1p(float64(most)))
			t.Hover = append(t.Hover, fmt.Sprintf("%d of %s to %s %s", count, figure(math.Pow(10, from)), figure(math.Pow(10, from+tall)), m.Display))
		}
	}
	return &chart.Chart{Name: "heat_" + tag, Title: name, X: c.axis(), Y: chart.Axis{Title: m.Display + " (log)", Fixed: true, Min: low, Max: high, Ticks: logTicks(low, high)},
		Traces: []chart.Trace{t}, Notes: []string{fmt.Sprintf("Each cell is a slice of %s and a range of latencies; the darkest has %s requests.", seconds(c.step), count(most))}}
}

// logTicks returns ticks for an axis of decimal logarithms: round values, about six at most.
func logTicks(low, high float64) (list []chart.Tick) {
	for _, digits := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		list = nil
		for e := math.Floor(low); e <= high; e++ {
			for _, d := range digits {
				if at := e + math.Log10(d); at >= low && at <= high {
					list = append(list, chart.Tick{At: at, Text: termdraw.Round(d * math.Pow(10, e))})
				}
			}
		}
		if len(list) <= 6 {
			break
		}
	}
	if len(list) < 2 { // a narrow axis has its ends
		return []chart.Tick{{At: low, Text: termdraw.Round(math.Pow(10, low))}, {At: high, Text: termdraw.Round(math.Pow(10, high))}}
	}
	return list
}
