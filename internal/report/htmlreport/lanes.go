package htmlreport

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// Names of colours of the page, which defines values for its light and its dark theme.
const (
	hueP50     = "var:p50"
	hueP90     = "var:p90"
	hueP99     = "var:p99"
	hueDot     = "var:dot"
	huePrefill = "var:prefill"
	hueDecode  = "var:decode"
	hueFail    = "var:fail"
	hueMuted   = "var:mute"
	hueWarmup  = "var:warmup"
	huePhase   = "var:phase"
	hueSlow    = "var:slow"
)

// spellSetting spells a setting as on the command line.
var spellSetting = config.FlagOf

// clock divides the time of a run into slices of a round length.
type clock struct {
	zero    int64 // first request: wall clock, ns
	seconds float64
	step    float64
	n       int
}

// steps lists the possible lengths of slices, in s.
var steps = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 86400}

// newClock picks the finest slicing with at most 64 slices, and with on average twelve requests a slice or at most eight slices.
func newClock(q *runfiles.Requests) clock {
	c := clock{zero: slices.Min(q.Start)}
	c.seconds = max(float64(slices.Max(q.End)-c.zero)/1e9, 1e-3)
	for _, s := range steps {
		c.step = s
		if c.seconds/s <= 64 && (float64(q.Len())*s/c.seconds >= 12 || s >= c.seconds/8) {
			break
		}
	}
	c.n = max(1, int(math.Round(c.seconds/c.step))) // a short rest is merged into the last slice
	return c
}

func (c *clock) at(ns int64) float64 { return float64(ns-c.zero) / 1e9 }

// slice returns the number of the slice that contains an instant in s; width returns the actual length of a slice.
func (c *clock) slice(t float64) int { return min(max(int(t/c.step), 0), c.n-1) }

func (c *clock) width(i int) float64 {
	if i == c.n-1 {
		return c.seconds - float64(i)*c.step
	}
	return c.step
}

// middles returns the middles of the slices.
func (c *clock) middles() []float64 {
	x := make([]float64, c.n)
	for i := range x {
		x[i] = float64(i)*c.step + c.width(i)/2
	}
	return x
}

// stairs returns a rate per slice as a step line from the start to the end.
func (c *clock) stairs(v []float64) (x, y []float64) {
	for i := range v {
		x, y = append(x, float64(i)*c.step), append(y, v[i])
	}
	return append(x, c.seconds), append(y, v[len(v)-1])
}

// axis returns the x axis of all lanes.
func (c *clock) axis() chart.Axis {
	return chart.Axis{Title: "Time (s)", Fixed: true, Max: c.seconds, Clock: true}
}

// lane draws a metric of the requests over time: a dot for each, and the 50th, 90th and 99th percentile of the slices by start.
func (c *clock) lane(q *runfiles.Requests, rows []int, tag, name string) *chart.Chart {
	v, ok := q.Column(tag)
	m, known := metric.Lookup(tag)
	if !ok || !known {
		return nil
	}
	unit := m.Display
	dots := chart.Trace{Name: "request", Kind: chart.Scatter, Mode: chart.Markers, Style: chart.Style{Color: hueDot, Size: 3, Opacity: 0.5}}
	in := make([][]float64, c.n)
	lowest, highest := math.Inf(1), 0.0
	for i := range v {
		if !math.IsNaN(v[i]) && !q.Warmup[i] && q.Failure[i] == "" {
			k := c.slice(c.at(q.Start[i]))
			in[k] = append(in[k], v[i])
			lowest, highest = min(lowest, v[i]), max(highest, v[i])
		}
	}
	for _, i := range rows {
		if !math.IsNaN(v[i]) && q.Failure[i] == "" {
			dots.X, dots.Y = append(dots.X, c.at(q.Start[i])), append(dots.Y, v[i])
		}
	}
	if highest == 0 {
		return nil
	}
	every := slices.Concat(in...)
	slices.Sort(every)
	p50, p90, p99 := make([]float64, c.n), make([]float64, c.n), make([]float64, c.n)
	for k := range in {
		slices.Sort(in[k])
		p50[k], p90[k], p99[k] = stats.Percentile(in[k], 50), math.NaN(), math.NaN()
		if len(in[k]) >= stats.FewestForP90 {
			p90[k] = stats.Percentile(in[k], 90)
		}
		if len(in[k]) >= stats.FewestForP99 {
			p99[k] = stats.Percentile(in[k], 99)
		}
	}
	ch := &chart.Chart{Name: tag, Title: name, X: c.axis(), Y: chart.Axis{Title: unit, FromZero: true}}
	if lowest > 0 && highest/lowest > 20 {
		ch.Y.Scale, ch.Y.Title, ch.Y.FromZero = chart.Log, unit+" (log)", false
	}
	ch.Notes = clip(&ch.Y, every, unit)
	ch.Traces = withValues(
		dots,
		chart.Trace{Name: "p50", Kind: chart.Scatter, Mode: chart.Lines, X: c.middles(), Y: p50, Style: chart.Style{Color: hueP50, Width: 2}},
		chart.Trace{Name: "p90", Kind: chart.Scatter, Mode: chart.Lines, X: c.middles(), Y: p90, Style: chart.Style{Color: hueP90, Width: 2, Dash: "dash"}},
		chart.Trace{Name: "p99", Kind: chart.Scatter, Mode: chart.Lines, X: c.middles(), Y: p99, Style: chart.Style{Color: hueP99, Width: 2, Dash: "dot"}},
	)
	return ch
}

