package render

import (
	"fmt"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/canvas"
)

// Sizes of the legend, in points.
const (
	legendSize  = 14
	legendLine  = 24
	legendMark  = 34
	legendWords = 300 // width of the longest name
)

// entries returns the lines of the legend. A chart with one series needs none: its axis names it.
func (p *painting) entries() []chart.Entry {
	var list []chart.Entry
	for i := range p.c.Traces {
		if t := &p.c.Traces[i]; t.Name != "" && !t.Unlisted {
			list = append(list, chart.Entry{Name: t.Name, Style: t.Style, Mode: t.Mode})
		}
	}
	list = append(list, p.c.Legend...)
	if len(list) < 2 {
		return nil
	}
	if most := int(p.size.Height-150)/legendLine + 1; len(list) > most {
		more := len(list) - most
		list = append(list[:most:most], chart.Entry{Name: fmt.Sprintf("and %d more", more)})
	}
	return list
}

// legendWidth returns the width of the legend; 0 = no legend.
func (p *painting) legendWidth() float64 {
	most, style := 0.0, lettering(legendSize, p.theme.Text, false, canvas.XLeft, canvas.YCenter)
	for _, e := range p.entries() {
		most = max(most, 16+legendMark+8+min(legendWords, style.Width(e.Name)))
	}
	return most
}

// legend draws the legend at the right of the panel.
func (p *painting) legend() {
	style := lettering(legendSize, p.theme.Text, false, canvas.XLeft, canvas.YCenter)
	x := p.size.Width - p.legendWidth()
	for i, e := range p.entries() {
		y := p.panel.Max.Y - float64(i*legendLine+10)
		p.sample(&e, canvas.Point{X: x, Y: y})
		canvas.FillText(p.Canvas, style, canvas.Point{X: x + legendMark + 8, Y: y}, shorter(style, e.Name, legendWords))
	}
}

// sample draws the symbol of a series.
func (p *painting) sample(e *chart.Entry, at canvas.Point) {
	if e.Color == "" {
		return
	}
	end := canvas.Point{X: at.X + legendMark, Y: at.Y}
	if e.Fill != "" {
		canvas.FillPolygon(p.Canvas, tint(e.Color, max(e.Filling, 0.15)), []canvas.Point{{X: at.X, Y: at.Y - 6}, {X: end.X, Y: at.Y - 6}, {X: end.X, Y: at.Y + 6}, {X: at.X, Y: at.Y + 6}})
	}
	if (e.Mode == chart.Lines || e.Mode == chart.LinesMarkers) && e.Width > 0 {
		if edge := p.theme.Edge(e.Color); edge != "" {
			p.dashed(edge, e.Solid(), e.Width+edgeWidth, dashes(e.Dash, e.Width), at, end)
		}
		p.stroke(e.Color, e.Solid(), e.Width, e.Dash, at, end)
	}
	if e.Mode == chart.Markers || e.Mode == chart.LinesMarkers {
		p.mark(&e.Style, canvas.Point{X: at.X + legendMark/2, Y: at.Y}, max(e.Size, 7))
	}
}

// shorter cuts a name to the available width.
func shorter(style canvas.Style, name string, room float64) string {
	if style.Width(name) <= room {
		return name
	}
	letters := []rune(name)
	for len(letters) > 1 && style.Width(string(letters)+"…") > room {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}
