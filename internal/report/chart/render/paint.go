package render

import (
	"iter"
	"math"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/canvas"
)

// Font sizes, in points.
const (
	titleSize    = 22
	subtitleSize = 14
	axisSize     = 16
	tickSize     = 14
	noteSize     = 13
)

// painting is an image being drawn. Positions are in points from the left and the bottom.
type painting struct {
	canvas.Canvas
	c         *chart.Chart
	theme     *chart.Theme
	size      Size
	x         scale
	y, y2     scale // y2 only with a second axis
	panel     canvas.Rectangle
	textBoxes []canvas.Rectangle // boxes of the texts at points
}

// stacked draws charts one below the other, with panels of equal width. shares are the parts of the height.
func stacked(on canvas.Canvas, list []*chart.Chart, shares []float64, theme *chart.Theme, size Size) {
	top, left, right := size.Height, 0.0, 0.0
	parts := make([]*painting, len(list))
	for i, c := range list {
		parts[i] = &painting{Canvas: on, c: c, theme: theme, size: Size{Width: size.Width, Height: size.Height * shares[i]}}
		l, r := parts[i].margins()
		left, right = max(left, l), max(right, r)
	}
	for _, p := range parts {
		top -= p.size.Height
		on.Push()
		on.Translate(canvas.Point{Y: top})
		p.layout(left, right)
		p.draw()
		on.Pop()
	}
}

// draw draws the chart in its area.
func (p *painting) draw() {
	c, theme := p.c, p.theme
	p.box(canvas.Rectangle{Max: canvas.Point{X: p.size.Width, Y: p.size.Height}}, theme.Background)
	p.box(p.panel, theme.Panel)
	p.grid()
	for i := 0; i < len(c.Traces); {
		if n := p.segments(c.Traces[i:]); n > 0 {
			i += n
			continue
		}
		p.trace(&c.Traces[i])
		i++
	}
	for i := range c.Traces {
		p.labels(&c.Traces[i])
	}
	p.frame()
}

// margins returns the space left and right of the panel.
func (p *painting) margins() (left, right float64) {
	_, ys, y2s := spans(p.c)
	p.y = newScale(&p.c.Y, ys, max(3, int(p.size.Height/90)))
	right = 24
	if p.c.Y2 != nil {
		p.y2 = newScale(p.c.Y2, y2s, max(3, int(p.size.Height/90)))
		right = 40 + p.widest(p.y2.ticks) + axisSize
	}
	return 44 + p.widest(p.y.ticks) + axisSize, right + p.legendWidth()
}

// layout finds the ends of the axes and the position of the panel.
func (p *painting) layout(left, right float64) {
	xs, _, _ := spans(p.c)
	top := 28.0 + titleSize
	if p.subtitle() != "" {
		top += subtitleSize + 8
	}
	p.x = newScale(&p.c.X, xs, max(3, int((p.size.Width-left-right)/130)))
	bottom := 40 + tickSize + axisSize + float64(len(p.c.Notes))*(noteSize+6)
	if p.slanted() {
		bottom += 0.7*p.widest(p.x.ticks) - tickSize/2
	}
	p.panel = canvas.Rectangle{
		Min: canvas.Point{X: left, Y: bottom},
		Max: canvas.Point{X: p.size.Width - right, Y: p.size.Height - top},
	}
	p.x.from, p.x.to = left, p.size.Width-right
	p.y.from, p.y.to = bottom, p.size.Height-top
	p.y2.from, p.y2.to = p.y.from, p.y.to
}

// subtitle returns the line below the title: what was measured, and the subtitle.
func (p *painting) subtitle() string {
	if p.c.Subtitle == "" || p.c.Source == "" {
		return p.c.Subtitle + p.c.Source
	}
	return p.c.Source + " · " + p.c.Subtitle
}

// slanted reports whether the texts of the x axis must be rotated.
func (p *painting) slanted() bool {
	return p.c.X.Ticks != nil && float64(len(p.c.X.Ticks))*(p.widest(p.c.X.Ticks)+14) > 0.6*p.size.Width
}

