package termdraw

import (
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
)

// Series is one lane of a timeline.
type Series struct {
	Name, Unit string
	Values     []float64 // by bin; NaN = unknown, or not yet
	Zeros      bool      // values of 0 are visible
	Digits     bool      // drawn as digits
	Low        bool      // needs only one row
	Extra      bool      // the first to go where there is no room for all
	Marks      []bool    // marked bins: drawn instead of values, or where these are 0
}

// Timeline is several lanes on one time axis.
type Timeline struct {
	Seconds float64 // length of a bin
	Bins    int     // of the whole plan
	Series  []Series
}

// TimelineLabel is the width of the labels of a timeline, including its axis.
const TimelineLabel = 22

// Widths of the parts of the label.
const (
	nameCells = TimelineLabel - 8
	topCells  = 6
)

// Fit returns the timeline with as many rows per lane (at most three) as fit into room rows. If not even one row per lane fits, it is without its extra
// series. 0 rows = it does not fit at all.
func (t *Timeline) Fit(room int) (fitting Timeline, rows int) {
	fitting = *t
	for rows = 3; rows > 0; rows-- {
		if fitting.height(rows) <= room {
			return fitting, rows
		}
	}
	fitting.Series = slices.DeleteFunc(slices.Clone(t.Series), func(s Series) bool { return s.Extra })
	if fitting.height(1) <= room {
		rows = 1
	}
	return fitting, rows
}

// height returns the number of rows that Draw returns.
func (t *Timeline) height(rows int) int {
	n := 2 // axis and its numbers
	for i := range t.Series {
		if s := &t.Series[i]; s.Low || s.Digits || s.Values == nil {
			n++
		} else {
			n += rows
		}
	}
	return n
}

// Draw draws the timeline at most cells wide, with up to rows rows per lane.
func (t *Timeline) Draw(cells, rows int) Rows {
	each := max(1, (cells-TimelineLabel)/max(t.Bins, 1))
	n := min(each*t.Bins, max(cells-TimelineLabel, 0))
	var out Rows
	for i := range t.Series {
		out = append(out, t.Series[i].draw(each, rows)...)
	}
	axis := []rune(strings.Repeat("─", n))
	var places []int
	var texts []string
	step := t.step(each)
	for bin := 0; bin*each < n; bin += step {
		axis[bin*each] = '┬'
		places, texts = append(places, bin*each), append(texts, Round(float64(bin)*t.Seconds))
	}
	if len(texts) > 0 {
		texts[len(texts)-1] += " s"
	}
	var line, labels Row
	line.Right(Faint, "└", TimelineLabel).Put(Faint, string(axis))
	labels.To(TimelineLabel).Put(Faint, Labels(n, places, texts))
	return append(out, line, labels)
}

// step returns the number of bins between two ticks: a round number, at least ten cells.
func (t *Timeline) step(each int) int { return max(1, int(chart.RoundStep(10/float64(each)))) }

func (s *Series) draw(each, rows int) Rows {
	marks := s.Values == nil
	if s.Low || s.Digits || marks {
		rows = 1
	}
	out := make(Rows, rows)
	top := Top(s.Values)
	var pictures []string
	wide := Stretch(s.Values, each)
	if !s.Digits {
		pictures = Columns(wide, top, rows)
	}
	for i := range out {
		name, unit, tick := "", "", ""
		switch i {
		case 0:
			name, unit, tick = s.Name, " "+s.Unit, Round(top)
		case rows - 1:
			tick = "0"
		}
		switch {
		case s.Digits:
			tick = "count"
		case marks:
			tick = ""
		}
		out[i].Put(Plain, Cut(name, nameCells))
		out[i].Left(Faint, unit, nameCells-out[i].cells).Right(Faint, tick, topCells).Put(Faint, " │")
		switch {
		case marks:
			out[i].Put(Bad, marked(s.Marks, each))
		case s.Digits:
			out[i].Put(Bad, Counts(s.Values, each))
		case i == rows-1:
			out[i].Row(lane(pictures[i], wide, s.Zeros, Stretch(s.Marks, each)))
		default:
			out[i].Put(Picture, pictures[i])
		}
	}
	return out
}

// marked returns a row with × for every marked bin.
func marked(marks []bool, each int) string {
	var b strings.Builder
	for _, m := range marks {
		if m {
			b.WriteString(strings.Repeat("×", each))
		} else {
			b.WriteString(blanks(each))
		}
	}
	return b.String()
}

// Round formats a number with three significant digits, without trailing zeros, for axes, plans and counts.
func Round(v float64) string {
	text := terminal.Figure(v)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
