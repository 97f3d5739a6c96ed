package htmlreport

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// Live is what the live page shows at one instant: a run in progress. Its parts come from the same functions as those of a finished run.
type Live struct {
	State   *liveview.State
	Final   *runfiles.Summary // of the run once its files are written; nil = it is in progress
	Series  *LiveSeries       // nil = a single run
	Ended   bool              // nothing more will come
	Version string
}

// Part is a replaceable part of the live page: markup, or the input of a chart.
type Part struct {
	ID   string
	Text json.RawMessage // a JSON string with markup; of a chart an object
}

// liveParts lists the parts of the page in their order.
var liveParts = []string{"head", "stage", "verdict", "cards", "jump", "series", "time", "health", "errors", "slowest", "figures", "servers", "log"}

// LivePage returns the page that a browser loads. Its script fills the parts.
func LivePage() []byte {
	body := el("a", attrs{"class", "skip", "href", "#main"}, "Skip to the results") +
		el("header", attrs{"class", "wrap top"}, part("head"), el("div", attrs{"class", "no-print live-tools"},
			el("a", attrs{"id", "save", "class", "button", "href", "report.html", "download", "aiperf-report.html"}, "Save report"), " ",
			el("button", attrs{"id", "theme", "type", "button", "hidden?", "yes"}, "Dark theme"))) +
		el("nav", attrs{"class", "jump no-print", "aria-label", "Sections"}, part("jump")) +
		el("main", attrs{"id", "main", "class", "wrap", "tabindex", "-1"}, el("p", attrs{"id", "connection", "class", "empty", "role", "status"}, "Connecting to the run …"),
			`<noscript><p class="empty">A script inside this page receives the figures of the run, and it is not allowed to run here. “Save report” above gives a page that shows figures and tables without one.</p></noscript>`,
			htmlgen.Each(liveParts, func(_ int, id string) node {
				if id == "head" || id == "jump" {
					return ""
				}
				return part(id)
			})) +
		el("footer", attrs{"class", "wrap foot"}, "This page receives the state of the run every second from aiperf itself. It loads nothing else.")
	return shell("live.html", "aiperf, live", body, "", "live.js", "page.js")
}

// part returns the element that a part of the page fills.
func part(id string) node { return el("div", attrs{"id", "part-" + id}) }

// Parts returns all parts of the page, and the seconds that its clock covers.
func (l *Live) Parts() (list []Part, seconds float64, err error) {
	b, err := l.builder()
	if err != nil {
		return nil, 0, err
	}
	sections := map[string]node{}
	for i := range b.Sections {
		sections[b.Sections[i].ID] = b.Sections[i].node()
	}
	head := t("p", "eyebrow", b.Eyebrow) + t("h1", "", b.Title) + el("p", attrs{"class", "facts"}, htmlgen.Each(b.Facts, func(_ int, f string) node { return t("span", "", f) + " " }))
	for _, id := range liveParts {
		inside := sections[id]
		switch id {
		case "head":
			inside = head
		case "jump":
			inside = b.jumpList()
		case "verdict":
			inside = b.verdictBox()
		case "cards":
			inside = b.cardRow()
		case "figures":
			inside = b.allFigures()
		case "stage":
			inside = l.stage()
		}
		text, err := jsontext.Marshal(string(inside))
		if err != nil {
			return nil, 0, err
		}
		list = append(list, Part{id, text})
	}
	marks, err := jsontext.Marshal(b.Bands)
	if err != nil {
		return nil, 0, err
	}
	list = append(list, Part{"bands", marks})
	for i, c := range b.Charts {
		list = append(list, Part{fmt.Sprintf("chart-%d", i), c})
	}
	return list, b.Seconds, nil
}

// Page returns the present state as a page for sharing, which loads nothing.
func (l *Live) Page() ([]byte, error) {
	b, err := l.builder()
	if err != nil {
		return nil, err
	}
	b.Foot = "Made by aiperf " + l.Version + " while the run was in progress, at " + time.Now().Format("2006-01-02 15:04:05")
	return b.html()
}

