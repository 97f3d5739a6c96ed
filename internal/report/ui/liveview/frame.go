package liveview

import (
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
)

// Panel is a part of the view that can fill the screen.
type Panel int

// The panels; their keys are their numbers.
const (
	Overview Panel = iota
	Progress
	Metrics
	Workers
	GPUs
	Log
)

// View says which part of a state is shown, and how.
type View struct {
	Width, Height int
	Panel         Panel
	Help          bool
	Asks          bool // ask the user whether to stop
	HideLog       bool
	Notice        string // reply to a key, shown instead of the key hints
	Scroll        int    // number of rows scrolled past, in panels longer than the screen
	Follows       bool   // the run is in another process and cannot be stopped here
	Web           bool   // there is a live page; a key shows its address
	All           bool   // fill all panels, because the state is shown in another process
}

// Smallest screen for the view.
const (
	MinWidth  = 60
	MinHeight = 12
)

// label is the width of the column of labels: words are left of it, right-aligned figures start at it.
const label = 17

// Frame draws the view: exactly Height rows, none wider than Width.
func Frame(s *State, v View) termdraw.Rows {
	if v.Width < 1 || v.Height < 1 {
		return nil
	}
	var rows termdraw.Rows
	if v.Width < MinWidth || v.Height < MinHeight {
		rows = tooSmall(s, v)
	} else {
		rows = append(body(s, v), footer(v))
	}
	for i := range rows {
		rows[i] = rows[i].Most(v.Width)
	}
	return rows
}

// tooSmall draws a single line, for screens that are too small.
func tooSmall(s *State, v View) termdraw.Rows {
	rows := make(termdraw.Rows, v.Height)
	rows[0] = Simple(s, v.Width)
	if v.Height > 1 {
		rows[1].Put(termdraw.Faint, termdraw.Cut(fmt.Sprintf("%d×%d is too small for the dashboard (%d×%d)", v.Width, v.Height, MinWidth, MinHeight), v.Width))
	}
	return rows
}

// body draws everything above the key hints, Height - 1 rows.
func body(s *State, v View) termdraw.Rows {
	rows := header(s, v)
	room := v.Height - 1
	switch {
	case v.Help:
		rows = append(rows, help(v)...)
	case s.Stage == Starting && v.Panel == Overview:
		rows = append(rows, attention(s))
		rows = append(rows, starting(s, v, room-len(rows))...)
	default:
		rows = append(rows, attention(s))
		if v.Height >= 24 {
			rows = append(rows, termdraw.Row{})
		}
		rows = append(rows, panel(s, v, room-len(rows))...)
	}
	for len(rows) < room {
		rows = append(rows, termdraw.Row{})
	}
	return rows[:room]
}

func panel(s *State, v View, room int) termdraw.Rows {
	switch v.Panel {
	case Progress:
		return progress(s, v, room)
	case Metrics:
		return scrolled(metrics(s, v), v, room)
	case Workers:
		return scrolled(workers(s, v), v, room)
	case GPUs:
		return scrolled(gpus(s, v), v, room)
	case Log:
		return logPanel(s, v.Width-1, room, v.Scroll)
	}
	return overview(s, v, room)
}

// scrolled returns the rows that the screen shows; the last one says how many are below.
func scrolled(rows termdraw.Rows, v View, room int) termdraw.Rows {
	if len(rows) <= room || room < 2 {
		return rows
	}
	from := min(max(v.Scroll, 0), len(rows)-room+1)
	part := append(termdraw.Rows{}, rows[from:from+room-1]...)
	left := len(rows) - from - (room - 1)
	text := fmt.Sprintf(" %d more below, ↑ ↓ PgUp PgDn scroll", left)
	if left == 0 {
		text = " end, ↑ ↓ PgUp PgDn scroll"
	}
	return append(part, termdraw.Text(termdraw.Faint, text))
}

// ink returns the ink of the current stage.
func (s *State) ink() termdraw.Ink {
	switch s.Stage {
	case Starting, Warmup:
		return termdraw.Warn
	}
	return termdraw.Work
}

func (s *State) boldInk() termdraw.Ink {
	switch s.Stage {
	case Starting, Warmup:
		return termdraw.WarnBold
	}
	return termdraw.WorkBold
}

// title returns the name of the current stage or phase.
func (s *State) title() string {
	if s.Phase != "" && (s.Stage == Warmup || s.Stage == Profiling) {
		return s.Phase
	}
	return s.Stage.String()
}

