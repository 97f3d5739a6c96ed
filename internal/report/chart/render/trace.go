package render

import (
	"math"
	"slices"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/canvas"
)

// trace draws the fill, the lines, the error bars and the markers of a trace.
func (p *painting) trace(t *chart.Trace) {
	y := &p.y
	if t.Second {
		y = &p.y2
	}
	switch {
	case t.Kind == chart.Bar:
		p.bars(t, y)
		return
	case t.Cell != chart.Cell{}:
		p.cells(t, y)
		return
	}
	for _, run := range p.runs(t, y) {
		p.fill(t, y, run)
		if t.Mode != chart.Markers && t.Width > 0 {
			if t.Halo {
				for _, line := range p.panel.ClipLine(run) {
					canvas.StrokeLine(p.Canvas, canvas.Line{Color: tint(t.Color, 0.12), Width: t.Width + 5}, line)
				}
			}
			for _, line := range p.panel.ClipLine(run) {
				if edge := p.theme.Edge(t.Color); edge != "" {
					p.dashed(edge, t.Solid(), t.Width+edgeWidth, dashes(t.Dash, t.Width), line...)
				}
				p.stroke(t.Color, t.Solid(), t.Width, t.Dash, line...)
			}
		}
	}
	p.errors(t, y)
	if t.Mode == chart.Markers || t.Mode == chart.LinesMarkers {
		p.marks(t, y)
	}
}

// runs returns the stretches of a trace without gaps, as positions.
func (p *painting) runs(t *chart.Trace, y *scale) (list [][]canvas.Point) {
	if t.Mode == chart.Markers && t.Fill == "" {
		return nil
	}
	var run []canvas.Point
	end := func() {
		if len(run) > 0 {
			list = append(list, thinned(run))
		}
		run = nil
	}
	for i := range t.X {
		if !p.x.shows(t.X[i]) || !y.shows(t.Y[i]) {
			end()
			continue
		}
		at := canvas.Point{X: p.x.at(t.X[i]), Y: y.at(t.Y[i])}
		if t.Shape == "hv" && len(run) > 0 {
			run = append(run, canvas.Point{X: at.X, Y: run[len(run)-1].Y})
		}
		run = append(run, at)
	}
	end()
	if t.Shape == "spline" {
		for i := range list {
			list[i] = smooth(list[i])
		}
	}
	return list
}

// thinned keeps the first, the lowest, the highest and the last of the points that share a third of a point of x. The image is the same with fewer
// strokes.
func thinned(line []canvas.Point) []canvas.Point {
	if len(line) < 5000 {
		return line
	}
	for i := 1; i < len(line); i++ {
		if line[i].X < line[i-1].X {
			return line // x does not increase, so the line is not a function of x
		}
	}
	var out []canvas.Point
	for i := 0; i < len(line); {
		low, high, j := i, i, i
		for ; j < len(line) && math.Floor(line[j].X*3) == math.Floor(line[i].X*3); j++ {
			if line[j].Y < line[low].Y {
				low = j
			}
			if line[j].Y > line[high].Y {
				high = j
			}
		}
		last := -1
		for _, k := range []int{i, min(low, high), max(low, high), j - 1} {
			if k > last {
				out, last = append(out, line[k]), k
			}
		}
		i = j
	}
	return out
}

// smooth inserts points of a Catmull-Rom curve between those of a line.
func smooth(line []canvas.Point) []canvas.Point {
	if len(line) < 3 || len(line) > 1000 {
		return line
	}
	at := func(i int) canvas.Point { return line[min(max(i, 0), len(line)-1)] }
	var out []canvas.Point
	for i := 0; i+1 < len(line); i++ {
		a, b, c, d := at(i-1), at(i), at(i+1), at(i+2)
		for k := range 8 {
			u := float64(k) / 8
			mix := func(a, b, c, d float64) float64 {
				return 0.5 * (2*b + (c-a)*u + (2*a-5*b+4*c-d)*u*u + (3*b-a-3*c+d)*u*u*u)
			}
			out = append(out, canvas.Point{X: mix(a.X, b.X, c.X, d.X), Y: mix(a.Y, b.Y, c.Y, d.Y)})
		}
	}
	return append(out, line[len(line)-1])
}

