package canvas

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
)

var black = color.NRGBA{A: 255}

// drawn returns the darkness of an image's pixels, 0 to 1, by column and row from the bottom left.
func drawn(t *testing.T, on Canvas) func(x, y int) float64 {
	t.Helper()
	data, err := on.Encode()
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return func(x, y int) float64 {
		r, _, _, _ := picture.At(x, picture.Bounds().Dy()-1-y).RGBA()
		return 1 - float64(r)/0xffff
	}
}

func total(at func(x, y int) float64, x0, y0, x1, y1 int) (sum float64) {
	for x := x0; x < x1; x++ {
		for y := y0; y < y1; y++ {
			sum += at(x, y)
		}
	}
	return sum
}

// TestAreas: shapes cover as many pixels as their area says, at their place, also after the coordinates were moved and turned.
func TestAreas(t *testing.T) {
	square := func(on Canvas) { FillPolygon(on, black, []Point{{10, 20}, {30, 20}, {30, 40}, {10, 40}}) }
	for name, c := range map[string]struct {
		draw           func(on Canvas)
		area           float64 // in square points
		x0, y0, x1, y1 int     // in pixels
	}{
		"polygon": {square, 400, 20, 40, 60, 80},
		"moved":   {func(on Canvas) { on.Push(); on.Translate(Point{5, -10}); square(on); on.Pop() }, 400, 30, 20, 70, 60},
		"turned":  {func(on Canvas) { on.Push(); on.Translate(Point{60, 0}); on.Rotate(math.Pi / 2); square(on); on.Pop() }, 400, 40, 20, 80, 60},
		"popped":  {func(on Canvas) { on.Push(); on.Translate(Point{9, 9}); on.Pop(); square(on) }, 400, 20, 40, 60, 80},
		"circle":  {func(on Canvas) { FillCircle(on, black, Point{30, 30}, 12) }, math.Pi * 144, 36, 36, 84, 84},
		"line":    {func(on Canvas) { StrokeLine(on, Line{Color: black, Width: 3}, []Point{{10, 30}, {50, 30}}) }, 120, 20, 57, 100, 63},
		"dashed": {func(on Canvas) {
			StrokeLine(on, Line{Color: black, Width: 3, Dashes: []float64{6, 4}}, []Point{{10, 30}, {33, 30}})
		}, 45, 20, 57, 66, 63},
		"no width": {func(on Canvas) { StrokeLine(on, Line{Color: black}, []Point{{10, 30}, {50, 30}}) }, 0, 0, 0, 0, 0},
		"pale":     {func(on Canvas) { FillPolygon(on, color.NRGBA{A: 51}, []Point{{10, 20}, {30, 20}, {30, 40}, {10, 40}}) }, 80, 20, 40, 60, 80},
	} {
		on := NewPNG(80, 60, 2)
		c.draw(on)
		at := drawn(t, on)
		inside, all := total(at, c.x0, c.y0, c.x1, c.y1)/4, total(at, 0, 0, 160, 120)/4
		if math.Abs(inside-c.area) > 0.01*c.area || all-inside > 1e-6 {
			t.Errorf("%s: %v square points where it should be and %v in all, want %v", name, inside, all, c.area)
		}
	}
}

// TestTexts: letters stand where the font puts them. T and o of the regular face are 1251 and 1139 of 2048 units wide, and 227 closer than that.
func TestTexts(t *testing.T) {
	style := Style{Color: black, Size: 20.48}
	if w := style.Width("To"); math.Abs(w-0.01*(1251+1139-227)) > 1e-9 {
		t.Errorf("To is %v points wide", w)
	}
	on := NewPNG(100, 60, 2)
	FillText(on, style, Point{10, 20}, "TT")
	at := drawn(t, on)
	// The base line is higher than the position by the size minus the ascent of 1854 units. A stem is about 191 units wide, a letter 1409 high.
	if stem := total(at, 20, 50, 46, 51) / 2; math.Abs(stem-0.01*191) > 0.1 {
		t.Errorf("the stem is %v points wide", stem)
	}
	if below, above := total(at, 0, 0, 200, 43), total(at, 0, 73, 200, 120); below > 0.5 || above > 0.5 {
		t.Errorf("%v pixels below and %v above the letters", below, above)
	}
	upright, both := total(at, 0, 0, 200, 120), total(at, 45, 0, 200, 120)
	if math.Abs(both-upright/2) > 1 {
		t.Errorf("the second letter has %v of %v pixels", both, upright)
	}
	turned := NewPNG(100, 60, 2)
	style.Rotation, style.XAlign, style.YAlign = math.Pi/2, XCenter, YCenter
	FillText(turned, style, Point{50, 30}, "TT")
	if sum := total(drawn(t, turned), 80, 34, 120, 86); math.Abs(sum-upright) > 0.02*upright {
		t.Errorf("turned by a quarter, the letters have %v pixels, upright %v", sum, upright)
	}
}

