package console

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// Brand is the beginning of every title.
const Brand = "AIPerf"

// Widths in characters.
const (
	minWidth    = 100
	ExportWidth = 140 // default of the console text file
)

// longHeader is the length of a name above which its unit goes to a separate line.
const longHeader = 30

// Options selects how the report is drawn.
type Options struct {
	Width     int           // of the terminal; without a terminal, values below 100 count as 100
	Colour    bool          // only on a terminal
	Terminal  bool          // tables and texts fit the width, and metric tables omit missing values; otherwise the layout is that of the specification
	ASCII     bool          // the terminal shows only ASCII, so charts use only ASCII
	AllTables bool          // on a terminal: all metric tables, not only the main one
	Spell     setting.Spell // spells the settings in advice
	Next      []NextStep    // commands that continue from the results, shown below the headline
	AllErrors bool          // every group of errors, not only the most frequent ones
}

// Console writes everything above the footer: notices, error table, metric tables, panels and the verdict.
func Console(w io.Writer, run *metric.Run, o Options) error {
	d := newDrawing(w, run, o)
	run = d.run
	d.incomplete()
	if !d.fits { // a terminal shows the metrics first
		d.advice()
		d.errorTable()
	}
	if run.ShowTrace {
		d.metrics("HTTP Trace Timing", func(m *metric.Metric) bool { return m.Flags&metric.HTTPTrace != 0 })
	}
	if run.Profiling.Valid > 0 {
		d.metricTables()
		if d.fits {
			d.errorTable()
			d.advice()
		}
		d.cacheHint()
		d.drafts()
		d.discrepancies()
		d.lengths()
	}
	d.adaptiveResults()
	if run.AllFailed() {
		if d.fits {
			d.errorTable()
		}
		d.allFailed()
	}
	d.accuracy()
	d.gpus()
	d.pictures(&o)
	d.verdict()
	return d.err
}

// Text returns the console report as the text file contains it, width columns wide.
func Text(run *metric.Run, width int, as setting.Spell) []byte {
	var b bytes.Buffer
	b.WriteString("\n")
	_ = Console(&b, run, Options{Width: width, Spell: as, AllErrors: true}) // writing to a buffer cannot fail
	return b.Bytes()
}

// groups lists the metric tables in their order; the one without a name is the main table.
var groups = []struct{ key, name string }{
	{"effective", "Effective"}, {"active", "Active"}, {"usage", "Usage"}, {"cache", "Cache"}, {"prediction", "Prediction"},
	{"audio", "Audio"}, {"reasoning", "Reasoning"}, {"default", ""},
}

// drawing keeps the first error of a sequence of writes.
type drawing struct {
	w     io.Writer
	run   *metric.Run
	style style
	width int
	fits  bool // everything is fitted to the width
	ascii bool // charts use only ASCII
	most  int  // largest number of error groups to show
	all   bool // show all metric tables
	// approximate: a figure was marked as approximate.
	approximate bool
	spell       setting.Spell
	err         error
}

// minTableWidth is the smallest width that texts are fitted to.
const minTableWidth = 40

func newDrawing(w io.Writer, run *metric.Run, o Options) *drawing {
	if o.Terminal && o.ASCII {
		w = asciiWriter{w}
	}
	d := &drawing{w: w, run: sanitized(run), style: style{o.Colour}, width: max(o.Width, minWidth), fits: o.Terminal, ascii: o.ASCII, all: o.AllTables || !o.Terminal || o.Width >= widest, spell: o.Spell}
	if o.Terminal {
		d.width = max(o.Width, minTableWidth)
	}
	d.most = errorsShown
	if o.AllErrors {
		d.most = math.MaxInt
	}
	return d
}

func (d *drawing) print(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

// say prints prose; on a terminal it is wrapped.
func (d *drawing) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if d.fits {
		text = terminal.Flow(text, d.width)
	}
	d.print("%s", text)
}

func (d *drawing) table(t *table) {
	switch {
	case d.err != nil:
	case d.fits:
		t.fit(d.room())
		if d.rule(t.title); d.err == nil {
			d.err = t.open(d.w, d.style)
		}
	default:
		d.err = t.render(d.w, d.style)
	}
}

// room returns the width of tables and charts on a terminal: longer lines are hard to read.
func (d *drawing) room() int { return min(d.width, widest) }

func (d *drawing) panel(title string, lines ...string) {
	lines = strings.Split(d.spell.Text(strings.Join(lines, "\n")), "\n")
	if d.fits {
		d.rule(title)
		for _, l := range lines {
			d.say("%s\n", l)
		}
		return
	}
	if d.err == nil {
		d.err = panel(d.w, d.style, title, lines)
	}
}