// withValues returns the traces that have a value, so that the legend lists only these.
func withValues(all ...chart.Trace) []chart.Trace {
	return slices.DeleteFunc(all, func(t chart.Trace) bool {
		return !slices.ContainsFunc(t.Y, func(v float64) bool { return !math.IsNaN(v) })
	})
}

// flow draws the lanes of rates: tokens, requests in flight, requests sent and failed. The tokens of an answer are divided equally among its messages
// and counted when these arrived. Without recorded gaps they are spread evenly from the first token to the end.
func (c *clock) flow(q *runfiles.Requests, asked float64) []*chart.Chart {
	tokens, flying, before, sent, failed := make([]float64, c.n), make([]float64, c.n), make([]float64, c.n), make([]float64, c.n), chart.Trace{}
	osl, _ := q.Column("output_sequence_length")
	ttft, _ := q.Column("time_to_first_token")
	spread := func(into []float64, a, b, amount float64) { // adds amount per second between a and b
		for k := c.slice(a); k <= c.slice(b) && k < c.n; k++ {
			from, to := float64(k)*c.step, float64(k)*c.step+c.width(k)
			into[k] += amount * max(0, min(b, to)-max(a, from)) / c.width(k)
		}
	}
	put := func(at, amount float64) { tokens[c.slice(at)] += amount / c.width(c.slice(at)) }
	for i := range q.Len() {
		a, b := c.at(q.Start[i]), c.at(q.End[i])
		sent[c.slice(a)] += 1 / c.width(c.slice(a))
		spread(flying, a, b, 1)
		first := b
		if ttft != nil && !math.IsNaN(ttft[i]) {
			first = min(b, a+ttft[i]/1e3)
		}
		spread(before, a, first, 1)
		switch {
		case q.Failure[i] != "":
			failed.X, failed.Y = append(failed.X, b), append(failed.Y, 0)
		case osl == nil || math.IsNaN(osl[i]):
		case len(q.Gaps(i)) > 0:
			each := osl[i] / float64(len(q.Gaps(i))+1)
			put(first, each)
			for at, k := first, 0; k < len(q.Gaps(i)); k++ {
				at += q.Gaps(i)[k] / 1e3
				put(at, each)
			}
		case first < b: // the times in between are unknown, so the tokens are spread evenly
			spread(tokens, first, b, osl[i]/(b-first))
		default:
			put(b, osl[i])
		}
	}
	var list []*chart.Chart
	area := func(name, hue string, v []float64) chart.Trace {
		x, y := c.stairs(v)
		return chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: y, Style: chart.Style{Color: hue, Width: 1.5, Shape: "hv", Fill: chart.ToZero, Filling: 0.35}}
	}
	if osl != nil {
		list = append(list, &chart.Chart{Name: "tokens", Title: "Output", X: c.axis(), Y: chart.Axis{Title: "tokens/s", FromZero: true}, Traces: []chart.Trace{area("tokens/s", hueDecode, tokens)}})
	}
	inFlight := &chart.Chart{Name: "flight", Title: "Requests in flight", X: c.axis(), Y: chart.Axis{Title: "requests", FromZero: true}, Traces: []chart.Trace{area("in flight, mean", hueDecode, flying)}}
	if ttft != nil {
		inFlight.Traces = append(inFlight.Traces, area("of these before the first token", huePrefill, before))
	}
	x, y := c.stairs(c.peaks(q))
	inFlight.Traces = append(inFlight.Traces, chart.Trace{Name: "most at once", Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: y, Style: chart.Style{Color: hueMuted, Width: 1.5, Shape: "hv", Dash: "dot"}})
	x, y = c.stairs(sent)
	rates := &chart.Chart{Name: "sent", Title: "Requests sent", X: c.axis(), Y: chart.Axis{Title: "requests/s", FromZero: true}, Traces: []chart.Trace{
		{Name: "sent", Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: y, Style: chart.Style{Color: hueP50, Width: 2, Shape: "hv"}},
	}}
	if asked > 0 {
		rates.Traces = append(rates.Traces, chart.Trace{Name: "asked", Kind: chart.Scatter, Mode: chart.Lines, X: []float64{0, c.seconds}, Y: []float64{asked, asked}, Style: chart.Style{Color: hueMuted, Width: 1.5, Dash: "dot"}})
	}
	if failed.X != nil {
		failed.Name, failed.Kind, failed.Mode, failed.Style = "failed request", chart.Scatter, chart.Markers, chart.Style{Color: hueFail, Size: 9, Symbol: "cross"}
		rates.Traces = append(rates.Traces, failed)
	}
	return append(list, inFlight, rates)
}

