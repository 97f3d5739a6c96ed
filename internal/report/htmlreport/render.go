package htmlreport

import (
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/htmlgen"
)

type (
	node  = htmlgen.Node
	attrs = htmlgen.Attrs
)

var (
	el, text, t = htmlgen.El, htmlgen.Text, htmlgen.T
)

// marks are the symbols next to the words of a verdict.
var marks = map[string]string{"valid": "✓", "failed": "✕", "suspect": "!", "pending": "…"}

// body returns the whole page below its head.
func (c *content) body() node {
	return el("a", attrs{"class", "skip", "href", "#main"}, text("Skip to the results")) + c.top() + c.jump() +
		el("main", attrs{"id", "main", "class", "wrap", "tabindex", "-1"},
			c.cardRow(), c.verdictBox(), unscripted, htmlgen.Each(c.Sections, func(_ int, s section) node { return s.node() }), c.allFigures(), c.allSettings(), htmlgen.If(c.Words, words)) +
		el("footer", attrs{"class", "wrap foot"}, text(c.Foot))
}

// unscripted says what is missing in a viewer without scripts, such as the preview of a mail.
const unscripted node = `<noscript><p class="empty">A script inside this page draws the charts and the picture of single requests, and it is not allowed to run here. Verdict, figures, tables and settings are below; open the file in a browser for the rest. The page loads nothing from a network.</p></noscript>`

func (c *content) top() node {
	facts := htmlgen.Each(c.Facts, func(_ int, f string) node { return t("span", "", f) + " " })
	return el("header", attrs{"class", "wrap top"},
		el("div", nil, htmlgen.If(c.Above != "", el("p", attrs{"class", "above no-print"}, c.Above)), t("p", "eyebrow", c.Eyebrow), t("h1", "", c.Title), el("p", attrs{"class", "facts"}, facts)),
		el("button", attrs{"id", "theme", "type", "button", "class", "no-print", "hidden?", "yes"}, text("Dark theme")))
}

// jump returns the links to the sections.
func (c *content) jump() node {
	return el("nav", attrs{"class", "jump no-print", "aria-label", "Sections"}, c.jumpList())
}

// jumpList returns the list of these links.
func (c *content) jumpList() node {
	item := func(id, name string) node { return el("li", nil, el("a", attrs{"href", "#" + id}, text(name))) }
	drawn := func(s *section) node {
		return el("li", attrs{"class", "drawn"}, el("a", attrs{"href", "#" + s.ID}, text(s.Title)))
	}
	return el("ul", attrs{"class", "wrap"},
		htmlgen.Each(c.Sections, func(_ int, s section) node {
			if s.drawn() {
				return drawn(&s)
			}
			return item(s.ID, s.Title)
		}),
		htmlgen.If(c.Metrics != nil, item("figures", "All figures")), htmlgen.If(c.Settings != nil || c.Command != "", item("settings", "Settings")))
}

func (c *content) verdictBox() node {
	if c.Verdict == "" {
		return ""
	}
	return el("section", attrs{"class", "verdict " + c.Level, "aria-labelledby", "verdict"},
		el("span", attrs{"class", "mark", "aria-hidden", "true"}, text(marks[c.Level])),
		el("div", nil, el("h2", attrs{"id", "verdict"}, text(c.Verdict)), htmlgen.If(c.Why != "", t("p", "", c.Why)), folded(c.Findings)))
}

// shownFindings is the number of findings that a page shows at once; the others are folded.
const shownFindings = 3

// folded lists the first findings, which matter most, and folds the others.
func folded(items []string) node {
	if len(items) <= shownFindings+1 { // a fold for a single sentence saves nothing
		return list(items)
	}
	rest := items[shownFindings:]
	return list(items[:shownFindings]) + el("details", attrs{"class", "more"}, t("summary", "", terminal.Plural(len(rest), "more note")), list(rest))
}

func list(items []string) node {
	return htmlgen.If(items != nil, el("ul", nil, htmlgen.Each(items, func(_ int, s string) node { return t("li", "", s) })))
}

// cardRow returns the row of the main figures.
func (c *content) cardRow() node {
	if c.Cards == nil {
		return ""
	}
	const head = "h2"
	return el("section", attrs{"class", "cards", "aria-label", "Head figures"}, htmlgen.Each(c.Cards, func(_ int, one card) node {
		if one.None != "" {
			return el("div", attrs{"class", "card"}, t(head, "", one.Name), t("p", "none", one.None))
		}
		return el("div", attrs{"class", "card"}, t(head, "", one.Name),
			el("p", attrs{"class", "big"}, text(one.Value+" "), t("small", "", one.Unit)), t("p", "of", one.Of), one.Drawn,
			el("dl", nil, htmlgen.Each(one.More, func(_ int, m [2]string) node {
				return el("div", nil, t("dt", "", m[0]), t("dd", "", m[1]))
			})))
	}))
}