// header draws the current stage, its progress, and the plan.
func header(s *State, v View) termdraw.Rows {
	eta := ""
	if s.estimates() {
		eta = "ETA " + Span(s.Counts.ETA)
	}
	if left, ok := s.Counts.grace(); ok && s.Stage == Draining {
		eta = "most " + Span(left)
	}
	var left, right, plan termdraw.Row
	left.To(1).Left(s.boldInk(), s.title(), label-1)
	percent := "    "
	if s.Known {
		percent = fmt.Sprintf("%3.0f %%", math.Floor(100*s.Share))
	}
	right.Put(termdraw.Plain, "  "+percent+"  ").Left(termdraw.Plain, s.count(), 17).Put(termdraw.Plain, "  ").Left(termdraw.Plain, eta, 10).Put(termdraw.Plain, " ")
	left.Row(termdraw.Bar(s.Share, v.Width-left.Cells()-right.Cells(), s.ink())).Row(right)
	plan.To(1).Put(termdraw.Bold, termdraw.Cut(s.Plan.Place, label-2)).To(label).Put(termdraw.Faint, s.Plan.words(v.Width-label-1))
	return termdraw.Rows{left, plan}
}

// estimates reports whether the remaining time of the stage is known.
func (s *State) estimates() bool {
	return s.Counts.ETA >= 0 && (s.Stage == Warmup || s.Stage == Profiling || s.Stage == Processing && s.Writing.Of > 0)
}

// count describes the progress of the phase in requests, sessions or time.
func (s *State) count() string {
	c := &s.Counts
	switch s.Stage {
	case Starting:
		return ""
	case Draining:
		return fmt.Sprintf("%s still running", number(c.InFlight))
	case Processing:
		if w := s.Writing; w.Of > 0 {
			return fmt.Sprintf("%s of %s", number(w.Done), number(w.Of))
		}
		return "writing files"
	}
	switch {
	case c.Requests > 0 && (c.Duration == 0 || float64(c.Finished())/float64(c.Requests) >= c.Elapsed.Seconds()/c.Duration.Seconds()):
		return fmt.Sprintf("%s of %s req", number(c.Finished()), number(c.Requests))
	case c.Duration > 0:
		return fmt.Sprintf("%5s of %s s", fmt.Sprintf("%.1f", min(c.Elapsed, c.Duration).Seconds()), termdraw.Round(c.Duration.Seconds()))
	case c.Sessions > 0:
		return fmt.Sprintf("%s of %s sessions", number(c.SessionsDone), number(c.Sessions))
	}
	return fmt.Sprintf("%.1f s", c.Elapsed.Seconds())
}

// Words returns the whole plan.
func (p *Plan) Words() string { return p.words(math.MaxInt) }

// words returns as much of the plan as fits.
func (p *Plan) words(cells int) string {
	text := p.Model
	if text != "" && p.Target != "" {
		text += " · "
	}
	text += p.Target
	if termdraw.Width(text) > cells {
		return termdraw.CutMiddle(text, cells)
	}
	for _, more := range p.What {
		if termdraw.Width(text)+3+termdraw.Width(more) > cells {
			break
		}
		text += " · " + more
	}
	return text
}

// attention draws the line for warnings. It is always reserved, so that nothing moves when a warning appears.
func attention(s *State) termdraw.Row {
	var r termdraw.Row
	r.To(label)
	switch st := &s.Stall; {
	case s.NoNews > 0:
		r.Put(termdraw.Warn, fmt.Sprintf("no update from the run for %.0f s", s.NoNews.Seconds())).Put(termdraw.Plain, "; the figures are from then")
	case st.Now > 0:
		r.Put(termdraw.Bad, fmt.Sprintf("no answer for %4.1f s", st.Now.Seconds())).Put(termdraw.Plain, ", "+Waiting(st.Waits))
		if s.Stopping {
			r.Put(termdraw.Plain, "; ").Put(termdraw.Warn, "stopping; Ctrl+C again quits at once, without results")
		}
	case s.Stopping:
		r.Put(termdraw.Warn, "stopping: no more requests are sent").Put(termdraw.Plain, "; Ctrl+C again quits at once, without results")
	case st.Past > 0 && st.Count > 1:
		r.Put(termdraw.Warn, fmt.Sprintf("! no answer for %.1f s at %.1f s", st.Past.Seconds(), st.PastAt)).Put(termdraw.Plain, fmt.Sprintf(", the last of %d such pauses", st.Count))
	case st.Past > 0:
		r.Put(termdraw.Warn, fmt.Sprintf("! no answer for %.1f s at %.1f s", st.Past.Seconds(), st.PastAt)).Put(termdraw.Plain, ", "+terminal.Plural(st.Waits, "request")+" waited")
	}
	return r
}

// labelled writes a label in front of the first row and indents the others.
func labelled(name string, rows termdraw.Rows) termdraw.Rows {
	out := make(termdraw.Rows, max(len(rows), 1))
	for i := range out {
		if out[i].To(1); i == 0 {
			out[i].Left(termdraw.Bold, name, label-1)
		}
		if out[i].To(label); i < len(rows) {
			out[i].Row(rows[i])
		}
	}
	return out
}