// fill fills the area of a trace.
func (p *painting) fill(t *chart.Trace, y *scale, run []canvas.Point) {
	paint := func(shape []canvas.Point) {
		canvas.FillPolygon(p.Canvas, tint(t.Color, t.Filling), p.panel.ClipPolygon(shape))
	}
	switch {
	case t.Fill == "" || len(run) < 2:
	case t.Fill == chart.ToZero || t.Fill == chart.ToNext:
		ground := y.from
		if y.Kind() != chart.Log && y.lo < 0 {
			ground = y.at(min(max(0, y.lo), y.hi))
		}
		for piece := range pieces(run, 1000) {
			paint(slices.Concat([]canvas.Point{{X: piece[0].X, Y: ground}}, piece, []canvas.Point{{X: piece[len(piece)-1].X, Y: ground}}))
		}
	default:
		paint(run)
	}
}

// errors draws the error bars of a trace.
func (p *painting) errors(t *chart.Trace, y *scale) {
	bar := func(a, b canvas.Point, dx, dy float64) {
		p.stroke(t.Color, 0.9, 1.5, "", a, b)
		for _, end := range []canvas.Point{a, b} {
			p.stroke(t.Color, 0.9, 1.5, "", canvas.Point{X: end.X - dx, Y: end.Y - dy}, canvas.Point{X: end.X + dx, Y: end.Y + dy})
		}
	}
	for i := range t.X {
		if !p.x.shows(t.X[i]) || !y.shows(t.Y[i]) {
			continue
		}
		x0, y0 := p.x.at(t.X[i]), y.at(t.Y[i])
		if i < len(t.ErrorY) && t.ErrorY[i] > 0 {
			bar(canvas.Point{X: x0, Y: p.clamp(y, t.Y[i]-t.ErrorY[i])}, canvas.Point{X: x0, Y: p.clamp(y, t.Y[i]+t.ErrorY[i])}, 5, 0)
		}
		if i < len(t.ErrorX) && t.ErrorX[i] > 0 {
			bar(canvas.Point{X: p.clamp(&p.x, t.X[i]-t.ErrorX[i]), Y: y0}, canvas.Point{X: p.clamp(&p.x, t.X[i]+t.ErrorX[i]), Y: y0}, 0, 5)
		}
	}
}

// clamp returns the position of a value, clamped to the ends of the axis.
func (p *painting) clamp(s *scale, v float64) float64 {
	return s.at(min(max(v, s.lo), s.hi))
}

// marks draws the markers. Of many markers at one spot it draws only the first ones, because more do not change the image.
func (p *painting) marks(t *chart.Trace, y *scale) {
	type spot struct{ x, y int }
	seen := map[spot]int{}
	size := t.Size
	if size == 0 {
		size = 8
	}
	for i := range t.X {
		if !p.x.shows(t.X[i]) || !y.shows(t.Y[i]) {
			continue
		}
		at := canvas.Point{X: p.x.at(t.X[i]), Y: y.at(t.Y[i])}
		k := spot{int(at.X * 2), int(at.Y * 2)}
		if seen[k]++; seen[k] > 4 || at.X < p.panel.Min.X-1 || at.X > p.panel.Max.X+1 || at.Y < p.panel.Min.Y-1 || at.Y > p.panel.Max.Y+1 {
			continue
		}
		if t.Halo {
			p.mark(&chart.Style{Color: t.Color, Opacity: 0.15}, at, size+6)
		}
		p.mark(&t.Style, at, size)
	}
}

// mark draws one marker, with a rim if its colour is too pale for the panel. Pale dots of a cloud have no rim.
func (p *painting) mark(s *chart.Style, at canvas.Point, size float64) {
	if edge := p.theme.Edge(s.Color); edge != "" && s.Solid() >= 0.9 {
		below := *s
		below.Color = edge
		p.shape(&below, at, size+edgeWidth)
	}
	p.shape(s, at, size)
}

