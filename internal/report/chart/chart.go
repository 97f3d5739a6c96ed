// Package chart describes charts as data: axes, traces, legends and notes. The renderer, the dump and the pages all use a Chart, so that numbers can
// be compared without reading pixels.
package chart

// Chart is one chart.
type Chart struct {
	Name        string // file name without the extension
	Title       string
	Subtitle    string // a second, smaller line; "" = none
	Source      string // what was measured and when, for images; "" = none
	Description string // one sentence that says what the chart is for
	X, Y        Axis
	Y2          *Axis // at the right; nil = none
	Traces      []Trace
	Legend      []Entry // legend entries without their own trace, after those of the traces
	Notes       []string
}

// Scale is the mapping of values to positions.
type Scale string

// The scales.
const (
	Linear   Scale = "linear"
	Log      Scale = "log"
	Category Scale = "category"
)

// Axis is one axis.
type Axis struct {
	Title    string // with the unit
	Scale    Scale  // "" = Linear
	FromZero bool   // the axis includes zero
	Min, Max float64
	Clock    bool     // time of the run: charts with such an axis zoom together in a page
	Fixed    bool     // Min and Max are the ends; otherwise the data decide
	Clipped  bool     // values above Max are marked at the end of the axis; a note says how many
	Ticks    []Tick   // nil = chosen by the renderer
	Labels   []string // of a category axis: the label of value k is Labels[k]
}

// Kind returns the scale, Linear by default.
func (a *Axis) Kind() Scale {
	if a.Scale == "" {
		return Linear
	}
	return a.Scale
}

// Tick is a marked position on an axis.
type Tick struct {
	At   float64
	Text string
}

// Kind of a trace.
const (
	Scatter = "scatter"
	Bar     = "bar"
)

// Modes of a scatter trace.
const (
	Lines        = "lines"
	Markers      = "markers"
	LinesMarkers = "lines+markers"
	Area         = "none" // a filled area without outline
)

// Fills of a trace.
const (
	ToZero = "tozeroy" // down to zero
	ToNext = "tonexty" // down to the trace before it
	ToSelf = "toself"  // a closed shape
)

// Trace is a set of points with one style. NaN in Y is a gap.
type Trace struct {
	Name     string
	Unlisted bool   // not in the legend; an entry of another trace may have its name
	Kind     string // Scatter, Bar
	Mode     string
	X, Y     []float64
	Text     []string  // labels of the points; nil = none
	ErrorX   []float64 // half lengths; nil = none
	ErrorY   []float64
	Second   bool      // belongs to the second axis
	Hover    []string  // additional text of each point for the tooltip; nil = none
	Key      []string  // what a point represents (a run, a request); nil = nothing
	Cell     Cell      // not zero: the points are the centres of the cells of a heat map
	Shade    []float64 // of each cell, 0 to 1
	Style
}

// Cell is the size of a heat map's cells, in the units of the axes.
type Cell struct{ Width, Height float64 }

// Style is the look of a trace.
type Style struct {
	Color   string  // #rrggbb
	Width   float64 // of the line; 0 = none
	Size    float64 // diameter of the markers
	Opacity float64 // of markers and lines; 0 = 1
	Dash    string  // "", dash, dot
	Shape   string  // of lines: "" straight, hv, spline
	Symbol  string  // of markers: "" circle, diamond, square, triangle, cross
	Fill    string
	Filling float64 // opacity of the fill
	Halo    bool    // a pale wide line and larger dots below
}

// Entry is a line of the legend.
type Entry struct {
	Name string
	Style
	Mode string
}

// Solid returns the opacity, 1 by default.
func (s *Style) Solid() float64 {
	if s.Opacity == 0 {
		return 1
	}
	return s.Opacity
}
