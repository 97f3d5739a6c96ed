package console

import (
	"io"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/termdraw"
)

// Headline writes the most important results of a run. It comes last, next to the shell prompt. The six figures have the names and the order of the
// live view. The verdict follows, then the directory dir of the run's files and their number files.
func Headline(w io.Writer, run *metric.Run, dir string, files int, o Options) error {
	d := newDrawing(w, run, o)
	run = d.run
	d.figures()
	if v := run.Validity; v != nil {
		d.headline("Verdict", d.shortVerdict(v))
	}
	d.headline("Results", terminal.Plural(files, "file")+" in "+terminal.Line(dir))
	for _, n := range o.Next {
		d.headline(n.Label, terminal.Line(n.Command))
	}
	return d.err
}

// shortVerdict returns the verdict in one clause. If 1 % of the requests or more failed, it begins with their share.
func (d *drawing) shortVerdict(v *metric.Validity) string {
	word, rest, paint := string(v.Verdict), strings.TrimPrefix(v.Short(), string(v.Verdict)), d.style.bold
	if v.Verdict != metric.VerdictValid {
		paint = d.style.red
	}
	if failed := metric.FailedPercent(d.run.Failures()); failed != "" {
		word, rest, paint = failed+" failed", "; "+word+rest, func(text string) string { return d.style.paint(paintWarn, text) }
	}
	return paint(word) + termdraw.Cut(rest, max(d.room()-labelled-len(word), 0))
}

// NextStep is a command that continues from the results of a run.
type NextStep struct{ Label, Command string }

// headColumn is one figure of the headline: its name, the main value, and a second value.
type headColumn struct {
	name, first, second string
	share               int // share of the width, in parts
}

// figures writes the six figures as columns: name, main value, second value.
func (d *drawing) figures() {
	s := d.run.Profiling
	rate := func(name, tag, second string) (c headColumn, ok bool) {
		v := s.Value(tag, metric.Avg)
		return headColumn{name, terminal.Figure(v), second, 3}, !math.IsNaN(v)
	}
	var list []headColumn
	if c, ok := rate("Requests/s", "request_throughput", trim(float64(s.Valid))+" ok"); ok {
		list = append(list, c)
	}
	user := ""
	if v := s.Value("output_token_throughput_per_user", metric.P50); !math.IsNaN(v) {
		user = terminal.Figure(v) + " /user"
	}
	if c, ok := rate("Tokens/s out", "output_token_throughput", user); ok {
		list = append(list, c)
	}
	for _, l := range []struct{ name, tag string }{{"TTFT", "time_to_first_token"}, {"ITL", "inter_token_latency"}, {"Latency", "request_latency"}} {
		if r, ok := s.Get(l.tag); ok && !math.IsNaN(r.Values[metric.P50]) {
			of := func(name string, q metric.Stat) string {
				mark := ""
				if !d.run.Exact(&r, q) {
					mark = metric.ApproximateMark
				}
				return name + " " + mark + terminal.Figure(r.Values[q]) + " " + r.Display
			}
			tail := tailOf(s.Valid)
			list = append(list, headColumn{l.name, of("p50", metric.P50), of(tail.String(), tail), 4})
		}
	}
	share := ""
	if all := s.Valid + s.Failed; all > 0 {
		share = trim1(100*float64(s.Failed)/float64(all)) + " %"
	}
	list = append(list, headColumn{"Errors", trim(float64(s.Failed)), share, 2})
	width := min(d.room(), headlineWidth)
	about := d.run.Subject
	if about == "" {
		about = d.run.Title
	}
	title := strings.Repeat("━", 2) + " " + termdraw.Cut(about, width-4) + " "
	d.print("\n%s\n", d.style.bold(title+strings.Repeat("━", max(width-ansi.StringWidth(title), 0))))
	need := 0
	for _, c := range list {
		need += 1 + max(ansi.StringWidth(c.name), ansi.StringWidth(c.first), ansi.StringWidth(c.second))
	}
	if half := (len(list) + 1) / 2; need > width { // two rows of figures
		d.headColumns(list[:half], width, 0)
		d.headColumns(list[half:], width, 0)
		return
	}
	d.headColumns(list, width, headlineParts)
}

// tailOf returns the highest statistic that a number of requests supports.
func tailOf(requests int64) metric.Stat {
	switch {
	case requests >= stats.FewestForP99:
		return metric.P99
	case requests >= stats.FewestForP90:
		return metric.P90
	}
	return metric.Max
}

// headColumns writes figures below their names in width columns. Each figure gets its share of parts; parts = 0 means that they fill the width.
func (d *drawing) headColumns(list []headColumn, width, parts int) {
	if parts == 0 {
		for _, c := range list {
			parts += c.share
		}
	}
	for row := range 3 {
		line, paint := "", []func(string) string{d.style.dim, d.style.bold, func(text string) string { return text }}[row]
		used, sum := 0, 0
		for _, c := range list {
			text := [3]string{c.name, c.first, c.second}[row]
			sum += c.share
			end := width * sum / parts
			line += strings.Repeat(" ", max(end-used-ansi.StringWidth(text), 1))
			used = max(end, used+1+ansi.StringWidth(text))
			if p := paint; c.name == "Errors" && row == 1 && d.run.Profiling.Failed > 0 {
				p = d.style.red
				text = p(text)
			} else {
				text = p(text)
			}
			line += text
		}
		d.print("%s\n", line)
	}
}

// headlineWidth is the largest width of the figures, headlineParts the sum of the shares of all six. If some figures are missing, the others keep
// their positions.
const (
	headlineWidth = 120
	headlineParts = 3 + 3 + 4 + 4 + 4 + 2
)

// labelled is the width of the labels of the headline.
const labelled = 12

// headline writes one line with a label; nothing for an empty text.
func (d *drawing) headline(label, text string) {
	if text != "" {
		d.print("%s%*s%s\n", d.style.bold(label), labelled-len(label), "", text)
	}
}