// TestLines: a text of two lines is centred as a whole; an empty text draws nothing.
func TestLines(t *testing.T) {
	on := NewPNG(60, 60, 1)
	FillText(on, Style{Color: black, Size: 12, XAlign: XCenter, YAlign: YCenter}, Point{30, 30}, "HH\nHH\n")
	at := drawn(t, on)
	if upper, lower := total(at, 0, 30, 60, 60), total(at, 0, 0, 60, 30); upper < 10 || math.Abs(upper-lower) > 0.2*upper {
		t.Errorf("%v pixels above the middle, %v below", upper, lower)
	}
	empty := NewSVG(60, 60)
	FillText(empty, Style{Color: black, Size: 12}, Point{30, 30}, "\n")
	FillPolygon(empty, black, nil)
	StrokeLine(empty, Line{Color: black, Width: 1}, nil)
	if data, err := empty.Encode(); err != nil || bytes.Contains(data, []byte("<text")) || bytes.Contains(data, []byte("<path")) {
		t.Errorf("%s: %v", data, err)
	}
}

// TestSVG: the groups are closed, and colours, patterns and markup are written as SVG writes them.
func TestSVG(t *testing.T) {
	on := NewSVG(100, 50)
	on.Push()
	on.Translate(Point{1, 2})
	on.Rotate(math.Pi / 2)
	FillCircle(on, color.NRGBA{R: 204, G: 204, B: 204, A: 153}, Point{10, 10}, 2.5)
	on.Pop()
	StrokeLine(on, Line{Color: black, Width: 2, Dashes: []float64{10, 5}}, []Point{{1, 2}, {3, 4}})
	FillText(on, Style{Color: black, Size: 12, Bold: true}, Point{5, 6}, "a<b")
	data, err := on.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<svg width="100pt" height="50pt" viewBox="0 0 100 50"`,
		"<g transform=\"translate(1, 2)\">\n<g transform=\"rotate(90)\">\n<path d=\"M12.5,10A2.5,2.5 0 1 1 7.5,10A2.5,2.5 0 1 1 12.5,10Z\" style=\"fill:#CCCCCC;fill-opacity:0.6\" />\n</g>\n</g>\n",
		`<path d="M1,2L3,4" style="fill:none;stroke:#000000;stroke-width:2;stroke-dasharray:10,5" />`,
		`font-weight:bold;font-style:normal;font-size:12px;fill:#000000" textLength=`, ">a&lt;b</text>\n</g>\n</svg>\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in:\n%s", want, data)
		}
	}
}

// TestClip: lines and polygons are cut at the sides of a rectangle.
func TestClip(t *testing.T) {
	r := Rectangle{Min: Point{0, 0}, Max: Point{10, 10}}
	parts := r.ClipLine([]Point{{-5, 5}, {5, 5}, {5, 15}, {8, 15}, {8, 5}})
	want := [][]Point{{{0, 5}, {5, 5}, {5, 10}}, {{8, 10}, {8, 5}}}
	if len(parts) != 2 || !equal(parts[0], want[0]) || !equal(parts[1], want[1]) {
		t.Errorf("%v, want %v", parts, want)
	}
	if parts := r.ClipLine([]Point{{11, 0}, {12, 9}}); len(parts) != 0 {
		t.Errorf("a line outside has the parts %v", parts)
	}
	area, corners := 0.0, r.ClipPolygon([]Point{{-5, 5}, {5, -5}, {15, 5}, {5, 15}})
	for i, p := range corners {
		q := corners[(i+1)%len(corners)]
		area += (p.X*q.Y - q.X*p.Y) / 2
	}
	if math.Abs(area-100) > 1e-9 { // the corners of the diamond are outside, those of the square are on its sides
		t.Errorf("%v has the area %v", corners, area)
	}
}

func equal(a, b []Point) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Hypot(a[i].X-b[i].X, a[i].Y-b[i].Y) > 1e-9 {
			return false
		}
	}
	return true
}
