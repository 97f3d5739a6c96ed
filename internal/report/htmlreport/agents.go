package htmlreport

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/workload/dataset/agentic"
)

// File names of the pages of a dataset of coding agents, which link to each other.
const (
	AgentsReportFile     = "report.html"
	AgentsCacheFile      = "cache_explorer.html"
	AgentsSimulationFile = "simulation.html"
)

// shownSessions is the number of sessions with their own line in a chart.
const shownSessions = 10

// agentsPage starts a page of a dataset.
func agentsPage(m *agentic.Made, title, version string) *builder {
	b := &builder{}
	b.Title, b.Eyebrow = title, "Generated trace of coding agents"
	b.Facts = []string{terminal.Plural(len(m.Sessions), "session"), terminal.Plural(agentic.Requests(m.Sessions), "turn"), fmt.Sprintf("blocks of %d tokens", m.BlockSize), "configuration " + m.Name, fmt.Sprintf("seed %d", m.Seed)}
	b.Foot = "Made by aiperf " + version + " from the sessions of dataset.jsonl"
	return b
}

// otherPages returns links to the other pages.
func otherPages(list ...[2]string) node {
	links := node("")
	for _, one := range list {
		links += el("li", nil, el("a", attrs{"href", one[0]}, text(one[1])))
	}
	return el("ul", attrs{"class", "beside no-print"}, links)
}

// Agents returns the report of a dataset: its distributions compared with the requested ones, and how much of it a prefix cache would hold.
func Agents(m *agentic.Made, version string) ([]byte, error) {
	b := agentsPage(m, "Sessions of coding agents", version)
	f, q := agentic.FiguresOf(m.Config, m.Sessions), agentic.Judge(m.Config, m.Sessions)
	b.agentCards(f)
	b.Sections = append(b.Sections, section{
		ID: "targets", Title: "Targets and results", Tables: []*table{configTable(m, q), ends(q)},
		Own: otherPages([2]string{AgentsCacheFile, "Layers of the prompts"}, [2]string{AgentsSimulationFile, "Simulate a cache"}),
	})
	for _, part := range []struct {
		section
		list []*chart.Chart
	}{
		{section{ID: "lengths", Title: "Lengths", Lead: "The input of a turn is the part that its row adds: first the whole prompt, then the new tokens."}, []*chart.Chart{
			histogram("isl", "Input of a turn", "tokens", f.Added), histogram("prompt", "Whole prompt of a turn", "tokens", f.Prompt), histogram("osl", "Output of a turn", "tokens", f.Output),
			histogram("initial", "First prompt of a session", "tokens", f.Initial), histogram("new", "New tokens of a later turn", "tokens", f.New), histogram("blocks", "Blocks of a prompt", "blocks", f.Blocks),
			growth(m, "growth", "Growth of the prompt", "tokens", func(s *agentic.Session) []float64 {
				var list []float64
				for k := range s.Turns {
					list = append(list, float64(s.Turns[k].Input))
				}
				return list
			}),
		}},
		{section{ID: "times", Title: "Sessions and times", Lead: fmt.Sprintf("Latencies are estimates: the new input of a turn at %s tokens/s, its output at %d tokens/s.", count(agentic.PrefillRate), agentic.DecodeRate)}, []*chart.Chart{
			histogram("turns", "Turns of a session", "turns", f.Turns), histogram("pause", "Pause before a turn", "s", f.Pause), histogram("latency", "Estimated latency of a turn", "s", f.Latency),
			histogram("duration", "Estimated length of a session", "min", f.Duration),
		}},
		{section{ID: "cache", Title: "Prefixes", Lead: "A prefix is the leading part of a prompt, in whole blocks, that an earlier request had: with an unlimited cache and the sessions one after another."}, []*chart.Chart{
			histogram("prefix", "Prefix of a prompt", "tokens", f.Prefix), histogram("unique", "Prompt without its prefix", "tokens", f.Unique), histogram("share", "Share of the prefix", "share of the tokens", f.Share),
			histogram("hits", "Hit rate of the cache", "share of the blocks", f.HitRate),
			growth(m, "own", "Hit rate within a session", "share of the blocks", func(s *agentic.Session) []float64 { return agentic.OwnHitRates(m.Config, s) }),
			hits(f),
		}},
	} {
		for _, c := range part.list {
			if err := b.chart(&part.section, c, false, false); err != nil {
				return nil, err
			}
		}
		if part.ID == "lengths" {
			part.Tables = []*table{spreads(f)}
		}
		b.Sections = append(b.Sections, part.section)
	}
	b.Command = m.Command
	return b.html()
}

