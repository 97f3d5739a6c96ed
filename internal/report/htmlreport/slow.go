package htmlreport

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/explanation"
	"aiperf/internal/report/runfiles"
)

// slow adds what the slow requests have in common. e = nil: it is computed here, for the time to first token or the latency.
func (b *builder) slow(run *runfiles.Run, e *explanation.Explanation) error {
	one := section{ID: "slow", Title: "What the slow requests have in common"}
	if e == nil {
		made, err := explanation.Explain(run, explanation.Options{})
		switch {
		case errors.Is(err, runfiles.ErrRange):
			return err
		case err != nil:
			one.Empty = sentenceOf(err.Error())
			b.Sections = append(b.Sections, one)
			return nil
		}
		e = made
	}
	one.Lead, one.Items, one.Notes = e.Headline(), e.Sentences(), e.Remarks()
	if len(e.Named()) > 0 {
		one.Notes = append(one.Notes, explanation.Caveat)
	}
	if rows := e.Rows(false); len(rows) > 0 {
		one.Tables = append(one.Tables, factTable("Significant facts", rows))
	}
	one.Own = foldedFacts(e)
	b.Sections = append(b.Sections, one)
	return b.serverModel(e.Server)
}

// sentenceOf makes a sentence of an error.
func sentenceOf(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// factTable lists facts with their effects drawn.
func factTable(caption string, rows []explanation.Row) *table {
	t := &table{Caption: caption, Class: "numbers explained", Head: []string{"Fact", "Slow requests", "Others", "Effect", "From −1 to 1, with its 95 % interval", "p"}}
	for _, r := range rows {
		f := r.Finding
		name := cellText{Text: f.Label, Below: f.Unit, Strong: f.Significant() && f.Definition == ""}
		if f.Definition != "" {
			name.Below = "by definition: " + f.Definition
		}
		t.Rows = append(t.Rows, []cellText{name, {Text: r.Slow}, {Text: r.Rest}, {Text: fmt.Sprintf("%+.2f", f.Effect)}, {Text: "", Drawn: effectDrawing(f)}, {Text: r.Holms}})
	}
	return t
}

// effectDrawing draws an effect with its interval, from -1 to 1.
func effectDrawing(f *explanation.Finding) node {
	x := func(v float64) string { return fmt.Sprintf("%.1f", (1+max(-1, min(1, v)))*(forestWide-8)/2+4) }
	class, middle, bottom := "interval cannot-tell", fmt.Sprint(forestTall/2), fmt.Sprint(forestTall)
	if f.Significant() {
		class = "interval worse"
	}
	label := fmt.Sprintf("effect %+.2f, 95 %% interval %+.2f to %+.2f", f.Effect, f.Low, f.High)
	return el("svg", attrs{"class", class, "width", fmt.Sprint(forestWide), "height", bottom, "viewBox", fmt.Sprintf("0 0 %d %d", forestWide, forestTall), "role", "img", "aria-label", label},
		el("line", attrs{"class", "zero", "x1", x(0), "x2", x(0), "y1", "0", "y2", bottom}),
		el("line", attrs{"class", "span", "x1", x(f.Low), "x2", x(f.High), "y1", middle, "y2", middle}),
		el("circle", attrs{"class", "dot", "cx", x(f.Effect), "cy", middle, "r", "4"}))
}

// foldedFacts returns the facts that are not significant, folded, and what was tested.
func foldedFacts(e *explanation.Explanation) node {
	rows := slices.DeleteFunc(e.Rows(true), func(r explanation.Row) bool { return r.Finding.Significant() })
	out := t("p", "note", e.Tested())
	if len(rows) == 0 {
		return out
	}
	return out + el("details", attrs{"class", "panel"}, t("summary", "", terminal.Plural(len(rows), "fact")+" that may differ by chance"), factTable("Facts that may differ by chance", rows).node())
}

// mostDots is the largest number of requests drawn in a chart of the model.
const mostDots = 2000

// serverModel adds the model of the server, if it was asked for.
func (b *builder) serverModel(m *explanation.ServerModel) error {
	if m == nil {
		return nil
	}
	one := section{ID: "server", Title: "Model of the server", Lead: "A small linear model, fitted to the requests of this run. It is drawn only where there are measurements, and says nothing outside of them."}
	for _, f := range []*explanation.Fit{&m.TTFT, &m.ITL} {
		if f.Reason != "" {
			one.Notes = append(one.Notes, "No model of "+f.Name+": "+f.Reason+".")
			continue
		}
		t := &table{Caption: fmt.Sprintf("%s: the model explains %.0f %% of the spread of %s", f.Name, 100*f.Explained, terminal.Plural(f.Requests, "request")), Class: "numbers", Head: []string{"Term", "Value", "95 % interval", "Unit", "Measured from", "to"}}
		for j, term := range f.Terms {
			row := []cellText{{Text: term.Name}, {Text: figure(term.Value)}, {Text: figure(term.Low) + " to " + figure(term.High)}, {Text: term.Unit}, {Text: "–"}, {Text: "–"}}
			if j > 0 {
				row[4].Text, row[5].Text = figure(term.Range[0]), figure(term.Range[1])
			}
			t.Rows = append(t.Rows, row)
		}
		if v, low, high, ok := f.Speed(); ok && f == &m.TTFT {
			t.Rows = append(t.Rows, []cellText{{Text: "prefill speed", Strong: true}, {Text: figure(v)}, {Text: figure(low) + " to " + figure(high)}, {Text: "tokens/s"}, {Text: "–"}, {Text: "–"}})
		}
		one.Tables = append(one.Tables, t)
		for _, c := range modelCharts(f) {
			if err := b.chart(&one, c, false, false); err != nil {
				return err
			}
		}
		for _, o := range f.Omitted {
			one.Notes = append(one.Notes, f.Name+": excluded, because "+o+".")
		}
	}
	b.Sections = append(b.Sections, one)
	return nil
}

// modelCharts draws the measured values with the model, and what the model leaves over.
func modelCharts(f *explanation.Fit) []*chart.Chart {
	var x, y, left, fitted []float64
	for k := range min(mostDots, len(f.X)) {
		i := k * len(f.X) / min(mostDots, len(f.X))
		x, y, left, fitted = append(x, f.X[i]), append(y, f.Measured[i]), append(left, f.Measured[i]-f.Fitted[i]), append(fitted, f.Fitted[i])
	}
	dots := chart.Style{Color: hueDot, Size: 3, Opacity: 0.5}
	return []*chart.Chart{
		{Name: "model", Title: f.Name + " and the model", X: chart.Axis{Title: f.XName}, Y: chart.Axis{Title: f.Unit, FromZero: true}, Traces: []chart.Trace{
			{Name: "measured", Kind: chart.Scatter, Mode: chart.Markers, X: x, Y: y, Style: dots},
			{Name: "model", Kind: chart.Scatter, Mode: chart.Markers, X: x, Y: fitted, Style: chart.Style{Color: hueP90, Size: 3}},
		}},
		{Name: "residuals", Title: f.Name + ": residuals (measured minus model)", X: chart.Axis{Title: f.XName}, Y: chart.Axis{Title: f.Unit}, Traces: []chart.Trace{
			{Name: "residual", Kind: chart.Scatter, Mode: chart.Markers, X: x, Y: left, Style: dots},
			{Name: "no difference", Kind: chart.Scatter, Mode: chart.Lines, X: []float64{slices.Min(f.X), slices.Max(f.X)}, Y: []float64{0, 0}, Style: chart.Style{Color: hueMuted, Width: 1.5, Dash: "dot"}},
		}},
	}
}