// rule starts a section of the report on a terminal.
func (d *drawing) rule(title string) {
	line := ""
	if n := d.room() - ansi.StringWidth(title) - 1; n > 0 {
		line = " " + d.style.dim(strings.Repeat("─", n))
	}
	d.print("\n%s%s\n", d.style.bold(termdraw.Cut(title, d.room())), line)
}

// metricTables writes the tables of all groups. A terminal shows only the main one and names the others, unless all are requested.
func (d *drawing) metricTables() {
	rows, left := 0, []string(nil)
	ordered := groups
	if d.fits { // the main table first
		last := len(groups) - 1
		ordered = append(slices.Clone(groups[last:]), groups[:last]...)
	}
	for _, g := range ordered {
		title := d.run.Title
		if g.name != "" {
			title += ": " + g.name
		}
		belongs := func(m *metric.Metric) bool {
			return m.Group == g.key && m.Flags&metric.ErrorOnly == 0 && (d.all || !adjusted(m))
		}
		if d.all || g.name == "" {
			d.metrics(title, belongs)
			continue
		}
		if n := len(d.resultsOf(belongs)); n > 0 {
			rows, left = rows+n, append(left, g.name)
		}
	}
	if n := len(d.resultsOf(adjusted)); n > 0 && !d.all {
		rows, left = rows+n, append(left, "Adjusted")
	}
	if rows > 0 {
		d.say("%s\n", d.style.dim(terminal.Plural(rows, "more row")+" ("+strings.Join(left, ", ")+") in the console file; "+d.spell.As("tables")+" all shows them"))
	}
}

// adjusted reports whether a metric is a copy of another one, corrected for errors.
func adjusted(m *metric.Metric) bool { return m.Kind == metric.Adjustment }

// brand returns the beginning of every title of the run.
func (d *drawing) brand() string { return cmp.Or(d.run.Brand, Brand) }

// resultsOf returns the visible results of the metrics in a table.
func (d *drawing) resultsOf(belongs func(*metric.Metric) bool) []metric.Result {
	return slices.DeleteFunc(d.run.Profiling.Shown(), func(r metric.Result) bool { return !belongs(r.Metric) })
}

// columns of a metric table.
var columns = []metric.Stat{metric.Avg, metric.Min, metric.Max, metric.P99, metric.P90, metric.P50, metric.Std}

// metrics writes the table of the metrics for which belongs is true; nothing if there are none.
func (d *drawing) metrics(title string, belongs func(*metric.Metric) bool) {
	t := &table{title: d.brand() + " | " + title, head: []string{"Metric"}}
	if d.fits {
		t.title = title
	}
	for _, s := range columns {
		t.head = append(t.head, s.String())
	}
	results := d.resultsOf(belongs)
	sorting.Stable(results, func(a, b metric.Result) int { return rank(a.Metric) - rank(b.Metric) })
	for i := range results {
		row := []string{d.label(results[i].Metric)}
		for _, s := range columns {
			row = append(row, d.number(&results[i], s))
		}
		t.rows = append(t.rows, row)
	}
	if d.fits && d.width >= pictureWidth {
		d.smallPictures(t, results)
	}
	if len(t.rows) > 0 {
		d.table(t)
	}
}

// rank orders rows: numbered metrics, then the others, then adjusted ones.
func rank(m *metric.Metric) int {
	switch {
	case m.Kind == metric.Adjustment:
		return math.MaxInt32
	case m.Order == 0:
		return math.MaxInt32 - 1
	}
	return m.Order
}

// Terminal widths from which names are written in full and each row has a chart; the width of that chart.
const (
	fullNames    = 112
	pictureWidth = 150
	pictureCells = 30
)

// label returns a metric's name with its unit; a narrow terminal shows the short name.
func (d *drawing) label(m *metric.Metric) string {
	if !d.fits {
		return label(m)
	}
	if d.width < fullNames && m.Short != "" {
		if strings.Contains(m.Short, "TPS") || strings.HasSuffix(m.Short, "/sec") || strings.HasSuffix(m.Short, "%") { // the name contains its unit
			return m.Short
		}
		return withUnit(m.Short, m.Display)
	}
	return withUnit(m.Header, m.Display)
}

func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// number formats a statistic. On a terminal a single value that counts something is an integer.
func (d *drawing) number(r *metric.Result, s metric.Stat) string {
	if d.fits && s == metric.Avg && r.Integer && r.Has(s) && !r.Has(metric.Max) && r.Values[s] == math.Trunc(r.Values[s]) {
		return trim(r.Values[s])
	}
	if !d.run.Exact(r, s) {
		d.approximate = true
		return metric.ApproximateMark + number(r, s)
	}
	return number(r, s)
}

