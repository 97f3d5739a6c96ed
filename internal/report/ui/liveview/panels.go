package liveview

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
)

// steps draws the steps that are done, running and still to come.
func steps(s *State, v View) termdraw.Rows {
	rows := make(termdraw.Rows, len(s.Steps))
	for i, one := range s.Steps {
		r := &rows[i]
		r.To(1)
		switch one.State {
		case Done:
			r.Put(termdraw.Good, "✔")
		case Runs:
			r.Put(termdraw.Work, "▸")
		default:
			r.Put(termdraw.Faint, "·")
		}
		took := ""
		if one.State == Done || one.State == Runs && one.Took >= time.Second {
			took = fmt.Sprintf("%.1f s", one.Took.Seconds())
		}
		r.To(3).Left(termdraw.Plain, one.Name, label-3).Left(termdraw.Plain, one.Text, v.Width-label-10).Right(termdraw.Faint, took, 9)
	}
	return rows
}

// starting draws what the start is doing, and the plan.
func starting(s *State, v View, room int) termdraw.Rows {
	rows := append(termdraw.Rows{termdraw.Text(termdraw.Bold, " Starting")}, steps(s, v)...)
	plan := termdraw.Rows{{}, termdraw.Text(termdraw.Bold, " Plan")}
	for _, p := range append(append([][2]string{}, s.Plan.Phases...), [2]string{"Results", s.Plan.Results}) {
		if p[1] == "" {
			continue
		}
		var r termdraw.Row
		text := termdraw.Cut(p[1], v.Width-label-1)
		if p[0] == "Results" {
			text = termdraw.CutMiddle(p[1], v.Width-label-1)
		}
		r.To(3).Left(termdraw.Plain, p[0], label-3).Put(termdraw.Plain, text)
		plan = append(plan, r)
	}
	if len(rows)+len(plan) > room { // the running steps are more important
		plan = plan[:max(0, room-len(rows))]
	}
	rows = append(rows, plan...)
	if left := room - len(rows); left > 3 && !v.HideLog && len(s.Log) > 0 {
		rows = append(append(rows, termdraw.Row{}), labelled("Log", logLines(s, v.Width-label-1, left-1, 0))...)
	}
	return rows
}

// progress draws the progress of the run: its steps, and every count of the phase.
func progress(s *State, v View, room int) termdraw.Rows {
	rows := steps(s, v)
	c := &s.Counts
	table := [][4]string{
		{"Began", clockTime(c.Began), "Records %", percent(c.RecordsShare)},
		{"Sent", number(c.Sent), "Records", number(c.Records)},
		{"In flight", number(c.InFlight), "Records/s", terminal.Figure(float64(c.Records) / c.Elapsed.Seconds())},
		{"OK", number(c.OK), "Record backlog", number(max(0, c.Finished()-c.Records))},
		{"Errors", number(c.Errors), "Record errors", number(c.Errors)},
		{"Errors %", terminal.Figure(s.Figures.Errors.Run), "Records ETA", eta(c.RecordsETA)},
		{"Cancelled", number(c.Cancelled), "Client CPU %", terminal.Figure(c.CPU)},
		{"Requests/s", terminal.Figure(s.Figures.Requests.Run), "Elapsed", Span(c.Elapsed)},
		{"last 10 s", terminal.Figure(s.Figures.Requests.Recent), "ETA", eta(c.ETA)},
	}
	if left, ok := c.grace(); ok && s.Stage == Draining {
		table = append(table, [4]string{"Grace", Span(max(c.Elapsed-c.Duration, 0)), "Grace left", Span(left)})
	}
	for _, g := range s.Gauges {
		table = append(table, [4]string{"", "", g.Name, g.text()})
	}
	if len(rows)+1+len(table) <= room {
		rows = append(rows, termdraw.Row{})
	} else if over := len(rows) + len(table) - room; over > 0 { // finished steps are the least important
		rows = rows[min(over, len(rows)):]
	}
	for _, t := range table {
		var r termdraw.Row
		r.To(1).Left(termdraw.Plain, t[0], label-1).Right(termdraw.Plain, t[1], 10).To(label+16).Left(termdraw.Plain, t[2], 18).Right(termdraw.Plain, t[3], 10)
		rows = append(rows, r)
	}
	return rows
}

// clockTime formats the time of day.
func clockTime(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format(time.TimeOnly)
}

