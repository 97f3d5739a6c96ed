package explanation

import (
	"fmt"
	"io"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/runfiles"
)

// mostNamed is the number of facts that the console and the page put into sentences; tables list more.
const mostNamed = 5

// WriteText prints the explanation. width is that of the terminal; 0 = no terminal. all also lists the facts that are not significant.
func (e *Explanation) WriteText(w io.Writer, width int, all bool) error {
	var b strings.Builder
	line := func(text string) {
		if width > 0 {
			text = terminal.Hang(text, width, 2)
		}
		b.WriteString(text + "\n")
	}
	line(e.Headline())
	b.WriteString("\n")
	for n, text := range e.Sentences() {
		line(fmt.Sprintf("%d. %s", n+1, text))
	}
	for _, text := range e.Remarks() {
		line(text)
	}
	if rows := e.Rows(all); len(rows) > 0 {
		b.WriteString("\n")
		writeTable(&b, rows, width)
	}
	b.WriteString("\n")
	if len(e.Named()) > 0 {
		line(Caveat)
	}
	line(e.Tested())
	for _, text := range e.Server.Sentences() {
		line(text)
	}
	_, err := io.WriteString(w, terminalSafe(b.String()))
	return err
}

// Block prints what the slow requests of a finished run have in common, without the table, for the report at the end of the run. A run without records or with
// too few requests has no block.
func Block(w io.Writer, dir string, width int) error {
	if !runfiles.HasRecords(dir) {
		return nil
	}
	e, err := Explain(runfiles.Open(dir), Options{})
	if err != nil {
		return nil //nolint:nilerr // the report is complete without it, and the command explain says why there is none
	}
	var b strings.Builder
	line := func(text string) { b.WriteString(terminal.Hang(terminal.Text(text), max(width, narrowest), 2) + "\n") }
	b.WriteString("\nWhat the slow requests have in common\n")
	line(e.Headline())
	for n, text := range e.Sentences() {
		line(fmt.Sprintf("%d. %s", n+1, text))
	}
	for _, text := range e.Remarks() {
		line(text)
	}
	if len(e.Named()) > 0 {
		line(Caveat)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// narrowest is the smallest width of a block.
const narrowest = 60

// terminalSafe removes control characters from names of servers and metrics, which are foreign text.
func terminalSafe(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Text(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Sentences returns the strongest findings in words.
func (e *Explanation) Sentences() (list []string) {
	for _, f := range e.Named() {
		if len(list) < mostNamed {
			list = append(list, f.Sentence)
		}
	}
	return list
}

// Remarks returns what else is to be said: findings by definition, time, and that nothing is significant.
func (e *Explanation) Remarks() (list []string) {
	if text := e.Nothing(); text != "" && !e.Bunches.Together {
		list = append(list, text)
	}
	if text := e.When(); text != "" {
		list = append(list, text)
		if text := e.Nothing(); text != "" {
			list = append(list, text)
		}
	}
	for _, f := range e.Defined() {
		list = append(list, e.DefinitionSentence(f))
	}
	if text := e.vagueSizes(); text != "" {
		list = append(list, text)
	}
	return list
}

// vagueSizes names the significant facts whose interval contains 0; "" = there are none. The two do not exclude each other: p is computed from random
// orders of the run, as if there were no association, and the interval from a few parts of the run as they are.
func (e *Explanation) vagueSizes() string {
	var names []string
	for _, f := range e.Named() {
		if f.Low <= 0 && f.High >= 0 {
			names = append(names, `"`+f.Label+`"`)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("The size of the effect is hardly known for %s: the interval contains 0. A small p says only that chance does not explain the association; a longer run narrows the interval.", strings.Join(names, ", "))
}

// Tested says how many facts were tested, and which are missing.
func (e *Explanation) Tested() string {
	text := fmt.Sprintf("Tested: %s, together with a 5 %% chance of any false alarm; neighbouring requests are not taken as independent.", terminal.Plural(len(e.Facts)+1, "fact"))
	if len(e.Missing) > 0 {
		text += " Not recorded in this run: " + strings.Join(e.Missing, "; ") + "."
	}
	return text
}

// Row is a row of the table of facts.
type Row struct {
	Finding                   *Finding
	Slow, Rest, Effect, Holms string
}

// Rows returns the table of the facts that are significant, or of all.
func (e *Explanation) Rows(all bool) (list []Row) {
	for i := range e.Facts {
		f := &e.Facts[i]
		if !all && !f.Significant() {
			continue
		}
		r := Row{Finding: f, Effect: fmt.Sprintf("%+.2f (%+.2f to %+.2f)", f.Effect, f.Low, f.High), Holms: chance(f.Holm)}
		if f.TwoValued {
			r.Slow, r.Rest = percent(f.Slow.Share), percent(f.Rest.Share)
		} else {
			r.Slow, r.Rest = figure(f.Slow.Median), figure(f.Rest.Median)
		}
		list = append(list, r)
	}
	return list
}

// Title returns the label of a finding with its unit, and marks facts by definition.
func (f *Finding) Title() string {
	text := f.Label
	if f.Unit != "" {
		text += " (" + f.Unit + ")"
	}
	if f.Definition != "" {
		text += ", by definition"
	}
	return text
}

// chance formats a p-value.
func chance(p float64) string {
	switch {
	case p < 0.0001:
		return "<0.0001"
	case p >= 0.9995:
		return "1"
	}
	return fmt.Sprintf("%.2g", p)
}

// writeTable prints the facts in columns. On a narrow terminal the label has a separate line.
func writeTable(b *strings.Builder, rows []Row, width int) {
	head := []string{"Fact", "Slow", "Others", "Effect (95 % interval)", "p"}
	cells := [][]string{head}
	for _, r := range rows {
		cells = append(cells, []string{terminal.Text(r.Finding.Title()), r.Slow, r.Rest, r.Effect, r.Holms})
	}
	wide := make([]int, len(head))
	for _, row := range cells {
		for i, c := range row {
			wide[i] = max(wide[i], len([]rune(c)))
		}
	}
	total := 0
	for _, n := range wide {
		total += n + 2
	}
	narrow := width > 0 && total-2 > width
	for _, row := range cells {
		if narrow {
			b.WriteString(terminal.Shorten(row[0], max(8, width)) + "\n  ")
			row = row[1:]
		}
		for i, c := range row {
			k := i
			if narrow {
				k++
			}
			pad := strings.Repeat(" ", max(0, wide[k]-len([]rune(c))))
			switch {
			case k == 0:
				b.WriteString(c + pad)
			case i == 0:
				b.WriteString(pad + c)
			default:
				b.WriteString("  " + pad + c)
			}
		}
		b.WriteString("\n")
	}
}