// widest returns the width of the longest tick text, in points.
func (p *painting) widest(ticks []chart.Tick) float64 {
	most, style := 0.0, lettering(tickSize, p.theme.Text, false, canvas.XLeft, canvas.YBottom)
	for _, t := range ticks {
		most = max(most, style.Width(t.Text))
	}
	return most
}

func (p *painting) box(r canvas.Rectangle, hue string) {
	canvas.FillPolygon(p.Canvas, tint(hue, 1), []canvas.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}

// edgeWidth is how much wider the edge of a pale line or marker is, in points.
const edgeWidth = 1.6

// dashes returns the dash pattern of a line of a width.
func dashes(name string, width float64) []float64 {
	switch name {
	case "dash":
		return []float64{5 * width, 2.5 * width}
	case "dot":
		return []float64{1.2 * width, 2 * width}
	}
	return nil
}

func (p *painting) stroke(hue string, opacity, width float64, dash string, line ...canvas.Point) {
	p.dashed(hue, opacity, width, dashes(dash, width), line...)
}

// dashed draws a line with a pattern, nil = solid.
func (p *painting) dashed(hue string, opacity, width float64, pattern []float64, line ...canvas.Point) {
	style := canvas.Line{Color: tint(hue, opacity), Width: width, Dashes: pattern}
	most := 200
	if pattern != nil {
		most = 1000 // the pattern restarts with every piece
	}
	for piece := range pieces(line, most) {
		canvas.StrokeLine(p.Canvas, style, piece)
	}
}

// pieces cuts a line into parts of at most most points; each begins where the previous one ends. The rasterizer walks a list of the cells of a row for
// every new cell, so a long line drawn at once would take quadratic time.
func pieces(line []canvas.Point, most int) iter.Seq[[]canvas.Point] {
	return func(yield func([]canvas.Point) bool) {
		for len(line) > most {
			if !yield(line[:most]) {
				return
			}
			line = line[most-1:]
		}
		yield(line)
	}
}

// grid draws the grid lines below everything else.
func (p *painting) grid() {
	for _, t := range p.visible(&p.x) {
		at := p.x.at(t.At)
		p.stroke(p.theme.Grid, 0.6, 1, "", canvas.Point{X: at, Y: p.panel.Min.Y}, canvas.Point{X: at, Y: p.panel.Max.Y})
	}
	for _, t := range p.visible(&p.y) {
		at := p.y.at(t.At)
		p.stroke(p.theme.Grid, 0.6, 1, "", canvas.Point{X: p.panel.Min.X, Y: at}, canvas.Point{X: p.panel.Max.X, Y: at})
	}
}

// visible returns the ticks within the panel.
func (p *painting) visible(s *scale) []chart.Tick {
	var list []chart.Tick
	for _, t := range s.ticks {
		if at := s.at(t.At); at >= min(s.from, s.to)-0.5 && at <= max(s.from, s.to)+0.5 {
			list = append(list, t)
		}
	}
	return list
}

// frame draws the axes, their texts, the title, the legend and the notes.
func (p *painting) frame() {
	lower, upper := p.panel.Min, p.panel.Max
	p.stroke(p.theme.Muted, 1, 1.2, "", lower, canvas.Point{X: upper.X, Y: lower.Y})
	p.stroke(p.theme.Muted, 1, 1.2, "", lower, canvas.Point{X: lower.X, Y: upper.Y})
	below := lettering(tickSize, p.theme.Text, false, canvas.XCenter, canvas.YTop)
	if p.slanted() {
		below.XAlign, below.YAlign, below.Rotation = canvas.XRight, canvas.YCenter, math.Pi/4
	}
	for _, t := range p.fitting(below) {
		canvas.FillText(p.Canvas, below, canvas.Point{X: p.x.at(t.At), Y: lower.Y - 8}, t.Text)
	}
	for _, t := range p.visible(&p.y) {
		canvas.FillText(p.Canvas, lettering(tickSize, p.theme.Text, false, canvas.XRight, canvas.YCenter), canvas.Point{X: lower.X - 8, Y: p.y.at(t.At)}, t.Text)
	}
	middle := (p.y.from + p.y.to) / 2
	side := lettering(axisSize, p.theme.Text, false, canvas.XCenter, canvas.YTop)
	side.Rotation = math.Pi / 2
	high := p.size.Height - 16
	p.within(side, high, canvas.Point{X: 16, Y: p.beside(side, high, p.c.Y.Title, middle)}, p.c.Y.Title)
	if p.c.Y2 != nil {
		p.stroke(p.theme.Muted, 1, 1.2, "", canvas.Point{X: upper.X, Y: lower.Y}, upper)
		for _, t := range p.visible(&p.y2) {
			canvas.FillText(p.Canvas, lettering(tickSize, p.theme.Text, false, canvas.XLeft, canvas.YCenter), canvas.Point{X: upper.X + 8, Y: p.y2.at(t.At)}, t.Text)
		}
		p.within(side, high, canvas.Point{X: upper.X + 18 + p.widest(p.y2.ticks), Y: p.beside(side, high, p.c.Y2.Title, middle)}, p.c.Y2.Title)
	}
	p.texts()
	p.legend()
}

// beside returns the middle of a title along an axis: the middle of the axis, or the nearest position where the title stays in the image.
func (p *painting) beside(style canvas.Style, high float64, words string, middle float64) float64 {
	half := min(style.Width(words), high) / 2
	return min(max(middle, half+8), p.size.Height-8-half)
}

// fitting returns the ticks of the x axis whose texts do not touch.
func (p *painting) fitting(style canvas.Style) []chart.Tick {
	all := p.visible(&p.x)
	if p.slanted() {
		every := 1 + int(float64(len(all))*(tickSize+8)/(p.x.to-p.x.from))
		var some []chart.Tick
		for i := 0; i < len(all); i += every {
			some = append(some, all[i])
		}
		return some
	}
	var some []chart.Tick
	last := math.Inf(-1)
	for _, t := range all {
		half := style.Width(t.Text) / 2
		if at := p.x.at(t.At); at-half > last+10 {
			some, last = append(some, t), at+half
		}
	}
	return some
}

// texts draws the titles and the notes.
func (p *painting) texts() {
	y := p.size.Height - 18
	wide := p.size.Width - p.panel.Min.X - 24
	p.within(lettering(titleSize, p.theme.Text, true, canvas.XLeft, canvas.YTop), wide, canvas.Point{X: p.panel.Min.X, Y: y}, p.c.Title)
	if line := p.subtitle(); line != "" {
		p.within(lettering(subtitleSize, p.theme.Muted, false, canvas.XLeft, canvas.YTop), wide, canvas.Point{X: p.panel.Min.X, Y: y - titleSize - 8}, line)
	}
	notes := float64(len(p.c.Notes)) * (noteSize + 6)
	p.within(lettering(axisSize, p.theme.Text, false, canvas.XCenter, canvas.YBottom), p.panel.Max.X-p.panel.Min.X, canvas.Point{X: (p.x.from + p.x.to) / 2, Y: 12 + notes}, p.c.X.Title)
	for i, note := range p.c.Notes {
		p.within(lettering(noteSize, p.theme.Muted, false, canvas.XLeft, canvas.YBottom), wide, canvas.Point{X: p.panel.Min.X, Y: 8 + float64(len(p.c.Notes)-1-i)*(noteSize+6)}, note)
	}
}

// within writes a text into a width. It shrinks a longer text to two thirds of its size at most, and then cuts it.
func (p *painting) within(style canvas.Style, room float64, at canvas.Point, words string) {
	if w := style.Width(words); w > room {
		style.Size *= max(room/w, 2./3)
		words = shorter(style, words, room)
	}
	canvas.FillText(p.Canvas, style, at, words)
}