// builder builds the content of the page.
func (l *Live) builder() (*builder, error) {
	b, s := &builder{}, l.State
	b.Title, b.Eyebrow = s.Plan.Model, "Benchmark run, live"
	b.SoFar = !l.Ended && l.Final == nil
	if !b.SoFar {
		b.Eyebrow = "Benchmark run"
	}
	if l.Series != nil {
		b.Eyebrow = "Series of runs, live"
	}
	if b.Title == "" {
		b.Title = "aiperf"
	}
	for _, text := range append(append([]string{}, s.Plan.What...), s.Plan.Target) {
		if text != "" {
			b.Facts = append(b.Facts, text)
		}
	}
	b.liveVerdict(l)
	b.liveCards(s)
	lanes := section{ID: "time", Title: "Over time", Lead: "Every lane covers the present phase. A point is the mean of its slice; latencies are medians, p99 is the value that 1 % of the requests of a slice exceed: of fewer than 100 the largest.", Tools: true}
	for _, c := range liveLanes(s) {
		if err := b.chart(&lanes, c, true, false); err != nil {
			return nil, err
		}
	}
	if lanes.Charts == nil {
		lanes.Tools, lanes.Lead, lanes.Empty = false, "", "The lanes begin with the first second of the load."
	}
	if l.Series != nil {
		if err := b.liveSeries(l.Series, l.Ended); err != nil {
			return nil, err
		}
	}
	b.Seconds = max(s.Counts.Elapsed.Seconds(), 1)
	b.Bands = podMarks(s.Pods, b.Seconds)
	b.Sections = append(b.Sections, lanes, liveHealth(s), liveErrors(s), liveSlowest(s))
	b.Metrics = liveMetrics(s)
	if one := liveServers(s); one.Tables != nil {
		b.Sections = append(b.Sections, one)
	}
	b.Sections = append(b.Sections, liveLog(s))
	return b, nil
}

// stage returns the progress of the run.
func (l *Live) stage() node {
	s := l.State
	name, parts := l.stageName(), l.stageDetails()
	if l.Series != nil && !l.Ended {
		parts = append([]string{strings.ToLower(name[:1]) + name[1:]}, parts...)
		name = l.Series.progress()
	}
	bar := node("")
	if s.Known && l.Final == nil && !l.Ended {
		bar = el("progress", attrs{"aria-label", "Progress of the phase", "max", "100", "value", fmt.Sprintf("%.0f", 100*s.Share)})
	}
	return el("section", attrs{"class", "stage", "aria-label", "Progress"}, el("p", nil, t("strong", "", name), text(" "+strings.Join(parts, ", "))), bar)
}

// stageName returns the name of the stage.
func (l *Live) stageName() string {
	s := l.State
	switch {
	case l.Ended && l.Series != nil:
		return "The series is over"
	case l.Ended || l.Final != nil && l.Series == nil:
		return "The run is over"
	case l.Final != nil:
		return "Between two runs"
	case s.Phase != "" && s.Stage != liveview.Starting && s.Stage != liveview.Processing && s.Phase != s.Stage.String():
		return s.Phase + " (" + strings.ToLower(s.Stage.String()) + ")"
	}
	return s.Stage.String()
}

// stageDetails returns what has happened in the stage.
func (l *Live) stageDetails() (parts []string) {
	s := l.State
	c := &s.Counts
	switch {
	case l.Ended || l.Final != nil:
	case s.Stage == liveview.Starting:
		for _, one := range s.Steps {
			if one.State == liveview.Runs {
				parts = append(parts, one.Name)
			}
		}
	default:
		parts = append(parts, fmt.Sprintf("%.0f s", c.Elapsed.Seconds()), terminal.Plural(c.Finished(), "request")+" done", terminal.Count(c.InFlight)+" in flight", terminal.Plural(c.Errors, "error"))
		if c.ETA >= 0 && s.Stage != liveview.Draining {
			parts = append(parts, "about "+liveview.Span(c.ETA)+" left")
		}
	}
	if s.Stopping {
		parts = append(parts, "stopping")
	}
	if s.NoNews > 0 {
		parts = append(parts, "no news from the run for "+liveview.Span(s.NoNews))
	}
	if st := &s.Stall; st.Now > 0 {
		parts = append(parts, fmt.Sprintf("no answer for %.1f s, %s", st.Now.Seconds(), liveview.Waiting(st.Waits)))
	}
	return parts
}

