package termdraw

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/terminal"
)

// eighths are columns from empty to a full cell in steps of an eighth; parts are the same for bars.
var (
	eighths = []rune(" ▁▂▃▄▅▆▇█")
	parts   = []rune(" ▏▎▍▌▋▊▉█")
)

// Bar returns a bar of cells cells, filled to a share of 0 to 1.
func Bar(share float64, cells int, ink Ink) Row {
	var r Row
	if cells < 1 {
		return r
	}
	if math.IsNaN(share) {
		share = 0
	}
	n := int(math.Round(min(max(share, 0), 1) * float64(8*cells)))
	full := strings.Repeat("█", n/8)
	if n%8 > 0 {
		full += string(parts[n%8])
	}
	r.Put(ink, full)
	return *r.Put(Faint, strings.Repeat("─", cells-r.cells))
}

// Columns draws one column per value, rows cells high, from the top row down. NaN and 0 are blank; the smallest other value is visible. An eighth of a
// cell stays empty above the highest column, so that charts below each other never touch.
func Columns(values []float64, top float64, rows int) []string {
	out := make([]string, rows)
	line := make([]rune, len(values))
	for row := range rows {
		for i, v := range values {
			line[i] = ' '
			if v > 0 && top > 0 {
				n := max(1, int(math.Ceil(min(1, v/top)*float64(8*rows-1)-.5))) - 8*(rows-1-row)
				line[i] = eighths[min(max(n, 0), 8)]
			}
		}
		out[row] = string(line)
	}
	return out
}

// Lane returns one row of columns. With zeros, a value of 0 is a dot, because a blank also means "not yet"; it is × where wrong is set.
func Lane(values []float64, top float64, zeros bool, wrong []bool) Row {
	return lane(Columns(values, top, 1)[0], values, zeros, wrong)
}

func lane(text string, values []float64, zeros bool, wrong []bool) Row {
	var r Row
	ink, part, i := Picture, make([]byte, 0, len(text)), 0
	for at, picture := range text {
		next := Picture
		switch {
		case !zeros || values[i] != 0:
		case i < len(wrong) && wrong[i]:
			next, picture = Bad, '×'
		default:
			next, picture = Faint, '·'
		}
		if next != ink && at > 0 {
			r.Put(ink, string(part))
			part = part[:0]
		}
		ink, part, i = next, utf8.AppendRune(part, picture), i+1
	}
	r.Put(ink, string(part))
	return r
}

// Top returns a round number not below any value, so that the top of an axis does not change with every value.
func Top(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if v > most { // not NaN
			most = v
		}
	}
	if most == 0 || math.IsInf(most, 1) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, m := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if most <= m*unit*1.0001 {
			return m * unit
		}
	}
	return 10 * unit
}

// binLengths are the possible lengths of a timeline's bins, in seconds.
var binLengths = []float64{.05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400}

// Bin chooses the bins of a timeline of span seconds and cells cells: their length in seconds, their number, and the cells of each.
func Bin(span float64, cells int) (seconds float64, bins, each int) {
	cells = max(cells, 1)
	for _, b := range binLengths {
		if n := max(1, int(math.Ceil(span/b-1e-9))); n <= cells && b >= span/80 {
			return b, n, max(1, cells/n)
		}
	}
	return span / float64(cells), cells, 1
}

// Stretch repeats every value each times.
func Stretch[T any](values []T, each int) []T {
	out := make([]T, 0, len(values)*each)
	for _, v := range values {
		for range each {
			out = append(out, v)
		}
	}
	return out
}

// Counts returns a row of digits, one per value, each cells wide: 1 to 9, + for more, blank for none.
func Counts(values []float64, each int) string {
	var b strings.Builder
	for _, v := range values {
		c := " "
		switch {
		case v >= 10:
			c = "+"
		case v >= 1:
			c = strconv.Itoa(int(v))
		}
		b.WriteString(c + blanks(each-1))
	}
	return b.String()
}

// Distribution is the data of a distribution chart, in a unit of its choice.
type Distribution struct {
	Name          string
	Unit          string
	Bins          []Count // ascending; each at most 1 % of its value wide
	Min, Max      float64
	P50, P90, P99 float64
}

// Count is the number of values near a value.
type Count struct {
	Value float64
	N     int64
}

// Draw draws the distribution on a logarithmic axis that ends at 1.3 × p99; values beyond are described in words. A linear axis would put everything
// into one column as soon as there is one long wait.
func (d *Distribution) Draw(cells, rows int) Rows {
	const margin = 1.03
	low, high := d.Min/margin, min(d.Max*margin, d.P99*1.3)
	if !(low > 0) {
		low = high / 1e4
	}
	if !(high > low) {
		high = low * margin * margin
	}
	at := func(v float64) int {
		return min(max(int(float64(cells)*math.Log(v/low)/math.Log(high/low)), 0), cells-1)
	}
	heights, beyond := make([]float64, cells), int64(0)
	for _, b := range d.Bins {
		switch {
		case b.Value > high:
			beyond += b.N
		case b.Value > 0:
			heights[at(b.Value)] += float64(b.N)
		default:
			heights[0] += float64(b.N)
		}
	}
	var title, more Row
	scale := "  " + d.Unit + ", log scale"
	if cells < 60 {
		scale = "  " + d.Unit + ", log"
	}
	title.Put(Bold, d.Name).Put(Faint, scale)
	if beyond > 0 {
		more.Put(Faint, "+"+Round(float64(beyond))+" up to ").Put(Plain, terminal.Figure(d.Max)).Put(Faint, " →")
	}
	out := Rows{Ends(title, more, cells)}
	for _, line := range Columns(heights, maximum(heights), rows) {
		out = append(out, Text(Picture, line))
	}
	axis := []rune(strings.Repeat("─", cells))
	var places []int
	var texts []string
	for _, p := range []struct {
		name  string
		value float64
	}{{"p50", d.P50}, {"p90", d.P90}, {"p99", d.P99}} {
		axis[at(p.value)] = '┬'
		places, texts = append(places, at(p.value)), append(texts, p.name+" "+terminal.Figure(p.value))
	}
	return append(out, Text(Faint, string(axis)), Text(Faint, Labels(cells, places, texts)))
}

func maximum(values []float64) float64 {
	m := 0.0
	for _, v := range values {
		m = max(m, v)
	}
	return m
}

// Labels writes texts under their columns. A text that would touch the previous one is moved a little, or omitted.
func Labels(cells int, at []int, texts []string) string {
	line := []rune(strings.Repeat(" ", cells))
	end := -1
	for i, text := range texts {
		t := []rune(text)
		if len(t) > cells {
			continue
		}
		p := min(max(at[i]-len(t)/2, 0), cells-len(t))
		if p <= end {
			const aside = 8
			if end+1-p > aside || end+1+len(t) > cells {
				continue
			}
			p = end + 1
		}
		copy(line[p:], t)
		end = p + len(t)
	}
	return string(line)
}
