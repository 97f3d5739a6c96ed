package comparison

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// severity sorts outcomes by importance to the reader.
var severity = map[Outcome]int{Worse: 0, Better: 1, Cannot: 2, Same: 3}

// Worst returns the lines sorted for the report, worst first.
func (r *Result) Worst() []Line {
	list := slices.Clone(r.Lines)
	sorting.Stable(list, func(a, b Line) int { return severity[a.Outcome] - severity[b.Outcome] })
	return list
}

// Bounded reports whether an end of an interval is a useful bound: an increase below ten times, or a decrease below 99 %. For an error rate, every
// finite end is.
func (l *Line) Bounded(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (l.Tag == "error_rate" || v < 10 && v > -0.99)
}

// figures formats both sides, the difference and its interval, with the unit once.
func (l *Line) figures() (a, b, difference, interval string) {
	unit, show := " %", func(v float64) string { return fmt.Sprintf("%.4g", v) }
	if l.Tag == "error_rate" {
		unit, show = " points", func(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }
	}
	share := func(v float64) string {
		if !l.Bounded(v) {
			return "unbounded"
		}
		return strings.Replace(fmt.Sprintf("%+.1f", 100*v), "-0.0", "+0.0", 1)
	}
	interval = share(l.Low) + " to " + share(l.High) + unit
	if !l.Bounded(l.Low) && !l.Bounded(l.High) {
		interval = "unbounded"
	}
	return show(l.A), show(l.B), share(l.Difference) + unit, interval
}

// name returns the name of a line's statistic.
func (l *Line) name() string { return strings.ReplaceAll(l.Tag, "_", " ") + " " + l.Stat }

// Sentence describes one line.
func (l *Line) Sentence(confidence float64) string {
	a, b, difference, interval := l.figures()
	text := fmt.Sprintf("%s: %s", l.name(), l.Outcome)
	if l.Outcome == Same {
		text += " " + l.within()
	}
	if l.Unit != "" {
		b += " " + l.Unit
	}
	text += fmt.Sprintf(", %s -> %s, %s (%g %% interval %s)", a, b, difference, 100*confidence, interval)
	if l.Reason != "" {
		text += "; " + l.Reason
	}
	if l.Needed != "" {
		text += "; it would take " + l.Needed
	}
	return text + "."
}

// within names the margin.
func (l *Line) within() string {
	unit := " %"
	if l.Tag == "error_rate" {
		unit = " points"
	}
	return fmt.Sprintf("within %g%s", 100*l.Margin, unit)
}

// why says what the figures of a line do not show: the margin that it is within, a reason, and what would decide.
func (l *Line) why() string {
	var parts []string
	if l.Outcome == Same {
		parts = append(parts, l.within())
	}
	if l.Reason != "" {
		parts = append(parts, l.Reason)
	}
	if l.Needed != "" {
		parts = append(parts, "it would take "+l.Needed)
	}
	return strings.Join(parts, "; ")
}

// short are names of metrics for narrow tables. Names of throughputs include the unit.
var short = map[string]string{
	"time_to_first_token": "TTFT", "inter_token_latency": "ITL", "request_latency": "latency", "request_throughput": "requests/s", "output_token_throughput": "tokens/s",
	"goodput": "goodput/s", "error_rate": "errors",
}

// brief returns the name of a line in a narrow table.
func (l *Line) brief() string {
	if l.higherIsBetter || l.Tag == "error_rate" {
		return short[l.Tag]
	}
	return short[l.Tag] + " " + l.Stat
}

// WriteTable writes one row per statistic, in the order of the family. If the table is wider than width columns, it uses short names without units.
// Width 0 means no limit.
func (r *Result) WriteTable(w io.Writer, width int) error {
	text, err := r.table(false)
	if err == nil && width > 0 && widest(text) > width {
		text, err = r.table(true)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// widest returns the length of the longest line, in characters.
func widest(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return most
}

func (r *Result) table(narrow bool) (string, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	name, title, unit := (*Line).name, "metric", func(text string) string { return text + "\t" }
	if narrow {
		name, title, unit = (*Line).brief, "metric, ms", func(string) string { return "" }
	}
	wide := len(title)
	for i := range r.Lines {
		wide = max(wide, len(name(&r.Lines[i])))
	}
	fmt.Fprintf(t, "%-*s\tA\tB\t%sdifference\t%g %% interval\tverdict\t\n", wide, title, unit("unit"), 100*r.Options.Confidence)
	for i := range r.Lines {
		l := &r.Lines[i]
		a, b, difference, interval := l.figures()
		fmt.Fprintf(t, "%-*s\t%s\t%s\t%s%s\t%s\t%s\t\n", wide, name(l), a, b, unit(l.Unit), difference, interval, l.Outcome)
	}
	if err := t.Flush(); err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimPrefix(line, "  ")) // margin before the first column
	}
	return out.String(), nil
}

// machineChangeTime is a time after which the state of a machine may have changed.
const machineChangeTime = 2 * time.Minute

const noTurnsNote = "%s ended before %s began, so a change of the machine over time looks like a difference. To avoid this, use aiperf ab"

// order adds a note if all runs of one side ended before those of the other began.
func (r *Result) order() {
	span := func(side []Run) (first, last int64) {
		first, last = math.MaxInt64, math.MinInt64
		for i := range side {
			first, last = min(first, side[i].Wall), max(last, side[i].Wall+int64((side[i].Seconds+side[i].Skip)*1e9))
		}
		return first, last
	}
	a0, a1 := span(r.A)
	b0, b1 := span(r.B)
	if max(a1, b1)-min(a0, b0) < int64(machineChangeTime) {
		return
	}
	switch {
	case a1 <= b0:
		r.Notes = append(r.Notes, fmt.Sprintf(noTurnsNote, "A", "B"))
	case b1 <= a0:
		r.Notes = append(r.Notes, fmt.Sprintf(noTurnsNote, "B", "A"))
	}
}

// spread adds a note on how much the runs of one side differ, if it has several.
func (r *Result) spread(one bool) {
	if one {
		return
	}
	var of [2]float64
	for k, side := range [][]Run{r.A, r.B} {
		var means []float64
		for i := range side {
			means = append(means, math.Log(stats.Mean(side[i].Values["request_latency"])))
		}
		of[k] = stats.SampleStd(means)
	}
	if sum := of[0] + of[1]; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
		r.Notes = append(r.Notes, fmt.Sprintf("the mean latency varies between runs by %.1f %% in A and %.1f %% in B (standard deviation); the intervals include this", 100*of[0], 100*of[1]))
	}
}
