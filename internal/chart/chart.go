// Package chart holds pictures as data: axes, traces and what stands beside them. Drawing, the dump and the pages all start from a Chart, so
// that a number can be compared without reading pixels.
package chart

// Chart is one picture.
type Chart struct {
	Name        string // stem of its files
	Title       string
	Subtitle    string // a second, smaller line; "" = none
	Description string // what the picture is for, in a sentence
	X, Y        Axis
	Y2          *Axis // at the right; nil = none
	Traces      []Trace
	Legend      []Entry // entries of the legend without a trace of their own, after those of the traces
	Notes       []string
}

// Scale is how values become places.
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
	FromZero bool   // the axis reaches zero
	Min, Max float64
	Clock    bool     // of the run: pictures with one move together in a page
	Fixed    bool     // Min and Max are the ends; else the data are
	Ticks    []Tick   // nil = chosen by the drawing
	Labels   []string // of a category axis: value k stands at k
}

// Kind is Scale with its default.
func (a *Axis) Kind() Scale {
	if a.Scale == "" {
		return Linear
	}
	return a.Scale
}

// Tick is a marked place of an axis.
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

// Trace is a set of points drawn alike. NaN in Y is a gap.
type Trace struct {
	Name     string
	Unlisted bool   // the legend leaves it out; its name may stand there for another
	Kind     string // Scatter, Bar
	Mode     string
	X, Y     []float64
	Text     []string  // at the points; nil = none
	ErrorX   []float64 // half lengths; nil = none
	ErrorY   []float64
	Second   bool      // belongs to the second axis
	Hover    []string  // more to tell of each point where one can point at it; nil = nothing
	Key      []string  // what a point stands for (a run, a request); nil = nothing
	Cell     Cell      // not zero: the points are the centres of cells of a heat map
	Shade    []float64 // of each cell, 0 to 1
	Style
}

// Cell is the size of a heat map's cells, in the units of the axes.
type Cell struct{ Width, Height float64 }

// Style is how a trace looks.
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

// Solid is Opacity with its default.
func (s *Style) Solid() float64 {
	if s.Opacity == 0 {
		return 1
	}
	return s.Opacity
}