// hints lists the keys of the last row, the most important first.
var hints = []struct{ key, does string }{
	{"1", "overview"}, {"2", "progress"}, {"3", "metrics"}, {"4", "client"}, {"5", "GPU"}, {"6", "log"}, {"l", "hide log"}, {"c", "copy log"},
}

func footer(v View) termdraw.Row {
	switch {
	case v.Asks && v.Follows:
		return termdraw.Text(termdraw.Question, filled(" Leave? y = leave; the run continues   any other key = stay", v.Width))
	case v.Asks:
		return termdraw.Text(termdraw.Question, filled(" Stop now? y = stop, wait for the last answers, write results   any key = continue", v.Width))
	case v.Notice != "":
		return termdraw.Text(termdraw.Warn, termdraw.Cut(" "+v.Notice, v.Width))
	}
	var left, right termdraw.Row
	stop := " stop  "
	if v.Follows {
		stop = " leave  "
	}
	right.Put(termdraw.Bold, "q").Put(termdraw.Faint, stop).Put(termdraw.Bold, "?").Put(termdraw.Faint, " keys ")
	left.To(1)
	for i, h := range hints {
		ink, does := termdraw.Faint, h.does
		if Panel(i) == v.Panel {
			ink = termdraw.Bold
		}
		if h.key == "l" && v.HideLog {
			does = "show log"
		}
		if left.Cells()+len(h.key)+len(does)+3+right.Cells() < v.Width {
			left.Put(termdraw.Bold, h.key).Put(ink, " "+does).Put(termdraw.Plain, "  ")
		}
	}
	return termdraw.Ends(left, right, v.Width)
}

// filled pads a text with blanks to a width.
func filled(text string, cells int) string {
	var r termdraw.Row
	return r.Left(termdraw.Plain, text, cells).Plain()
}

func help(v View) termdraw.Rows {
	lines := []string{
		"1  Esc     overview",
		"2          progress        3  all metrics",
		"4          client, workers 5  GPU and servers",
		"6          log             l  hide or show the log",
		"↑ ↓ PgUp PgDn scroll       double click  only this panel, and back",
		"c          copy the log    Ctrl+S  save this screen (text, SVG)",
		"q          stop (asks)     Ctrl+C  stop at once and write results",
		"           Ctrl+C again quits without results",
	}
	if v.Follows {
		lines = append(lines[:6], "q          leave (asks)    Ctrl+C  leave; the run continues")
	}
	if v.Web {
		lines = append(lines, "w          address of the live page, also to the clipboard")
	}
	rows := termdraw.Rows{{}, termdraw.Text(termdraw.Bold, " Keys"), {}}
	for _, l := range lines {
		rows = append(rows, termdraw.Text(termdraw.Plain, "   "+l))
	}
	if v.Height < 16 { // there is no room for empty lines
		rows = rows[1:]
	}
	return append(rows, termdraw.Row{}, termdraw.Text(termdraw.Faint, "   ? or Esc closes this"))
}

// Span formats a duration for people: 42s, 3m 05s, 2h 04m.
func Span(d time.Duration) string {
	switch s := int64(max(d, 0) / time.Second); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	}
}

// number formats an integer with separators.
func number(n int64) string {
	if n > -1000 && n < 1000 {
		return fmt.Sprint(n)
	}
	return terminal.Figure(float64(n))
}

// Scrollable returns how far the panel can be scrolled.
func Scrollable(s *State, v View) int {
	room := v.Height - 4
	if v.Height >= 24 {
		room--
	}
	switch v.Panel {
	case Metrics:
		return max(0, len(metrics(s, v))-room+1)
	case Workers:
		return max(0, len(workers(s, v))-room+1)
	case GPUs:
		return max(0, len(gpus(s, v))-room+1)
	case Log:
		return max(0, len(logPanel(s, v.Width-1, math.MaxInt/2, 0))-room)
	}
	return 0
}

// PanelAt returns the panel to which a row of the overview belongs.
func PanelAt(rows termdraw.Rows, row int) Panel {
	for ; row > 2 && row < len(rows); row-- {
		text := rows[row].Plain()
		switch {
		case strings.HasPrefix(text, " Log "):
			return Log
		case strings.HasPrefix(text, " Counts"), strings.HasPrefix(text, " Errors  "), strings.HasPrefix(text, " Slowest"):
			return Progress
		case strings.HasPrefix(text, " TTFT"), strings.HasPrefix(text, " Latency"), strings.HasPrefix(text, " Requests"), strings.HasPrefix(text, " Tokens"), strings.HasPrefix(text, " ITL"), strings.HasPrefix(text, " In flight"):
			return Metrics
		}
	}
	return Progress
}
