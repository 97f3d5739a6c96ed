package board

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"aiperf/internal/draw"
	"aiperf/internal/terminal"
)

// steps are what is done, goes on, and is to come.
func steps(s *State, v View) draw.Rows {
	rows := make(draw.Rows, len(s.Steps))
	for i, one := range s.Steps {
		r := &rows[i]
		r.To(1)
		switch one.State {
		case Done:
			r.Put(draw.Good, "✔")
		case Runs:
			r.Put(draw.Work, "▸")
		default:
			r.Put(draw.Faint, "·")
		}
		took := ""
		if one.State == Done || one.State == Runs && one.Took >= time.Second {
			took = fmt.Sprintf("%.1f s", one.Took.Seconds())
		}
		r.To(3).Left(draw.Plain, one.Name, label-3).Left(draw.Plain, one.Text, v.Width-label-10).Right(draw.Faint, took, 9)
	}
	return rows
}

// starting is what the start is busy with, and the plan.
func starting(s *State, v View, room int) draw.Rows {
	rows := append(draw.Rows{draw.Text(draw.Bold, " Starting")}, steps(s, v)...)
	plan := draw.Rows{{}, draw.Text(draw.Bold, " Plan")}
	for _, p := range append(append([][2]string{}, s.Plan.Phases...), [2]string{"Results", s.Plan.Results}) {
		if p[1] == "" {
			continue
		}
		var r draw.Row
		text := draw.Cut(p[1], v.Width-label-1)
		if p[0] == "Results" {
			text = draw.CutMiddle(p[1], v.Width-label-1)
		}
		r.To(3).Left(draw.Plain, p[0], label-3).Put(draw.Plain, text)
		plan = append(plan, r)
	}
	if len(rows)+len(plan) > room { // what goes on matters more
		plan = plan[:max(0, room-len(rows))]
	}
	rows = append(rows, plan...)
	if left := room - len(rows); left > 3 && !v.HideLog && len(s.Log) > 0 {
		rows = append(append(rows, draw.Row{}), labelled("Log", logLines(s, v.Width-label-1, left-1, 0))...)
	}
	return rows
}

// progress is how far the run is: its steps, and every count of the phase.
func progress(s *State, v View, room int) draw.Rows {
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
		rows = append(rows, draw.Row{})
	} else if over := len(rows) + len(table) - room; over > 0 { // the steps that are over are news no more
		rows = rows[min(over, len(rows)):]
	}
	for _, t := range table {
		var r draw.Row
		r.To(1).Left(draw.Plain, t[0], label-1).Right(draw.Plain, t[1], 10).To(label+16).Left(draw.Plain, t[2], 18).Right(draw.Plain, t[3], 10)
		rows = append(rows, r)
	}
	return rows
}

// clockTime is an instant of the day.
func clockTime(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format(time.TimeOnly)
}

// percent is a share of 0 to 1; not rounded up, since 100 is done.
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

// statistics are the columns of the table of metrics in its order, and how readily they leave a narrow screen.
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

