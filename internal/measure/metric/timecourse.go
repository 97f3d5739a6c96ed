package metric

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// TimeCourse provides the course of a run over time and the distributions of its latencies, computed on demand. It keeps the columns of the requests
// in memory.
type TimeCourse struct {
	rows   *Reducer
	Window Window // window of the phase
}

// Course returns the time course of the rows so far. No row may be added while it is used.
func (r *Reducer) Course(window Window) *TimeCourse {
	if window.To <= window.From {
		window = r.Span()
	}
	return &TimeCourse{r, window}
}

// Bin is a span of time. Requests count where they ended; those in flight are a mean.
type Bin struct {
	Answered, Failed float64
	Tokens           float64 // output tokens
	TTFT             float64 // median, ns; NaN = no data
	InFlight         float64
}

// Bins splits the window into n bins of a number of seconds.
func (c *TimeCourse) Bins(seconds float64, n int) []Bin {
	r := c.rows
	out := make([]Bin, n)
	firsts := make([][]float64, n)
	step := seconds * 1e9
	class, start, end := r.class.Cursor(), r.start.Cursor(), r.end.Cursor()
	tokens, ttft := r.column("output_sequence_length").Cursor(), r.column("time_to_first_token").Cursor()
	for range r.rows {
		from := start.Next() + float64(r.base-c.Window.From)
		to := from + end.Next()
		osl, first := tokens.Next(), ttft.Next()
		valid := Class(class.Next()) == Valid
		occupy(out, from/step, to/step)
		i := int(math.Floor(to / step))
		if i < 0 || i >= n {
			continue
		}
		if !valid {
			out[i].Failed++
			continue
		}
		out[i].Answered++
		if osl > 0 {
			out[i].Tokens += osl
		}
		if first >= 0 {
			firsts[i] = append(firsts[i], first)
		}
	}
	for i := range out {
		slices.Sort(firsts[i])
		out[i].TTFT = stats.Percentile(firsts[i], 50)
	}
	return out
}

// occupy adds a request in flight between two positions, in bins.
func occupy(out []Bin, from, to float64) {
	from, to = max(from, 0), min(to, float64(len(out)))
	for i := int(from); float64(i) < to; i++ {
		out[i].InFlight += min(to, float64(i+1)) - max(from, float64(i))
	}
}

// Sketch returns the distribution of a metric in its display unit; nil = no values.
func (c *TimeCourse) Sketch(tag string) *stats.Sketch {
	var s stats.Sketch
	m, ok := Lookup(tag)
	if !ok {
		return nil
	}
	values := c.rows.column(tag).Cursor()
	factor := m.Factor()
	for range c.rows.rows {
		if v := values.Next(); v >= 0 {
			s.Add(v / factor)
		}
	}
	if s.Count == 0 {
		return nil
	}
	return &s
}