// liveVerdict adds what the verdict would be now; of a finished run, its verdict.
func (b *builder) liveVerdict(l *Live) {
	if l.Final != nil {
		b.verdict(l.Final)
		return
	}
	h := &l.State.Health
	switch h.Verdict {
	case "":
		b.Level, b.Verdict, b.Why = "pending", "No verdict yet", "It needs the first answers of a measured phase."
	case string(metric.VerdictValid):
		b.Level, b.Verdict, b.Why = "valid", "Valid so far", h.Reason
	default:
		b.Level, b.Verdict, b.Why = "suspect", "So far: "+h.Verdict, h.Reason
	}
	if h.Verdict != "" {
		b.Findings = []string{"Provisional: the verdict at the end also knows the bounds of every figure and the load of the machine."}
	}
	b.failedSoFar(&l.State.Counts)
	b.podsSoFar(l.State.Pods)
}

// podsSoFar adds the last events of the server's pods to the findings.
func (b *builder) podsSoFar(events []liveview.PodEvent) {
	var words []string
	for _, e := range events[max(0, len(events)-mostPodNames):] {
		words = append(words, fmt.Sprintf("%s at %.0f s", e.Text, e.At))
	}
	if more := len(events) - mostPodNames; more > 0 {
		words = append(words, terminal.Plural(int64(more), "earlier event"))
	}
	if words != nil {
		b.Findings = append(b.Findings, "Pods of the server: "+strings.Join(words, ", ")+".")
	}
}

// failedSoFar puts the share of failed requests before the verdict if it is 1 % or more.
func (b *builder) failedSoFar(c *liveview.Counts) {
	if share := metric.FailureSentence(c.Errors, c.Errors+c.OK); share != "" {
		b.Level, b.Why, b.Verdict = "suspect", strings.TrimSpace(b.Verdict+". "+b.Why), share
	}
}

// liveCards adds the main figures of the last 10 s, with their last minute as a line.
func (b *builder) liveCards(s *liveview.State) {
	f := &s.Figures
	add := func(name, unit string, v *liveview.Figure, none string, more ...[2]string) {
		if s.Stage == liveview.Starting || math.IsNaN(v.Recent) && math.IsNaN(v.Run) {
			b.Cards = append(b.Cards, card{Name: name, None: none})
			return
		}
		b.Cards = append(b.Cards, card{Name: name, Value: orDash(v.Recent), Unit: unit, Of: "last 10 s", Drawn: sparkline(name, v.Trend), More: more})
	}
	const early = "not yet measured"
	rate := func(name, unit string, v *liveview.Figure, none string) {
		add(name, unit, v, none, [2]string{"whole phase", orDash(v.Run)})
	}
	latency := func(name string, v *liveview.Figure, none string) {
		add(name, "ms, median", v, none, [2]string{"p50", orDash(v.Run)}, [2]string{"p90", orDash(v.P90)}, [2]string{"p99", orDash(v.P99)})
	}
	rate("Requests", "requests/s", &f.Requests, early)
	rate("Output throughput", "tokens/s", &f.Tokens, early)
	if math.IsNaN(f.TTFT.Run) && !math.IsNaN(f.Latency.Run) {
		latency("Request latency", &f.Latency, early)
	} else {
		latency("Time to first token", &f.TTFT, early)
	}
	latency("Inter-token latency", &f.ITL, early)
	add("Errors", "% of the requests", &f.Errors, early, [2]string{"whole phase", orDash(f.Errors.Run) + " %"}, [2]string{"failed", terminal.Count(s.Counts.Errors)})
	rate("Goodput", "requests/s", &f.Goodput, "no limits of service were given ("+spellSetting("slos")+")")
}

// orDash formats a figure; a dash = it does not exist.
func orDash(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return figure(v)
}

// Size of the line of a card in its own units.
const sparkWide, sparkTall = 120.0, 28.0