// percent formats a share of 0 to 1. It never rounds up, because 100 % means done.
func percent(share float64) string {
	if math.IsNaN(share) {
		return "–"
	}
	return fmt.Sprintf("%.0f", math.Floor(100*share))
}

func eta(d time.Duration) string {
	if d < 0 {
		return "–"
	}
	return Span(d)
}

// statistics lists the columns of the table of metrics in their order, and in which order a narrow screen drops them.
var statistics = []struct {
	name string
	drop int
	of   func(*Metric) float64
}{
	{"avg", 1, func(m *Metric) float64 { return m.Avg }}, {"min", 3, func(m *Metric) float64 { return m.Min }},
	{"max", 2, func(m *Metric) float64 { return m.Max }}, {"p99", 0, func(m *Metric) float64 { return m.P99 }},
	{"p90", 1, func(m *Metric) float64 { return m.P90 }}, {"p50", 0, func(m *Metric) float64 { return m.P50 }},
	{"std", 4, func(m *Metric) float64 { return m.Std }},
}

// metrics draws the whole table, in groups.
func metrics(s *State, v View) termdraw.Rows {
	if len(s.Metrics) == 0 {
		return labelled("Metrics", termdraw.Rows{termdraw.Text(termdraw.Plain, "none yet: no request of this phase was answered so far")})
	}
	names, keep := metricColumns(v.Width)
	const cell = statisticCells
	var first termdraw.Row
	first.To(1 + names)
	for _, c := range statistics {
		if c.drop <= keep {
			first.Right(termdraw.Faint, c.name, cell)
		}
	}
	rows := termdraw.Rows{first}
	for _, g := range s.Metrics {
		rows = append(rows, termdraw.Text(termdraw.Bold, " "+g.Name))
		for i := range g.Rows {
			m := &g.Rows[i]
			r := m.label(names)
			for _, c := range statistics {
				if c.drop > keep {
					continue
				}
				value, ink := c.of(m), termdraw.Plain
				if c.name == "p50" || c.name == "p99" || m.One {
					ink = termdraw.Bold
				}
				text := Fixed(value, cell-1)
				if m.One && c.name != "avg" {
					text = ""
				}
				r.Right(shade(value, ink), text, cell)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// statisticCells is the width of a column of the table.
const statisticCells = 10

// metricColumns returns the width of the names and how many statistics fit on a screen.
func metricColumns(width int) (names, keep int) {
	names = 26
	if width >= fullNames {
		names = 50
	}
	for keep = 4; keep > 0; keep-- {
		n := 0
		for _, c := range statistics {
			if c.drop <= keep {
				n++
			}
		}
		if 1+names+n*statisticCells < width {
			break
		}
	}
	return names, keep
}

// fullNames is the width from which metrics have their full names.
const fullNames = 112

// shortUnits shortens units where the screen is narrow.
var shortUnits = strings.NewReplacer("tokens", "tok", "requests", "req", "/sec", "/s")

// label returns the metric's name and unit in a given number of cells.
func (m *Metric) label(cells int) termdraw.Row {
	name, unit := m.Name, m.Unit
	if cells < 50 && m.Short != "" {
		name = m.Short
	}
	if termdraw.Width(name)+termdraw.Width(unit)+3 > cells {
		unit = shortUnits.Replace(unit)
		if strings.HasSuffix(name, "/User") { // the name says it
			unit = strings.TrimSuffix(unit, "/user")
		}
	}
	if unit != "" {
		unit = " (" + unit + ")"
	}
	var r termdraw.Row
	return *r.To(1).Put(termdraw.Plain, termdraw.Cut(name, cells-termdraw.Width(unit))).Put(termdraw.Faint, unit).To(1 + cells)
}

// Fixed formats a number with two decimals and separators. If that is too long for its cells, it has fewer decimals, so that columns stay aligned.
func Fixed(v float64, cells int) string {
	if math.IsNaN(v) {
		return "–"
	}
	for decimals := 2; decimals > 0; decimals-- {
		if text := separated(strconv.FormatFloat(v, 'f', decimals, 64)); len(text) <= cells {
			return text
		}
	}
	return separated(strconv.FormatFloat(v, 'f', 0, 64))
}

// separated inserts commas between groups of three digits before the point.
func separated(digits string) string {
	from := 0
	if digits != "" && digits[0] == '-' {
		from = 1
	}
	end := len(digits)
	for i := range digits {
		if digits[i] == '.' {
			end = i
			break
		}
	}
	for i := end - 3; i > from; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// workerStates lists the states of a group of workers, in the order of the summary.
var workerStates = []string{"healthy", "high load", "error", "idle", "stale"}

// bytesWidth is the width from which the table of workers shows the bytes that they have read and written.
const bytesWidth = 100

// workers draws the number of groups in each state, and one row for each group.
func workers(s *State, v View) termdraw.Rows {
	var sum, first termdraw.Row
	for _, state := range workerStates {
		n := 0
		for i := range s.Workers {
			if s.Workers[i].State == state {
				n++
			}
		}
		sum.Put(termdraw.Faint, state+" ").Put(termdraw.Plain, number(int64(n))+"   ")
	}
	first.To(label).Right(termdraw.Faint, "status", 10).Right(termdraw.Faint, "in flight", 11).Right(termdraw.Faint, "completed", 11).Right(termdraw.Faint, "failed", 8)
	first.Right(termdraw.Faint, "CPU", 7).Right(termdraw.Faint, "memory", 11)
	if v.Width >= bytesWidth {
		first.Right(termdraw.Faint, "read", 11).Right(termdraw.Faint, "written", 11)
	}
	rows := append(clientHealth(&s.Health), append(labelled("Workers", termdraw.Rows{sum}), first)...)
	for _, w := range s.Workers {
		ink := termdraw.Good
		switch w.State {
		case "error":
			ink = termdraw.Bad
		case "high load", "stale":
			ink = termdraw.Warn
		case "idle":
			ink = termdraw.Faint
		}
		var r termdraw.Row
		r.To(1).Left(termdraw.Plain, w.Name, label-1).Right(ink, w.State, 10).Right(termdraw.Plain, number(w.InFlight), 11).Right(termdraw.Plain, number(w.Done), 11).Right(termdraw.Plain, number(w.Failed), 8)
		cpu := "–"
		if !math.IsNaN(w.CPU) {
			cpu = fmt.Sprintf("%.0f %%", w.CPU)
		}
		r.Right(termdraw.Plain, cpu, 7).Right(termdraw.Plain, Bytes(w.Memory), 11)
		if v.Width >= bytesWidth {
			r.Right(termdraw.Plain, Bytes(w.Read), 11).Right(termdraw.Plain, Bytes(w.Written), 11)
		}
		rows = append(rows, r)
	}
	if len(s.Workers) == 0 {
		rows = append(rows, termdraw.Text(termdraw.Faint, " "+"none yet"))
	}
	return rows
}

// Limits above which a figure of the client's health gets attention, in the unit of the figure.
const (
	lagLimit  = 10 // ms
	readLimit = 1  // ms
	waitLimit = 20 // percent
)

// clientHealth draws how well the client keeps up, and the provisional verdict.
func clientHealth(h *Health) termdraw.Rows {
	var r termdraw.Row
	add := func(name string, v float64, unit string, limit float64) {
		if r.Cells() > 0 {
			r.Put(termdraw.Plain, "   ")
		}
		ink := termdraw.Plain
		if v > limit {
			ink = termdraw.Warn
		}
		text := terminal.Figure(v)
		if !math.IsNaN(v) {
			text += unit
		}
		r.Put(termdraw.Faint, name+" ").Put(shade(v, ink), text)
	}
	add("send lag p99", h.LagP99, " ms", lagLimit)
	if h.Verdict == "" {
		r.Put(termdraw.Faint, "   not judged yet")
		return append(labelled("Client", termdraw.Rows{r}), termdraw.Row{})
	}
	add("unread p99", h.ReadDelay, " ms", readLimit)
	add("CPU wait", h.CPUWait, " %", waitLimit)
	rows := termdraw.Rows{r}
	if h.Stalls > 0 {
		rows = append(rows, termdraw.Text(termdraw.Warn, fmt.Sprintf("%s of the process, the longest %.0f ms", terminal.Plural(h.Stalls, "pause"), h.Longest.Seconds()*1e3)))
	}
	ink := termdraw.Good
	if h.Verdict != "valid" {
		ink = termdraw.Warn
	}
	rows = append(rows, *new(termdraw.Row).Put(termdraw.Faint, "verdict so far ").Put(ink, h.Verdict))
	return append(labelled("Client", rows), termdraw.Row{})
}

// healthColumn draws the client's health as rows of name and figure.
func healthColumn(h *Health) termdraw.Rows {
	rows := termdraw.Rows{termdraw.Text(termdraw.Bold, "Client")}
	add := func(name string, v float64, unit string, limit float64) {
		ink, text := termdraw.Plain, terminal.Figure(v)
		if v > limit {
			ink = termdraw.Warn
		}
		if !math.IsNaN(v) {
			text += unit
		}
		var r termdraw.Row
		rows = append(rows, *r.Left(termdraw.Faint, name, 16).Put(shade(v, ink), text))
	}
	add("send lag p99", h.LagP99, " ms", lagLimit)
	if h.Verdict == "" {
		return append(rows, termdraw.Text(termdraw.Faint, "not judged yet"))
	}
	add("unread p99", h.ReadDelay, " ms", readLimit)
	add("CPU wait", h.CPUWait, " %", waitLimit)
	ink := termdraw.Good
	if h.Verdict != "valid" {
		ink = termdraw.Warn
	}
	var r termdraw.Row
	return append(rows, *r.Left(termdraw.Faint, "verdict so far", 16).Put(ink, termdraw.Cut(h.Verdict, healthCells-17)))
}

// Bytes formats an amount of data in steps of 1024; a negative n is unknown.
func Bytes(n int64) string {
	if n < 0 {
		return "–"
	}
	v := float64(n)
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		if v < 1024 {
			if unit == "B" {
				return fmt.Sprintf("%.0f B", v)
			}
			return fmt.Sprintf("%.1f %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.1f TB", v)
}

// gpuColumn is a column of the table of a GPU. Columns of a lower rank disappear last on a narrow terminal.
type gpuColumn struct {
	name string
	rank int
	of   func(*GPUMetric) float64
}

// gpuColumns returns the columns that fit, always in the order of the tables of the report.
func gpuColumns(room int) (shown []gpuColumn) {
	for _, c := range []gpuColumn{
		{"current", 0, func(m *GPUMetric) float64 { return m.Current }}, {"avg", 1, func(m *GPUMetric) float64 { return m.Avg }},
		{"min", 4, func(m *GPUMetric) float64 { return m.Min }}, {"max", 2, func(m *GPUMetric) float64 { return m.Max }},
		{"p99", 3, func(m *GPUMetric) float64 { return m.P99 }}, {"p90", 5, func(m *GPUMetric) float64 { return m.P90 }},
		{"p50", 6, func(m *GPUMetric) float64 { return m.P50 }}, {"std", 7, func(m *GPUMetric) float64 { return m.Std }},
	} {
		if c.rank < max(1, room) {
			shown = append(shown, c)
		}
	}
	return shown
}

// gpus draws a table for each GPU, and the gauges of servers.
func gpus(s *State, v View) termdraw.Rows {
	var rows termdraw.Rows
	const cell = 10
	names := 32
	shown := gpuColumns((v.Width - 2 - names) / cell)
	for _, g := range s.GPUs {
		if len(rows) > 0 {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, termdraw.Text(termdraw.Bold, " "+termdraw.CutMiddle(g.Title, v.Width-2)))
		var first termdraw.Row
		first.To(1 + names)
		for _, c := range shown {
			first.Right(termdraw.Faint, c.name, cell)
		}
		rows = append(rows, first)
		for i := range g.Rows {
			m := &g.Rows[i]
			unit := " (" + m.Unit + ")"
			var r termdraw.Row
			r.To(1).Put(termdraw.Plain, termdraw.Cut(m.Name, names-termdraw.Width(unit))).Put(termdraw.Faint, unit).To(1 + names)
			for k, c := range shown {
				ink := termdraw.Plain
				if k == 0 {
					ink = termdraw.Bold
				}
				r.Right(shade(c.of(m), ink), terminal.Figure(c.of(m)), cell)
			}
			rows = append(rows, r)
		}
	}
	if len(s.GPUs) == 0 {
		note := termdraw.Rows{}
		for i, text := range s.GPUNote {
			ink := termdraw.Plain
			if i > 0 {
				ink = termdraw.Faint
			}
			note = append(note, termdraw.Text(ink, termdraw.Cut(text, v.Width-label-1)))
		}
		rows = append(rows, labelled("GPU", note)...)
	}
	if len(s.Gauges) > 0 {
		gauges := make(termdraw.Rows, len(s.Gauges))
		for i, g := range s.Gauges {
			gauges[i].Left(termdraw.Plain, g.Name, 24).Right(termdraw.Bold, g.text(), 10)
		}
		rows = append(append(rows, termdraw.Row{}), labelled("Servers", gauges)...)
	}
	return rows
}