// drawn reports whether a section is empty without the script.
func (s *section) drawn() bool {
	return s.Tables == nil && s.Own == "" && s.Items == nil && (s.Charts != nil || s.Waterfall)
}

// node returns a section with all its contents.
func (s *section) node() node {
	about := attrs{"id", s.ID, "aria-labelledby", s.ID + "-h"}
	if s.drawn() {
		about = append(about, "class", "drawn")
	}
	return el("section", about, el("h2", attrs{"id", s.ID + "-h"}, text(s.Title)),
		htmlgen.If(s.Lead != "", t("p", "lead", s.Lead)), htmlgen.If(s.Empty != "", t("p", "empty", s.Empty)),
		htmlgen.If(s.Items != nil, el("ol", attrs{"class", "items"}, htmlgen.Each(s.Items, func(_ int, text string) node { return t("li", "", text) }))),
		htmlgen.If(s.Tools, clockTools), s.figures(), htmlgen.Each(s.Notes, func(_ int, n string) node { return t("p", "note", n) }),
		htmlgen.If(s.Waterfall, waterfall), htmlgen.Each(s.Tables, func(_ int, one *table) node { return one.node() }), s.Own)
}

func (s *section) figures() node {
	if s.Charts == nil {
		return ""
	}
	class, panel := "grid", " panel"
	if s.Charts[0].Lane {
		class, panel = "lanes panel", " lane"
	}
	return el("div", attrs{"class", class}, htmlgen.Each(s.Charts, func(_ int, f figureBox) node {
		one := "chart" + panel
		if f.Tall {
			one += " tall"
		}
		return el("figure", attrs{"class", one, "data-chart", fmt.Sprint(f.Chart)}, t("figcaption", "", f.Title))
	}))
}

func (one *table) node() node {
	class := one.Class
	head := htmlgen.Each(one.Head, func(_ int, h string) node { return el("th", attrs{"scope", "col"}, text(h)) })
	rows := htmlgen.Each(one.Rows, func(_ int, row []cellText) node {
		return el("tr", nil, htmlgen.Each(row, func(i int, c cellText) node {
			inside := text(c.Text)
			if c.Link != "" {
				inside = el("a", attrs{"href", c.Link}, inside)
			}
			if c.Strong {
				inside = el("strong", nil, inside)
			}
			if c.Below != "" {
				inside += t("small", "", c.Below)
			}
			if c.Control != "" {
				inside = c.Control + el("div", nil, inside)
			}
			if i == 0 {
				return el("th", attrs{"scope", "row"}, inside)
			}
			return el("td", attrs{"data-name", one.Head[i]}, el("span", nil, inside, c.Drawn))
		}))
	})
	return el("div", attrs{"class", "panel"}, el("table", attrs{"class", class}, t("caption", "", one.Caption), el("thead", nil, el("tr", nil, head)), el("tbody", nil, rows)))
}

// allFigures returns the table of all metrics of the summary.
func (c *content) allFigures() node {
	if c.Metrics == nil {
		return ""
	}
	head := el("th", attrs{"scope", "col"}, "Metric") + htmlgen.Each(tableStats, func(_ int, s string) node { return el("th", attrs{"scope", "col"}, text(s)) })
	rows := htmlgen.Each(c.Metrics, func(_ int, m metricRow) node {
		return el("tr", nil, el("th", attrs{"scope", "row"}, text(m.Name)), htmlgen.Each(m.Cell, func(i int, v string) node { return el("td", attrs{"data-name", tableStats[i]}, m.cell(i, v)) }))
	})
	return el("section", attrs{"id", "figures", "aria-labelledby", "figures-h"}, el("h2", attrs{"id", "figures-h"}, "All figures"),
		t("p", "lead", c.figuresLead()),
		el("details", attrs{"class", "panel"}, t("summary", "", terminal.Plural(len(c.Metrics), "metric")),
			el("table", attrs{"class", "numbers"}, el("thead", nil, el("tr", nil, head)), el("tbody", nil, rows))))
}

// cell returns a figure; an approximate one shows its limits in a tooltip.
func (m *metricRow) cell(i int, v string) node {
	if m.Limits == nil || m.Limits[i] == "" {
		return text(v)
	}
	return el("abbr", attrs{"title", m.Limits[i]}, text(v))
}