// metrics is the whole table, in groups.
func metrics(s *State, v View) draw.Rows {
	if len(s.Metrics) == 0 {
		return labelled("Metrics", draw.Rows{draw.Text(draw.Plain, "none yet: no request of this phase has been answered")})
	}
	names, keep := metricColumns(v.Width)
	const cell = statisticCells
	var first draw.Row
	first.To(1 + names)
	for _, c := range statistics {
		if c.drop <= keep {
			first.Right(draw.Faint, c.name, cell)
		}
	}
	rows := draw.Rows{first}
	for _, g := range s.Metrics {
		rows = append(rows, draw.Text(draw.Bold, " "+g.Name))
		for i := range g.Rows {
			m := &g.Rows[i]
			r := m.label(names)
			for _, c := range statistics {
				if c.drop > keep {
					continue
				}
				value, ink := c.of(m), draw.Plain
				if c.name == "p50" || c.name == "p99" || m.One {
					ink = draw.Bold
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

// metricColumns are the width of the names and the last statistics to leave that fit a screen.
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

// fullNames is the width from which on metrics have their full names.
const fullNames = 112

// label is the metric's name and unit in so many cells.
func (m *Metric) label(cells int) draw.Row {
	name, unit := m.Name, " ("+m.Unit+")"
	if cells < 50 && m.Short != "" {
		name = m.Short
	}
	if m.Unit == "" {
		unit = ""
	}
	var r draw.Row
	return *r.To(1).Put(draw.Plain, draw.Cut(name, cells-draw.Width(unit))).Put(draw.Faint, unit).To(1 + cells)
}

// Fixed is a number with two decimals and separators; one that is too long for its cells loses decimals, never its column.
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

// separated puts commas between the groups of three digits before the point.
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

// workerStates are what a group of workers can be, in the order of the summary.
var workerStates = []string{"healthy", "high load", "error", "idle", "stale"}

// bytesWidth is the width from which on the table of workers says how many bytes they have read and written.
const bytesWidth = 100

// workers is how many groups of workers are in which state, and one row for each.
func workers(s *State, v View) draw.Rows {
	var sum, first draw.Row
	for _, state := range workerStates {
		n := 0
		for i := range s.Workers {
			if s.Workers[i].State == state {
				n++
			}
		}
		sum.Put(draw.Faint, state+" ").Put(draw.Plain, number(int64(n))+"   ")
	}
	first.To(label).Right(draw.Faint, "status", 10).Right(draw.Faint, "in flight", 11).Right(draw.Faint, "completed", 11).Right(draw.Faint, "failed", 8)
	first.Right(draw.Faint, "CPU", 7).Right(draw.Faint, "memory", 11)
	if v.Width >= bytesWidth {
		first.Right(draw.Faint, "read", 11).Right(draw.Faint, "written", 11)
	}
	rows := append(labelled("Workers", draw.Rows{sum}), first)
	for _, w := range s.Workers {
		ink := draw.Good
		switch w.State {
		case "error":
			ink = draw.Bad
		case "high load", "stale":
			ink = draw.Warn
		case "idle":
			ink = draw.Faint
		}
		var r draw.Row
		r.To(1).Left(draw.Plain, w.Name, label-1).Right(ink, w.State, 10).Right(draw.Plain, number(w.InFlight), 11).Right(draw.Plain, number(w.Done), 11).Right(draw.Plain, number(w.Failed), 8)
		cpu := "–"
		if !math.IsNaN(w.CPU) {
			cpu = fmt.Sprintf("%.0f %%", w.CPU)
		}
		r.Right(draw.Plain, cpu, 7).Right(draw.Plain, Bytes(w.Memory), 11)
		if v.Width >= bytesWidth {
			r.Right(draw.Plain, Bytes(w.Read), 11).Right(draw.Plain, Bytes(w.Written), 11)
		}
		rows = append(rows, r)
	}
	if len(s.Workers) == 0 {
		rows = append(rows, draw.Text(draw.Faint, " "+"none yet"))
	}
	return rows
}

// Bytes is an amount of data in steps of 1024; negative = not known.
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

// gpus is a table for each GPU, and the gauges of servers.
func gpus(s *State, v View) draw.Rows {
	var rows draw.Rows
	columns := []struct {
		name string
		of   func(*GPUMetric) float64
	}{
		{"current", func(m *GPUMetric) float64 { return m.Current }}, {"avg", func(m *GPUMetric) float64 { return m.Avg }},
		{"max", func(m *GPUMetric) float64 { return m.Max }}, {"p99", func(m *GPUMetric) float64 { return m.P99 }},
		{"min", func(m *GPUMetric) float64 { return m.Min }}, {"p90", func(m *GPUMetric) float64 { return m.P90 }},
		{"p50", func(m *GPUMetric) float64 { return m.P50 }}, {"std", func(m *GPUMetric) float64 { return m.Std }},
	}
	const cell = 10
	names := 32
	shown := columns[:min(len(columns), max(1, (v.Width-2-names)/cell))]
	for _, g := range s.GPUs {
		if len(rows) > 0 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, draw.Text(draw.Bold, " "+draw.CutMiddle(g.Title, v.Width-2)))
		var first draw.Row
		first.To(1 + names)
		for _, c := range shown {
			first.Right(draw.Faint, c.name, cell)
		}
		rows = append(rows, first)
		for i := range g.Rows {
			m := &g.Rows[i]
			unit := " (" + m.Unit + ")"
			var r draw.Row
			r.To(1).Put(draw.Plain, draw.Cut(m.Name, names-draw.Width(unit))).Put(draw.Faint, unit).To(1 + names)
			for k, c := range shown {
				ink := draw.Plain
				if k == 0 {
					ink = draw.Bold
				}
				r.Right(shade(c.of(m), ink), terminal.Figure(c.of(m)), cell)
			}
			rows = append(rows, r)
		}
	}
	if len(s.GPUs) == 0 {
		note := draw.Rows{}
		for i, text := range s.GPUNote {
			ink := draw.Plain
			if i > 0 {
				ink = draw.Faint
			}
			note = append(note, draw.Text(ink, draw.Cut(text, v.Width-label-1)))
		}
		rows = append(rows, labelled("GPU", note)...)
	}
	if len(s.Gauges) > 0 {
		gauges := make(draw.Rows, len(s.Gauges))
		for i, g := range s.Gauges {
			gauges[i].Left(draw.Plain, g.Name, 24).Right(draw.Bold, g.text(), 10)
		}
		rows = append(append(rows, draw.Row{}), labelled("Servers", gauges)...)
	}
	return rows
}
