package htmlreport

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/htmlgen"
)

//go:embed assets
var assets embed.FS

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("page: " + err.Error()) // cannot happen: the file is embedded in the program
	}
	return string(text)
}

// figure formats a number as the headline of the console does.
func figure(v float64) string { return terminal.Figure(v) }

// content is what a page shows.
type content struct {
	Title, Eyebrow string
	Above          node // links to other pages, above the title
	Facts          []string
	Level          string // valid, suspect, failed
	Verdict, Why   string
	Findings       []string
	Last           []string // findings that matter least
	Cards          []card
	Sections       []section
	Command        string
	Unseeded       bool // the run had no random seed
	SoFar          bool // the run is not over: its figures will change
	Settings       [][2]string
	Metrics        []metricRow
	Words          bool // show explanations of the latency terms
	Foot           string
	Measured       float64 // when the measured phase begins on the clock of the lanes, s
}

// card is a main figure with three more below it.
type card struct {
	Name, Value, Unit, Of string
	More                  [][2]string
	None                  string // why there is no figure
	Drawn                 node   // below the figure; "" = nothing
}

// section is a part of the page with charts; the charts are indices in Data.
type section struct {
	ID, Title, Lead string
	Charts          []figureBox
	Waterfall       bool
	Tools           bool // show the buttons that zoom the clock
	Empty           string
	Items           []string // numbered sentences below the lead
	Notes           []string
	Tables          []*table
	Own             node // other content, at the end of the section
}

// figureBox is the element in which the script draws a chart.
type figureBox struct {
	Chart int
	Title string
	Tall  bool
	Lane  bool
}

type table struct {
	Caption string
	Class   string // "numbers": right-aligned figures
	Head    []string
	Rows    [][]cellText
}

// cellText is a table cell: its text, a link, a smaller line below it, a control before it, and a drawing.
type cellText struct {
	Text, Link, Below string
	Control           htmlgen.Node
	Strong            bool
	Drawn             htmlgen.Node
}

type metricRow struct {
	Name   string
	Cell   []string
	Limits []string // by cell: the range of an approximate figure; "" = the figure is exact
}

// data is the input of the script.
type data struct {
	Charts   []json.RawMessage
	Rows     []requestRow
	Failures []string
	IDs      []string
	Arrivals [][]int `json:",omitempty"` // by row: times between the messages after the first, in 10 µs
	Total    int
	Seconds  float64
	Bands    []band       // named stretches of the clock
	Agents   *agentsData  `json:",omitempty"` // for the simulation of a cache
	Systems  *systemsData `json:",omitempty"` // for the comparison of systems
}

// builder builds a page.
type builder struct {
	content
	data
}

// chart adds a chart to a section; nil adds nothing.
func (b *builder) chart(s *section, c *chart.Chart, lane, tall bool) error {
	if c == nil {
		return nil
	}
	text, err := c.Web()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	s.Charts = append(s.Charts, figureBox{Chart: len(b.Charts), Title: c.Title, Lane: lane, Tall: tall})
	b.Charts = append(b.Charts, text)
	return nil
}

// library returns uPlot with its licence.
func library() string {
	script := new(bytes.Buffer)
	z, err := gzip.NewReader(strings.NewReader(asset("uplot.min.js.gz")))
	if err == nil {
		_, err = script.ReadFrom(z)
	}
	if err != nil {
		panic("page: uplot.min.js.gz: " + err.Error()) // cannot happen: the file is embedded in the program
	}
	return "/*! " + strings.ReplaceAll(asset("uplot.LICENSE"), "*/", "") + "*/\n" + script.String()
}

// html returns the finished page, which loads nothing.
func (b *builder) html() ([]byte, error) {
	packed, err := b.packed()
	if err != nil {
		return nil, err
	}
	return shell("page.html", b.Title, b.body(), packed, b.scripts()...), nil
}

// served returns the finished page of a dashboard, whose script asks the server for plots.
func (b *builder) served() ([]byte, error) {
	packed, err := b.packed()
	if err != nil {
		return nil, err
	}
	inside := b.body() + plotDialogs + el("script", attrs{"type", "text/plain", "id", "data"}, packed)
	return shell("live.html", b.Title, inside, "", append(b.scripts(), "dashboard.js")...), nil
}

// packed returns the input of the page's script.
func (b *builder) packed() (htmlgen.Node, error) {
	text, err := json.Marshal(b.data)
	if err != nil {
		return "", err
	}
	var small bytes.Buffer
	z, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return htmlgen.Node(base64.StdEncoding.EncodeToString(small.Bytes())), nil
}

// scripts lists the parts of the page's script.
func (b *builder) scripts() []string {
	if b.Agents != nil {
		return []string{"requests.js", "simulate.js", "agents.js", "page.js"}
	}
	if b.data.Systems != nil {
		return []string{"systems.js", "page.js"}
	}
	return []string{"requests.js", "page.js"}
}

// shell returns a page around a body, with the embedded styles and scripts. data is the packed input of its script.
func shell(name, title string, body, data htmlgen.Node, scripts ...string) []byte {
	style, script := asset("page.css"), library()
	for _, one := range scripts {
		script += "\n" + asset(one)
		switch one {
		case "dashboard.js":
			style += asset("dashboard.css")
		case "live.js":
			style += asset("live.css")
		case "systems.js":
			style += asset("systems.css")
		}
	}
	return []byte(htmlgen.Fill(asset(name), map[string]htmlgen.Node{"Title": htmlgen.Text(title), "Style": htmlgen.Node(style), "Body": body, "Data": data, "Script": htmlgen.Node(script)}))
}