// figuresLead returns the introduction to the table of all figures.
func (c *content) figuresLead() string {
	lead := "Names, units and numbers are the same as on the console and in the files."
	if c.SoFar {
		lead = "The figures so far, with the names and units of the console and the files."
	}
	for _, m := range c.Metrics {
		for _, limits := range m.Limits {
			if limits != "" {
				return lead + " " + metric.ApproximateMark + " marks an approximate figure: point at it for its limits, or see validity.bounds in the JSON summary."
			}
		}
	}
	return lead
}

// commandLine returns a command in which flags do not break at their hyphens.
func commandLine(command string) node {
	var line node
	done := 0
	for _, at := range word.FindAllStringIndex(command, -1) {
		if one := command[at[0]:at[1]]; strings.HasPrefix(one, "-") && !strings.Contains(one, "=") {
			line += text(command[done:at[0]]) + t("span", "whole", one)
			done = at[1]
		}
	}
	return line + text(command[done:])
}

// repeats says what the command of the page repeats.
func (c *content) repeats() string {
	said := "This command repeats the run; secrets and directories are hidden. "
	if c.Unseeded {
		return said + "Generated prompts differ from run to run unless " + spellSetting("random_seed") + " is given."
	}
	return said + "The same seed gives the same requests."
}

// allSettings returns the command of the run and all its settings.
func (c *content) allSettings() node {
	if c.Settings == nil && c.Command == "" {
		return ""
	}
	command := htmlgen.If(c.Command != "", el("div", attrs{"class", "panel"},
		t("p", "", c.repeats()),
		el("pre", attrs{"id", "command"}, commandLine(c.Command)),
		el("button", attrs{"type", "button", "id", "copy", "class", "no-print", "hidden?", "yes"}, "Copy"), " ", el("span", attrs{"id", "copied", "role", "status"})))
	rows := htmlgen.Each(c.Settings, func(_ int, s [2]string) node {
		return el("tr", nil, el("th", attrs{"scope", "row"}, text(s[0])), t("td", "", s[1]))
	})
	return el("section", attrs{"id", "settings", "aria-labelledby", "settings-h"}, el("h2", attrs{"id", "settings-h"}, "Settings and command of the run"), command,
		el("details", attrs{"class", "panel"}, t("summary", "", terminal.Plural(len(c.Settings), "setting")),
			el("table", nil, el("thead", nil, el("tr", nil, el("th", attrs{"scope", "col"}, "Key"), el("th", attrs{"scope", "col"}, "Value"))), el("tbody", nil, rows))))
}

// clockTools are the buttons that zoom the clock of the lanes.
const clockTools node = `<div class="tools no-print" role="group" aria-label="Clock"><button type="button" data-clock="in">Zoom in</button> <button type="button" data-clock="out">Zoom out</button> <button type="button" data-clock="left" aria-label="Earlier">←</button> <button type="button" data-clock="right" aria-label="Later">→</button> <button type="button" data-clock="all">Whole run</button> <span class="bands"></span> <span class="view" role="status"></span></div>`

// waterfall is the chart of single requests, which the script fills.
const waterfall node = `<div class="panel"><div class="tools no-print" role="group" aria-label="Requests"><label>Show <select id="filter"><option value="all">all requests</option><option value="failed">failed ones</option><option value="slow">the slowest 1 % (latency)</option></select></label> <span id="shown" role="status"></span></div>
<p class="legend"><span class="wait"></span> waited in the client <span class="prefill"></span> before the first token <span id="key-reason" hidden><span class="reason"></span> reasoning</span> <span class="decode"></span> streaming <span class="fail"></span> failed</p>
<canvas id="waterfall" tabindex="0" role="application" aria-label="Requests over time; arrow keys choose one, its figures stand below"></canvas><div id="detail" class="detail" aria-live="polite">No request is chosen.</div></div>`

// words explains what the figures mean.
const words node = `<section id="words" aria-labelledby="words-h"><h2 id="words-h">What the figures mean</h2><dl class="panel words"><div><dt>Time to first token</dt><dd>from the request to the first content of its answer</dd></div>
<div><dt>Inter-token latency</dt><dd>the time of an answer after its first token, divided by its further tokens</dd></div><div><dt>Request latency</dt><dd>from the request to the last content</dd></div>
<div><dt>Speed per user</dt><dd>one over the inter-token latency: how fast a reader sees the answer grow. Its bad end is the low one</dd></div><div><dt>p90</dt><dd>nine of ten requests are below it</dd></div></dl></section>`