// shape draws the symbol of a style.
func (p *painting) shape(s *chart.Style, at canvas.Point, size float64) {
	c, r := tint(s.Color, s.Solid()), size/2
	switch s.Symbol {
	case "square":
		canvas.FillPolygon(p.Canvas, c, []canvas.Point{{X: at.X - r, Y: at.Y - r}, {X: at.X + r, Y: at.Y - r}, {X: at.X + r, Y: at.Y + r}, {X: at.X - r, Y: at.Y + r}})
	case "diamond":
		d := r * 1.35
		canvas.FillPolygon(p.Canvas, c, []canvas.Point{{X: at.X - d, Y: at.Y}, {X: at.X, Y: at.Y - d}, {X: at.X + d, Y: at.Y}, {X: at.X, Y: at.Y + d}})
	case "triangle":
		d := r * 1.25
		canvas.FillPolygon(p.Canvas, c, []canvas.Point{{X: at.X - d, Y: at.Y - d*0.8}, {X: at.X + d, Y: at.Y - d*0.8}, {X: at.X, Y: at.Y + d*1.1}})
	case "cross":
		p.stroke(s.Color, s.Solid(), 2.5, "", canvas.Point{X: at.X - r, Y: at.Y - r}, canvas.Point{X: at.X + r, Y: at.Y + r})
		p.stroke(s.Color, s.Solid(), 2.5, "", canvas.Point{X: at.X - r, Y: at.Y + r}, canvas.Point{X: at.X + r, Y: at.Y - r})
	default:
		canvas.FillCircle(p.Canvas, c, at, r)
	}
}

// bars draws a bar from zero to each value. A bar is as wide as the smallest distance between two values, minus a gap.
func (p *painting) bars(t *chart.Trace, y *scale) {
	least := math.Inf(1)
	for i := 1; i < len(t.X); i++ {
		least = min(least, math.Abs(p.x.at(t.X[i])-p.x.at(t.X[i-1])))
	}
	half := min(0.4*least, 60)
	ground := p.clamp(y, 0)
	if y.Kind() == chart.Log {
		ground = y.from
	}
	for i := range t.X {
		if p.x.shows(t.X[i]) && y.shows(t.Y[i]) {
			at := p.x.at(t.X[i])
			canvas.FillPolygon(p.Canvas, tint(t.Color, t.Solid()), rectangle(at-half, ground, at+half, y.at(t.Y[i])))
		}
	}
	p.errors(t, y)
}

// cells draws a heat map.
func (p *painting) cells(t *chart.Trace, y *scale) {
	for i := range t.X {
		w, h := t.Cell.Width/2, t.Cell.Height/2
		canvas.FillPolygon(p.Canvas, tint(t.Color, 0.08+0.92*t.Shade[i]), rectangle(p.x.at(t.X[i]-w), y.at(t.Y[i]-h), p.x.at(t.X[i]+w), y.at(t.Y[i]+h)))
	}
}