// peaks returns the largest number of requests in flight in each slice: the mean of a slice hides short peaks.
func (c *clock) peaks(q *runfiles.Requests) []float64 {
	starts, ends := slices.Clone(q.Start), slices.Clone(q.End)
	for i := range ends { // requests without a duration count too
		ends[i] = max(ends[i], starts[i]+1)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	most, flying, begun, ended := make([]float64, c.n), 0, 0, 0
	for k := range most {
		most[k] = float64(flying) // requests from the previous slice
		for begun < len(starts) && (k == c.n-1 || c.slice(c.at(starts[begun])) <= k) {
			for ends[ended] <= starts[begun] {
				ended, flying = ended+1, flying-1
			}
			begun, flying = begun+1, flying+1
			most[k] = max(most[k], float64(flying))
		}
		for ended < begun && c.slice(c.at(ends[ended])) <= k {
			ended, flying = ended+1, flying-1
		}
	}
	return most
}

// line draws a figure over the time of the run; nil if it has no values.
func (c *clock) line(at []int64, v []float64, name, unit string) *chart.Chart {
	t := chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: hueDecode, Width: 1.8}}
	for i := range at {
		if x := c.at(at[i]); x >= 0 && x <= c.seconds {
			t.X, t.Y = append(t.X, x), append(t.Y, v[i])
		}
	}
	if len(t.X) < 2 {
		return nil
	}
	return &chart.Chart{Name: "telemetry", Title: name, X: c.axis(), Y: chart.Axis{Title: unit, FromZero: true}, Traces: []chart.Trace{t}}
}

