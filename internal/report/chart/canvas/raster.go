package canvas

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"github.com/golang/freetype/raster"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// pixels is a canvas of pixels.
type pixels struct {
	image      *image.RGBA
	rasterizer *raster.Rasterizer
	perPoint   float64 // pixels per point
	matrix     matrix  // from positions, in pixels from the bottom, to pixels of the image, which are counted from the top
	stack      []matrix
}

// NewPNG returns a white canvas with a size in points, and a number of pixels per point.
func NewPNG(width, height, perPoint float64) Canvas {
	perPoint = math.Trunc(72*perPoint) / 72
	w, h := int(width*perPoint+0.5), int(height*perPoint+0.5)
	p := &pixels{image: image.NewRGBA(image.Rect(0, 0, w, h)), rasterizer: raster.NewRasterizer(w, h), perPoint: perPoint}
	p.matrix = matrix{xx: 1, yy: -1, y0: float64(h)}
	draw.Draw(p.image, p.image.Bounds(), image.White, image.Point{}, draw.Src)
	return p
}

// matrix maps (x, y) to (xx·x + xy·y + x0, yx·x + yy·y + y0).
type matrix struct{ xx, yx, xy, yy, x0, y0 float64 }

func (m *matrix) apply(x, y float64) Point {
	return Point{m.xx*x + m.xy*y + m.x0, m.yx*x + m.yy*y + m.y0}
}

func (p *pixels) Push() { p.stack = append(p.stack, p.matrix) }
func (p *pixels) Pop()  { p.matrix, p.stack = p.stack[len(p.stack)-1], p.stack[:len(p.stack)-1] }

func (p *pixels) Translate(by Point) {
	to := p.at(by)
	p.matrix.x0, p.matrix.y0 = to.X, to.Y
}

func (p *pixels) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	m := p.matrix
	p.matrix = matrix{m.xx*cos + m.xy*sin, m.yx*cos + m.yy*sin, m.xy*cos - m.xx*sin, m.yy*cos - m.yx*sin, m.x0, m.y0}
}

// at returns the pixel at a position.
func (p *pixels) at(q Point) Point { return p.matrix.apply(q.X*p.perPoint, q.Y*p.perPoint) }

func (p *pixels) Encode() ([]byte, error) {
	var out bytes.Buffer
	err := png.Encode(&out, p.image)
	return out.Bytes(), err
}

func (p *pixels) Fill(path Path, c color.NRGBA) {
	var outline raster.Path
	for i := range path {
		if s := &path[i]; s.Radius != 0 {
			p.addCircle(&outline, s.Points[0], s.Radius)
		} else {
			p.addPolygon(&outline, s.Points)
		}
	}
	p.rasterizer.Clear()
	p.rasterizer.AddPath(outline)
	p.paint(c)
}

// paint colours the pixels that the path in the rasterizer covers.
func (p *pixels) paint(c color.NRGBA) {
	painter := raster.NewRGBAPainter(p.image)
	painter.SetColor(c)
	p.rasterizer.UseNonZeroWinding = true
	p.rasterizer.Rasterize(painter)
}

func (p *pixels) addPolygon(outline *raster.Path, corners []Point) {
	for i, corner := range corners {
		if at := grid(p.at(corner)); i == 0 {
			outline.Start(at)
		} else {
			outline.Add1(at)
		}
	}
	outline.Add1(grid(p.at(corners[0])))
}

// addCircle adds a circle as quadratic curves, each through the middle of its arc.
func (p *pixels) addCircle(outline *raster.Path, middle Point, radius float64) {
	const arcs = 16
	on := func(k float64) Point {
		sin, cos := math.Sincos(2 * math.Pi * k / arcs)
		return Point{middle.X + radius*cos, middle.Y + radius*sin}
	}
	outline.Start(grid(p.at(on(0))))
	for k := range arcs {
		a, b, c := on(float64(k)), on(float64(k)+0.5), on(float64(k)+1)
		outline.Add2(grid(p.at(Point{2*b.X - a.X/2 - c.X/2, 2*b.Y - a.Y/2 - c.Y/2})), grid(p.at(c)))
	}
}

func (p *pixels) Stroke(path Path, line Line) {
	if line.Width <= 0 {
		return
	}
	var strokes raster.Path
	for i := range path {
		points := make([]Point, len(path[i].Points))
		for k, q := range path[i].Points {
			points[k] = p.at(q)
		}
		for _, dash := range dashes(points, line.Dashes, p.perPoint) {
			addLine(&strokes, dash)
		}
	}
	p.rasterizer.Clear()
	p.rasterizer.AddStroke(strokes, subpixels(line.Width*p.perPoint), raster.ButtCapper, raster.RoundJoiner)
	p.paint(line.Color)
}

// dashes cuts a line into its dashes. pattern has the lengths of dashes and gaps, and scale is what they are multiplied with.
func dashes(line []Point, pattern []float64, scale float64) (list [][]Point) {
	if len(pattern) == 0 || len(line) < 2 {
		return [][]Point{line}
	}
	from, dash := line[0], []Point{line[0]}
	left := pattern[0] * scale // the rest of this dash or gap
	k := 0                     // number of the dash or gap
	for i := 1; i < len(line); {
		long := math.Hypot(line[i].X-from.X, line[i].Y-from.Y)
		if long <= left {
			from, left = line[i], left-long
			dash, i = append(dash, from), i+1
		} else {
			t := left / long
			from = Point{from.X + (line[i].X-from.X)*t, from.Y + (line[i].Y-from.Y)*t}
			if k%2 == 0 {
				list = append(list, append(dash, from))
			}
			k++
			dash, left = []Point{from}, pattern[k%len(pattern)]*scale
		}
	}
	if k%2 == 0 && len(dash) > 1 {
		list = append(list, dash)
	}
	return list
}

// addLine adds a line to strokes, without points that are closer to the point before than a sixteenth of a pixel: their joins would point anywhere.
func addLine(strokes *raster.Path, line []Point) {
	const near = 4 // in 64ths of a pixel
	var before fixed.Point26_6
	for i, q := range line {
		at := grid(q)
		switch away := at.Sub(before); {
		case i == 0:
			strokes.Start(at)
		case max(away.X, -away.X)+max(away.Y, -away.Y) <= near:
			continue
		default:
			strokes.Add1(at)
		}
		before = at
	}
}

func (p *pixels) text(style *Style, at Point, line string) {
	var b sfnt.Buffer
	f := style.face()
	scale := style.perUnit() * p.perPoint
	glyphs, _ := f.place(line)
	for _, g := range glyphs {
		outline, err := f.font.LoadGlyph(&b, g.index, f.em, nil)
		if err != nil {
			continue
		}
		p.rasterizer.Clear()
		for _, s := range outline {
			var to [3]fixed.Point26_6
			for k, q := range s.Args {
				to[k] = grid(p.matrix.apply(at.X*p.perPoint+float64(g.at+q.X)*scale, at.Y*p.perPoint-float64(q.Y)*scale))
			}
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				p.rasterizer.Start(to[0])
			case sfnt.SegmentOpLineTo:
				p.rasterizer.Add1(to[0])
			case sfnt.SegmentOpQuadTo:
				p.rasterizer.Add2(to[0], to[1])
			case sfnt.SegmentOpCubeTo:
				p.rasterizer.Add3(to[0], to[1], to[2])
			}
		}
		p.paint(style.Color)
	}
}

// grid rounds a position to 64ths of a pixel.
func grid(p Point) fixed.Point26_6 { return fixed.Point26_6{X: subpixels(p.X), Y: subpixels(p.Y)} }

func subpixels(x float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(x * 64)) }