// smallPictures appends a chart of its distribution to each metric's row.
func (d *drawing) smallPictures(t *table, results []metric.Result) {
	if d.run.Course == nil {
		return
	}
	paint := termdraw.NewPaint(d.style.colour, d.style.colour, d.ascii)
	t.head = append(t.head, "")
	t.leftAligned = make([]bool, len(t.head))
	t.leftAligned[len(t.leftAligned)-1] = true
	for i := range results {
		picture := ""
		if results[i].Kind == metric.Record {
			if s := d.run.Course.Sketch(results[i].Tag); s != nil && s.Count >= fewest && s.Max > s.Min {
				one := termdraw.Of("", "", s)
				picture = string(one.Draw(pictureCells, 1)[1].Append(nil, paint))
			}
		}
		t.rows[i] = append(t.rows[i], picture)
	}
}

// label returns a metric's name with its unit.
func label(m *metric.Metric) string {
	switch {
	case m.Display == "":
		return m.Header
	case len(m.Header) > longHeader:
		return m.Header + "\n(" + m.Display + ")"
	}
	return m.Header + " (" + m.Display + ")"
}

// number formats a statistic with two decimals and thousands separators.
func number(r *metric.Result, s metric.Stat) string {
	if !r.Has(s) {
		return missing
	}
	return terminal.Exact(r.Values[s])
}

// errorsShown is the number of error groups that are shown; the files contain all of them.
const errorsShown = 20

// errorTable lists the errors, the most frequent first.
func (d *drawing) errorTable() {
	groups := d.run.Profiling.Errors
	if len(groups) == 0 {
		return
	}
	groups, others := groups[:min(len(groups), d.most)], groups[min(len(groups), d.most):]
	if d.fits {
		d.openErrors(groups)
		d.otherErrors(others)
		return
	}
	t := &table{title: d.brand() + " | Error Summary", head: []string{"Code", "Type", "Message", "Count"}, leftAligned: []bool{false, false, true, false}}
	room := 0
	for _, g := range groups {
		room = max(room, len(g.Error.Type)+len(strconv.FormatInt(g.Count, 10)))
	}
	room = max(30, d.width-room-25)
	for _, g := range groups {
		code, kind, text := missing, missing, missing
		if g.Error.Code != 0 {
			code = strconv.Itoa(g.Error.Code)
		}
		if g.Error.Type != "" {
			kind = g.Error.Type
		}
		if g.Error.Message != "" {
			text = wrap(shorten(g.Error.Reason()), room)
		}
		t.rows = append(t.rows, []string{code, kind, text, terminal.Count(g.Count)})
	}
	d.print("\n")
	d.table(t)
	d.otherErrors(others)
}

// openErrors writes the table of errors on a terminal: count and share first, the message as the server sent it.
func (d *drawing) openErrors(groups []metric.ErrorGroup) {
	t := &table{title: "Errors", head: []string{"Count", "Share", "Code", "Type", "Message"}, leftAligned: []bool{false, false, false, true, true}, nameless: true}
	all := float64(d.run.Profiling.Valid + d.run.Profiling.Failed)
	used := 0
	for _, g := range groups {
		code := "–"
		if g.Error.Code != 0 {
			code = strconv.Itoa(g.Error.Code)
		}
		kind := termdraw.Cut(g.Error.Type, 26)
		used = max(used, ansi.StringWidth(kind))
		t.rows = append(t.rows, []string{trim(float64(g.Count)), trim1(100*float64(g.Count)/max(all, 1)) + " %", code, kind, ""})
	}
	width := t.widths()
	room := max(16, d.room()-width[0]-width[1]-width[2]-used-4*gap)
	for i, g := range groups {
		t.rows[i][4] = wrap(termdraw.Cut(strings.Join(strings.Fields(shorten(g.Error.Reason())), " "), errorLines*room-errorLines), room)
	}
	d.table(t)
}

// errorLines is the largest number of lines of an error message on a terminal; the files contain all of it.
const errorLines = 3

// otherErrors summarizes the kinds of errors that the table leaves out.
func (d *drawing) otherErrors(others []metric.ErrorGroup) {
	if len(others) > 0 {
		var n int64
		for _, g := range others {
			n += g.Count
		}
		d.say("%s\n", d.style.dim("and "+terminal.Count(len(others))+" more kinds of errors, of "+terminal.Count(n)+
			" requests; the files list them all"))
	}
}

// shorten shortens a message, so that a table stays readable if a server answers with a whole page.
func shorten(message string) string {
	const most = 600
	message = strings.Map(printable, strings.TrimSpace(message))
	if r := []rune(message); len(r) > most {
		return string(r[:most]) + "…"
	}
	return message
}