// shape draws the distribution of a metric on a logarithmic axis, with the percentiles of the summary.
func shape(q *runfiles.Requests, s *runfiles.Summary, tag, name string) *chart.Chart {
	v, _ := q.Column(tag)
	var have []float64
	for i := range v {
		if v[i] > 0 && !q.Warmup[i] && q.Failure[i] == "" {
			have = append(have, v[i])
		}
	}
	if len(have) < 2 {
		return nil
	}
	slices.Sort(have)
	unit := "ms"
	if f := s.Figures[tag]; f != nil {
		unit = f.Unit
	}
	ch := &chart.Chart{Name: "shape_" + tag, Title: name, X: chart.Axis{Title: unit + " (log)", Scale: chart.Log}, Y: chart.Axis{Title: "requests", FromZero: true}}
	most := len(have)
	if ch.Notes = clip(&ch.X, have, unit); ch.Notes != nil {
		most, _ = slices.BinarySearch(have, ch.X.Max)
	}
	low, high := math.Log10(have[0]), math.Log10(have[most-1])
	if high-low < 0.01 {
		low, high = low-0.05, high+0.05
	}
	n := min(80, max(8, int(2*math.Cbrt(float64(len(have)))*2)))
	width := (high - low) / float64(n)
	counts := make([]float64, n)
	for _, one := range have[:most] {
		counts[min(n-1, int((math.Log10(one)-low)/width))]++
	}
	bars := chart.Trace{Name: "requests", Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: hueDot, Width: 1, Shape: "hv", Fill: chart.ToZero, Filling: 0.45}}
	top := slices.Max(counts)
	for i, k := range counts {
		bars.X, bars.Y = append(bars.X, math.Pow(10, low+float64(i)*width)), append(bars.Y, k)
	}
	bars.X, bars.Y = append(bars.X, math.Pow(10, high)), append(bars.Y, counts[n-1])
	ch.Traces = []chart.Trace{bars}
	for _, p := range []struct {
		stat, hue, dash string
		fewest          int
	}{{"p50", hueP50, "", 1}, {"p90", hueP90, "dash", stats.FewestForP90}, {"p99", hueP99, "dot", stats.FewestForP99}} {
		if at, ok := s.Stat(tag, p.stat); ok && len(have) >= p.fewest && at > 0 {
			ch.Traces = append(ch.Traces, chart.Trace{Name: p.stat + " " + figure(at) + " " + unit, Kind: chart.Scatter, Mode: chart.Lines, X: []float64{at, at}, Y: []float64{0, top * 1.05}, Style: chart.Style{Color: p.hue, Width: 2, Dash: p.dash}})
		}
	}
	return ch
}

// positions draws the time to a token against its position in the answer. Many positions are grouped; groups with fewer than twenty gaps are omitted.
func positions(q *runfiles.Requests) *chart.Chart {
	longest := 0
	for i := range q.Len() {
		if !q.Warmup[i] {
			longest = max(longest, len(q.Gaps(i)))
		}
	}
	var x, p10, p50, p90, p99 []float64
	for k := 0; k < longest; {
		w := 1
		switch {
		case k >= 256:
			w = 32
		case k >= 64:
			w = 8
		case k >= 8:
			w = 4
		}
		var v []float64
		for i := range q.Len() {
			if g := q.Gaps(i); !q.Warmup[i] && len(g) > k {
				v = append(v, g[k:min(k+w, len(g))]...)
			}
		}
		if len(v) < 20 {
			break
		}
		slices.Sort(v)
		last := math.NaN()
		if len(v) >= stats.FewestForP99 {
			last = stats.Percentile(v, 99)
		}
		x = append(x, float64(k)+float64(min(w, longest-k)-1)/2+2)
		p10, p50, p90, p99 = append(p10, stats.Percentile(v, 10)), append(p50, stats.Percentile(v, 50)), append(p90, stats.Percentile(v, 90)), append(p99, last)
		k += w
	}
	if len(x) < 2 {
		return nil
	}
	band := chart.Trace{Name: "p10 to p90", Kind: chart.Scatter, Mode: chart.Lines, X: slices.Clone(x), Y: slices.Clone(p90), Style: chart.Style{Color: hueP50, Fill: chart.ToSelf, Filling: 0.18}}
	for i := len(x) - 1; i >= 0; i-- {
		band.X, band.Y = append(band.X, x[i]), append(band.Y, p10[i])
	}
	line := func(name, hue, dash string, y []float64) chart.Trace {
		return chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: y, Style: chart.Style{Color: hue, Width: 2, Dash: dash}}
	}
	return &chart.Chart{Name: "positions", Title: "Time to a token by its place in the answer", X: chart.Axis{Title: "place of the token (log)", Scale: chart.Log}, Y: chart.Axis{Title: "ms", FromZero: true}, Traces: withValues(
		band, line("p50", hueP50, "", p50), line("p99", hueP99, "dot", p99),
	)}
}

// askedRate returns the configured request rate per second; 0 = none.
func askedRate(s *runfiles.Summary) float64 {
	v, err := strconv.ParseFloat(s.Phase("rate"), 64)
	if err != nil {
		return 0
	}
	return v
}

// seconds formats a duration in seconds for people.
func seconds(v float64) string {
	if v >= 120 {
		return fmt.Sprintf("%d min %.0f s", int(v)/60, math.Mod(v, 60))
	}
	return figure(v) + " s"
}