// agentCards adds the main figures.
func (b *builder) agentCards(f *agentic.Figures) {
	add := func(name, unit, of string, v []float64) {
		if len(v) == 0 {
			b.Cards = append(b.Cards, card{Name: name, None: "no session has a second turn"})
			return
		}
		d := spreadOf(v)
		b.Cards = append(b.Cards, card{Name: name, Value: figure(d[0]), Unit: unit, Of: of, More: [][2]string{{"median", figure(d[1])}, {"p95", figure(d[5])}, {"p99", figure(d[6])}}})
	}
	add("First prompt", "tokens", "mean of the sessions", f.Initial)
	add("New tokens", "tokens", "mean of the later turns", f.New)
	add("Output", "tokens", "mean of the turns", f.Output)
	add("Pause", "s", "mean of the later turns", f.Pause)
	add("Turns", "turns", "mean of the sessions", f.Turns)
	add("Hit rate", "of the blocks", "mean of the turns, unlimited cache", f.HitRate)
}

// spreadNames are the columns of spreadOf.
var spreadNames = []string{"mean", "median", "p5", "p25", "p75", "p95", "p99"}

// spreadOf returns the statistics of values; nil for none.
func spreadOf(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	v = slices.Sorted(slices.Values(v))
	list := []float64{stats.Describe(v).Avg}
	for _, level := range []float64{50, 5, 25, 75, 95, 99} {
		list = append(list, stats.Percentile(v, level))
	}
	return list
}