// sparkline draws the values of the last seconds, from zero to their highest.
func sparkline(name string, v []float64) node {
	top := 0.0
	for _, one := range v {
		if !math.IsNaN(one) {
			top = max(top, one)
		}
	}
	if len(v) < 2 || top == 0 {
		return el("div", attrs{"class", "spark"})
	}
	var path strings.Builder
	move := "M"
	for i, one := range v {
		if math.IsNaN(one) {
			move = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", move, sparkWide*float64(i)/float64(len(v)-1), 1+(sparkTall-2)*(1-one/top))
		move = "L"
	}
	return el("svg", attrs{"class", "spark", "viewBox", fmt.Sprintf("0 0 %.0f %.0f", sparkWide, sparkTall), "preserveAspectRatio", "none", "role", "img", "aria-label", fmt.Sprintf("%s in the last %d s, at most %s", name, len(v), figure(top))},
		el("path", attrs{"d", path.String()}))
}

// liveLanes draws the lanes of the phase so far.
func liveLanes(s *liveview.State) (list []*chart.Chart) {
	line := &s.Timeline
	if n := len(s.Timelines); n > 0 {
		line = &s.Timelines[n-1].Timeline
	}
	for i := range line.Series {
		c := liveLane(line, &line.Series[i])
		switch {
		case c == nil:
		case len(list) > 0 && strings.TrimSuffix(c.Title, " p99") == strings.TrimSuffix(list[len(list)-1].Title, " p50"):
			c.Traces[0].Style = chart.Style{Color: hueP99, Width: 1.8, Size: 3, Dash: "dot"}
			one := list[len(list)-1]
			one.Title, one.Traces = strings.TrimSuffix(c.Title, " p99"), append(one.Traces, c.Traces[0])
		default:
			list = append(list, c)
		}
	}
	return list
}

// liveLane draws one series, each value at the middle of its slice; nil if it has no value.
func liveLane(line *termdraw.Timeline, one *termdraw.Series) *chart.Chart {
	unit := one.Unit
	if unit == "out" {
		unit = "output tokens/s"
	}
	if unit == "" {
		unit = one.Name
	}
	trace := chart.Trace{Name: one.Name, Kind: chart.Scatter, Mode: chart.LinesMarkers, Style: chart.Style{Color: hueP50, Width: 1.8, Size: 3}}
	if one.Digits { // a number of events
		trace.Kind, trace.Mode, trace.Color = chart.Bar, "", hueFail
	}
	found := false
	for bin, v := range one.Values {
		trace.X, trace.Y = append(trace.X, (float64(bin)+0.5)*line.Seconds), append(trace.Y, v)
		found = found || !math.IsNaN(v) && v != 0
	}
	if !found {
		return nil
	}
	return &chart.Chart{Name: "live", Title: one.Name, X: chart.Axis{Title: "s", Clock: true}, Y: chart.Axis{Title: unit, FromZero: true}, Traces: []chart.Trace{trace}}
}

// liveHealth shows how well the client keeps up.
func liveHealth(s *liveview.State) section {
	h := &s.Health
	ms := func(v float64) string {
		if math.IsNaN(v) {
			return "–"
		}
		return figure(v) + " ms"
	}
	percent := func(v float64) string {
		if math.IsNaN(v) {
			return "–"
		}
		return figure(v) + " %"
	}
	rows := []struct{ name, value, meaning string }{
		{"Schedule lag, p99", ms(h.LagP99), "how late requests left; only with a request rate or a schedule"},
		{"Unread delay, p99", ms(h.ReadDelay), "how long bytes of answers waited for aiperf to read them"},
		{"Waiting for a CPU", percent(h.CPUWait), "share of the time in which aiperf wanted to run"},
		{"CPU of aiperf", percent(s.Counts.CPU), "of the cores that it may use"},
		{"Pauses of aiperf", terminal.Count(h.Stalls), "times that the whole process did not run"},
	}
	if h.Stalls > 0 {
		rows[4].value += fmt.Sprintf(", longest %.0f ms", float64(h.Longest)/float64(time.Millisecond))
	}
	list := &table{Caption: "Measurements of the client by itself, in the measured phases so far", Class: "numbers", Head: []string{"Figure", "Value", "Meaning"}}
	for _, r := range rows {
		list.Rows = append(list.Rows, []cellText{{Text: r.name, Below: r.meaning}, {Text: r.value}})
	}
	list.Head = list.Head[:2]
	return section{ID: "health", Title: "Validity", Lead: "Whether the figures describe the server, and not this client.", Tables: []*table{list}}
}

// liveErrors lists the kinds of errors.
func liveErrors(s *liveview.State) section {
	one := section{ID: "errors", Title: "Errors"}
	if len(s.Errors) == 0 {
		one.Empty = "No request has failed."
		return one
	}
	list := &table{Caption: "Failures, similar ones grouped", Head: []string{"Type", "Code", "Message", "Count", "Last"}}
	for _, e := range s.Errors {
		list.Rows = append(list.Rows, []cellText{{Text: e.Type}, {Text: e.Code}, {Text: e.Message}, {Text: terminal.Count(e.Count)}, {Text: figure(max(e.Last, 0)) + " s"}})
	}
	one.Tables = []*table{list}
	return one
}

// liveSlowest lists the slowest requests.
func liveSlowest(s *liveview.State) section {
	one := section{ID: "slowest", Title: "Slowest requests"}
	if len(s.Slowest) == 0 {
		one.Empty = "No request has succeeded."
		return one
	}
	list := &table{Caption: "The slowest requests of the phase, by latency", Class: "numbers", Head: []string{"Conversation", "Sent at", "Latency, ms", "TTFT, ms", "ITL, ms", "Output tokens"}}
	for _, q := range s.Slowest {
		list.Rows = append(list.Rows, []cellText{{Text: q.Conversation}, {Text: figure(max(q.At, 0)) + " s"}, {Text: orDash(q.Latency)}, {Text: orDash(q.TTFT)}, {Text: orDash(q.ITL)}, {Text: orDash(q.Tokens)}})
	}
	one.Tables = []*table{list}
	return one
}

// liveMetrics returns the rows of the table of all figures.
func liveMetrics(s *liveview.State) (list []metricRow) {
	for _, g := range s.Metrics {
		for i := range g.Rows {
			m := &g.Rows[i]
			row := metricRow{Name: m.Name + " (" + m.Unit + ")"}
			for k, v := range []float64{m.Avg, m.Min, m.Max, m.P99, m.P90, m.P50, m.Std} { // the order of tableStats
				text := ""
				if !(m.One && k > 0) && !math.IsNaN(v) {
					text = terminal.Exact(v)
				}
				row.Cell = append(row.Cell, text)
			}
			list = append(list, row)
		}
	}
	return list
}

// liveServers lists the present figures of servers and GPUs.
func liveServers(s *liveview.State) section {
	one := section{ID: "servers", Title: "Servers and GPUs"}
	if len(s.Gauges) > 0 {
		list := &table{Caption: "Present figures of the servers", Class: "numbers", Head: []string{"Figure", "Value"}}
		for _, g := range s.Gauges {
			list.Rows = append(list.Rows, []cellText{{Text: g.Name}, {Text: strings.TrimRight(orDash(g.Value)+" "+g.Unit, " ")}})
		}
		one.Tables = append(one.Tables, list)
	}
	for _, g := range s.GPUs {
		list := &table{Caption: g.Title, Class: "numbers", Head: []string{"Figure", "Now", "Mean", "Min", "Max"}}
		for _, r := range g.Rows {
			list.Rows = append(list.Rows, []cellText{{Text: r.Name, Below: r.Unit}, {Text: orDash(r.Current)}, {Text: orDash(r.Avg)}, {Text: orDash(r.Min)}, {Text: orDash(r.Max)}})
		}
		one.Tables = append(one.Tables, list)
	}
	return one
}

// maxLiveLines is the number of log lines that the page shows.
const maxLiveLines = 40

// liveLog shows the last lines of the log, the newest first.
func liveLog(s *liveview.State) section {
	one := section{ID: "log", Title: "Log"}
	lines := s.Log[max(0, len(s.Log)-maxLiveLines):]
	if len(lines) == 0 {
		one.Empty = "Nothing has been logged."
		return one
	}
	var text strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		text.WriteString(liveview.LogText(lines[i : i+1]))
	}
	one.Lead = "The newest line comes first."
	one.Own = el("pre", attrs{"class", "panel", "tabindex", "0", "aria-label", "Log"}, htmlgen.Text(text.String()))
	return one
}
