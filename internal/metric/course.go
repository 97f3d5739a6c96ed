package metric

import (
	"math"
	"slices"

	"aiperf/internal/stats"
)

// Course is how a run went over time and what its latencies look like, read from its requests when somebody asks. It keeps the requests'
// columns alive.
type Course struct {
	rows   *Reducer
	Window Window // of the phase
}

// Course is that of the rows so far. No row may be added while it is used.
func (r *Reducer) Course(window Window) *Course {
	if window.To <= window.From {
		window = r.Span()
	}
	return &Course{r, window}
}

// Bin is a stretch of time. Requests count where they ended, those in flight on average.
type Bin struct {
	Answered, Failed float64
	Tokens           float64 // of the answers
	TTFT             float64 // median, ns; NaN = nothing
	InFlight         float64
}

// Bins cuts the window into n bins of so many seconds from its beginning on.
func (c *Course) Bins(seconds float64, n int) []Bin {
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

// occupy adds a request that was in flight from one place to another, in bins.
func occupy(out []Bin, from, to float64) {
	from, to = max(from, 0), min(to, float64(len(out)))
	for i := int(from); float64(i) < to; i++ {
		out[i].InFlight += min(to, float64(i+1)) - max(from, float64(i))
	}
}

// Sketch is the distribution of a metric in its display unit; nil = it has no values.
func (c *Course) Sketch(tag string) *stats.Sketch {
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