func rectangle(x0, y0, x1, y1 float64) []canvas.Point {
	return []canvas.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// labels writes the texts at the points: above, below, right or left of the point, where there is room. If there is none, the text is omitted.
func (p *painting) labels(t *chart.Trace) {
	if t.Text == nil {
		return
	}
	y := &p.y
	if t.Second {
		y = &p.y2
	}
	style := lettering(tickSize, p.theme.Text, false, canvas.XCenter, canvas.YCenter)
	for i, words := range t.Text {
		if words == "" || !p.x.shows(t.X[i]) || !y.shows(t.Y[i]) {
			continue
		}
		at := canvas.Point{X: p.x.at(t.X[i]), Y: y.at(t.Y[i])}
		w, h, away := style.Width(words), float64(tickSize), t.Size/2+10
		if (t.Cell != chart.Cell{}) {
			away = -h / 2
		}
		if (t.Cell != chart.Cell{}) && t.Shade[i] > 0.5 {
			style.Color = tint(p.theme.Panel, 1)
		} else {
			style.Color = tint(p.theme.Text, 1)
		}
		if to, ok := p.room(at, w, h, away, (t.Cell != chart.Cell{})); ok {
			p.textBoxes = append(p.textBoxes, around(to, w, h))
			canvas.FillText(p.Canvas, style, to, words)
		}
	}
}

// room finds a position for a text of a given size near a point: one that touches nothing, or else one that touches no other text.
func (p *painting) room(at canvas.Point, w, h, away float64, cell bool) (canvas.Point, bool) {
	up, side := away+h/4, away+w/2
	shifts := []canvas.Point{{Y: up}, {Y: -up}, {X: side}, {X: -side}, {X: side, Y: up}, {X: -side, Y: up}, {X: side, Y: -up}, {X: -side, Y: -up}}
	if cell {
		shifts = shifts[:1] // in the middle of the cell
	}
	for _, drawn := range []bool{true, false} {
		for _, shift := range shifts {
			to := at.Add(shift)
			if r := around(to, w, h); p.free(r) && !(drawn && !cell && p.crossed(r)) {
				return to, true
			}
		}
	}
	return at, false
}

// around returns the box of a text that is centred at a position.
func around(at canvas.Point, w, h float64) canvas.Rectangle {
	return canvas.Rectangle{Min: canvas.Point{X: at.X - w/2, Y: at.Y - h/2}, Max: canvas.Point{X: at.X + w/2, Y: at.Y + h/2}}
}

// overlap reports whether two boxes overlap.
func overlap(a, b canvas.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// free reports whether a box is in the panel and touches no text.
func (p *painting) free(r canvas.Rectangle) bool {
	inside := r.Min.X > p.panel.Min.X && r.Min.Y > p.panel.Min.Y && r.Max.X < p.panel.Max.X+8 && r.Max.Y < p.panel.Max.Y+2
	return inside && !slices.ContainsFunc(p.textBoxes, func(o canvas.Rectangle) bool { return overlap(o, r) })
}

// maxPoints is the largest number of points of a trace that labels avoid: a cloud of points is everywhere.
const maxPoints = 200

// crossed reports whether a line or a marker of a series crosses a box.
func (p *painting) crossed(r canvas.Rectangle) bool {
	for i := range p.c.Traces {
		t, y := &p.c.Traces[i], &p.y
		if t.Second {
			y = &p.y2
		}
		if len(t.X) > maxPoints || t.Kind == chart.Bar || t.Fill == chart.ToSelf || (t.Cell != chart.Cell{}) {
			continue
		}
		size := t.Size
		for k := range t.X {
			if !p.x.shows(t.X[k]) || !y.shows(t.Y[k]) {
				continue
			}
			if at := (canvas.Point{X: p.x.at(t.X[k]), Y: y.at(t.Y[k])}); t.Mode != chart.Lines && overlap(around(at, size, size), r) {
				return true
			}
		}
		for _, run := range p.runs(t, y) {
			if t.Mode != chart.Markers && t.Width > 0 && len(r.ClipLine(run)) > 0 {
				return true
			}
		}
	}
	return false
}

// segments draws the traces at the beginning of a list that are single plain lines, 500 of one style with one stroke, and returns their number. A
// stroke for each request of a long run would take minutes.
func (p *painting) segments(list []chart.Trace) int {
	const most = 500
	paths, order, n := map[chart.Style]canvas.Path{}, []chart.Style(nil), 0
	for ; n < len(list) && n < most; n++ {
		t := &list[n]
		if len(t.X) != 2 || t.Kind != chart.Scatter || t.Mode != chart.Lines || t.Fill != "" || t.Halo || t.Second || t.Dash != "" || t.ErrorX != nil || t.ErrorY != nil {
			break
		}
		if _, known := paths[t.Style]; !known {
			order = append(order, t.Style)
			paths[t.Style] = nil
		}
		for _, run := range p.runs(t, &p.y) {
			for _, line := range p.panel.ClipLine(run) {
				paths[t.Style] = append(paths[t.Style], canvas.Shape{Points: line})
			}
		}
	}
	for _, style := range order {
		if edge := p.theme.Edge(style.Color); edge != "" {
			p.Stroke(paths[style], canvas.Line{Color: tint(edge, style.Solid()), Width: style.Width + edgeWidth})
		}
		p.Stroke(paths[style], canvas.Line{Color: tint(style.Color, style.Solid()), Width: style.Width})
	}
	return n
}