// spreads returns the table of the figures behind the charts.
func spreads(f *agentic.Figures) *table {
	t := &table{Caption: "The same in numbers", Class: "numbers", Head: append([]string{"Figure"}, spreadNames...)}
	for _, one := range []struct {
		name, unit string
		v          []float64
	}{
		{"Input of a turn", "tokens", f.Added}, {"Whole prompt of a turn", "tokens", f.Prompt}, {"Output of a turn", "tokens", f.Output}, {"First prompt of a session", "tokens", f.Initial},
		{"New tokens of a later turn", "tokens", f.New}, {"Blocks of a prompt", "blocks", f.Blocks}, {"Turns of a session", "turns", f.Turns}, {"Pause before a turn", "s", f.Pause},
		{"Estimated latency of a turn", "s", f.Latency}, {"Estimated length of a session", "min", f.Duration}, {"Prefix of a prompt", "tokens", f.Prefix},
		{"Prompt without its prefix", "tokens", f.Unique}, {"Share of the prefix", "of the tokens", f.Share}, {"Hit rate of the cache", "of the blocks", f.HitRate},
	} {
		row := []cellText{{Text: one.name, Below: one.unit}}
		for _, v := range spreadOf(one.v) {
			row = append(row, cellText{Text: figure(v)})
		}
		if len(row) == 1 {
			row = append(row, slices.Repeat([]cellText{{Text: "–"}}, len(spreadNames))...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// configTable compares the generated values with the requested distributions.
func configTable(m *agentic.Made, q *agentic.Quality) *table {
	t := &table{Caption: "Means and medians", Class: "numbers", Head: []string{"Figure", "mean asked", "mean", "off by", "median asked", "median", "off by"}}
	for _, one := range []struct {
		name, unit string
		c          agentic.Compared
	}{
		{"First prompt", "tokens", q.Observed.Initial}, {"New tokens of a turn", "tokens", q.Observed.New}, {"Output", "tokens", q.Observed.Output}, {"Pause before a turn", "ms", q.Observed.Delay},
		{"Turns of a session", "turns", q.Observed.Turns},
	} {
		row := []cellText{{Text: one.name, Below: one.unit}}
		for _, v := range []struct {
			want *float64
			got  float64
		}{{one.c.TargetMean, one.c.Observed.Mean}, {one.c.TargetMedian, one.c.Observed.Median}} {
			want, off := "–", "–"
			if v.want != nil {
				want, off = figure(*v.want), fmt.Sprintf("%+.1f %%", (v.got / *v.want - 1)*100)
			}
			row = append(row, cellText{Text: want}, cellText{Text: figure(v.got)}, cellText{Text: off})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, []cellText{{Text: "Longest prompt", Below: "tokens"}, {Text: "below " + count(m.MaxPrompt)}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: "–"}})
	return t
}

// ends returns the table of reasons why sessions ended.
func ends(q *agentic.Quality) *table {
	t := &table{Caption: "How sessions ended", Class: "numbers", Head: []string{"End", "Sessions", "Share"}}
	for _, one := range []struct {
		name  string
		n     int
		share float64
	}{
		{"the next prompt would have been too long", q.Ends.Retired, q.Ends.RetiredShare}, {"the context was discarded", q.Ends.Reset, q.Ends.ResetShare},
		{"it reached its planned number of turns", q.Ends.Completed, q.Ends.CompletedShare}, {"it continues as another session", q.Ends.Split, q.Ends.SplitShare},
	} {
		t.Rows = append(t.Rows, []cellText{{Text: one.name}, {Text: count(one.n)}, {Text: fmt.Sprintf("%.1f %%", 100*one.share)}})
	}
	return t
}

// maxBins is the largest number of bars of a histogram.
const maxBins = 60

// histogram counts values in bins. A few distinct integers get one bin each. Values that span a factor of more than 20 get bins of equal ratios on a
// logarithmic axis. Others get bins of equal width. Fewer than two values, or equal ones, give no histogram.
func histogram(name, title, unit string, v []float64) *chart.Chart {
	if len(v) < 2 {
		return nil
	}
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return nil
	}
	c := &chart.Chart{Name: name, Title: title, X: chart.Axis{Title: unit}, Y: chart.Axis{Title: "count", FromZero: true}}
	to, from := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	n, last := min(maxBins, max(8, int(4*math.Cbrt(float64(len(v)))))), high
	switch fraction := func(x float64) bool { return x != math.Trunc(x) }; {
	case high-low < maxBins && !slices.ContainsFunc(v, fraction):
		n, last = int(high-low)+1, high+1
	case low > 0 && high/low > 20:
		c.X.Scale, c.X.Title = chart.Log, unit+" (log)"
		to, from = math.Log, math.Exp
	}
	start, width := to(low), (to(last)-to(low))/float64(n)
	counts := make([]float64, n)
	for _, x := range v {
		counts[min(n-1, int((to(x)-start)/width))]++
	}
	bars := chart.Trace{Name: "count", Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: hueDot, Width: 1, Shape: "hv", Fill: chart.ToZero, Filling: 0.45}}
	for i, k := range counts {
		bars.X, bars.Y = append(bars.X, from(start+float64(i)*width)), append(bars.Y, k)
	}
	bars.X, bars.Y = append(bars.X, last), append(bars.Y, counts[n-1])
	c.Traces = []chart.Trace{bars}
	d := spreadOf(v)
	for _, mark := range []struct {
		name, hue, dash string
		at              float64
	}{{"median", hueP50, "", d[1]}, {"p95", hueP90, "dash", d[5]}} {
		c.Traces = append(c.Traces, chart.Trace{
			Name: mark.name + " " + figure(mark.at), Kind: chart.Scatter, Mode: chart.Lines, X: []float64{mark.at, mark.at}, Y: []float64{0, slices.Max(counts) * 1.05},
			Style: chart.Style{Color: mark.hue, Width: 2, Dash: mark.dash},
		})
	}
	return c
}

// growth draws a figure over the turns of the first sessions with several turns.
func growth(m *agentic.Made, name, title, unit string, of func(*agentic.Session) []float64) *chart.Chart {
	c := &chart.Chart{Name: name, Title: title, X: chart.Axis{Title: "turn"}, Y: chart.Axis{Title: unit, FromZero: true}}
	hues := []string{hueP50, hueP90, hueP99, hueDecode, hueFail}
	for i := range m.Sessions {
		s := &m.Sessions[i]
		if len(s.Turns) < 2 {
			continue
		}
		t := chart.Trace{Name: shortID(s.ID), Kind: chart.Scatter, Mode: chart.Lines, Y: of(s), Style: chart.Style{Color: hues[len(c.Traces)%len(hues)], Width: 1.5, Dash: []string{"", "dash"}[len(c.Traces)/len(hues)]}}
		for k := range t.Y {
			t.X = append(t.X, float64(k))
		}
		if c.Traces = append(c.Traces, t); len(c.Traces) == shownSessions {
			break
		}
	}
	if c.Traces == nil {
		return nil
	}
	return c
}

// hits draws the hit rate of every turn against the length of its prompt.
func hits(f *agentic.Figures) *chart.Chart {
	return &chart.Chart{
		Name: "scatter", Title: "Hit rate against the prompt", X: chart.Axis{Title: "tokens of the prompt"}, Y: chart.Axis{Title: "share of the blocks", Fixed: true, Max: 1.02},
		Traces: []chart.Trace{{Name: "turn", Kind: chart.Scatter, Mode: chart.Markers, X: f.Prompt, Y: f.HitRate, Style: chart.Style{Color: hueDot, Size: 3, Opacity: 0.5}}},
	}
}

// shortID shortens an id to fit next to a chart.
func shortID(id string) string {
	return id[:min(len(id), 10)]
}
