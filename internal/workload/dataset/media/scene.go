package media

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// Scenes of videos.
const (
	sceneShapes = "moving_shapes"
	sceneClock  = "grid_clock"
	sceneNoise  = "noise"
)

type colour [3]byte

// shape is one of the three shapes of moving_shapes. Sizes, starts and steps are in pixels.
type shape struct {
	colour colour
	round  bool
	half   int     // half of its size
	x, y   float64 // position in the first frame
	dx, dy float64 // step per frame
}

// drawShapes draws frame i of n on black, like "moving_shapes" of the Python tool. A red circle crosses twice from left to right, a green square twice
// from top to bottom. A blue circle crosses one and a half times from the lower right to the upper left.
func drawShapes(f rgb, i, n int) {
	clear(f.pix)
	w, h, frames := float64(f.width), float64(f.height), float64(n)
	for _, s := range []shape{
		{colour{255, 0, 0}, true, 30 / 2, 0, float64(f.height / 2), 2 * w / frames, 0},
		{colour{0, 255, 0}, false, 25 / 2, float64(f.width / 2), 0, 0, 2 * h / frames},
		{colour{0, 0, 255}, true, 20 / 2, w, h, -1.5 * w / frames, -1.5 * h / frames},
	} {
		x, y := wrap(s.x+float64(s.dx*float64(i)), w), wrap(s.y+float64(s.dy*float64(i)), h)
		if s.round {
			f.disc(x, y, float64(s.half), s.colour)
		} else {
			f.fill(int(math.Round(x))-s.half, int(math.Round(y))-s.half, int(math.Round(x))+s.half, int(math.Round(y))+s.half, s.colour)
		}
	}
}

// wrap returns x modulo limit, never negative.
func wrap(x, limit float64) float64 {
	if x = math.Mod(x, limit); x < 0 {
		x += limit
	}
	return x
}

// drawClock draws frame i of n: a clock on a grid, with the frame number in the corner, like "grid_clock" of the Python tool. Its minute hand turns
// once in all frames.
func drawClock(f rgb, i, n int) {
	f.fill(0, 0, f.width-1, f.height-1, colour{32, 32, 32})
	for x := 0; x < f.width; x += 32 {
		f.fill(x, 0, x, f.height-1, colour{64, 64, 64})
	}
	for y := 0; y < f.height; y += 32 {
		f.fill(0, y, f.width-1, y, colour{64, 64, 64})
	}
	cx, cy, radius := float64(f.width/2), float64(f.height/2), float64(min(f.width, f.height)/4)
	angle := 2 * math.Pi * float64(i) / float64(n)
	hand := func(angle, length float64, width float64, c colour) {
		f.line(cx, cy, cx+float64(radius*length*math.Cos(angle-math.Pi/2)), cy+float64(radius*length*math.Sin(angle-math.Pi/2)), width, c)
	}
	hand(angle/12, 0.6, 3, colour{255, 255, 0})
	hand(angle, 0.9, 2, colour{255, 255, 255})
	f.ring(cx, cy, radius, 2, colour{128, 128, 128})
	f.disc(cx, cy, 3, colour{255, 0, 0})
	f.text(10, 10, fmt.Sprintf("Frame %d", i))
}

func (f rgb) set(x, y int, c colour) {
	if x >= 0 && y >= 0 && x < f.width && y < f.height {
		copy(f.pix[3*(y*f.width+x):], c[:])
	}
}

// fill fills a rectangle, both corners included.
func (f rgb) fill(x0, y0, x1, y1 int, c colour) {
	for y := max(0, y0); y <= min(f.height-1, y1); y++ {
		for x := max(0, x0); x <= min(f.width-1, x1); x++ {
			copy(f.pix[3*(y*f.width+x):], c[:])
		}
	}
}

// where sets the colour of every pixel in a square around a point for which test is true.
func (f rgb) where(cx, cy, reach float64, c colour, test func(dx, dy float64) bool) {
	for y := int(math.Floor(cy - reach)); y <= int(math.Ceil(cy+reach)); y++ {
		for x := int(math.Floor(cx - reach)); x <= int(math.Ceil(cx+reach)); x++ {
			if test(float64(x)-cx, float64(y)-cy) {
				f.set(x, y, c)
			}
		}
	}
}

func (f rgb) disc(cx, cy, radius float64, c colour) {
	limit := (radius + 0.5) * (radius + 0.5)
	f.where(cx, cy, radius+1, c, func(dx, dy float64) bool { return float64(dx*dx)+float64(dy*dy) <= limit })
}

// ring draws the edge of a disc, width pixels towards its centre.
func (f rgb) ring(cx, cy, radius, width float64, c colour) {
	outer, inner := (radius+0.5)*(radius+0.5), max(0, radius+0.5-width)
	f.where(cx, cy, radius+1, c, func(dx, dy float64) bool {
		d := float64(dx*dx) + float64(dy*dy)
		return d <= outer && d > inner*inner
	})
}

// line draws a line: all pixels whose distance from it is at most width/2.
func (f rgb) line(x0, y0, x1, y1, width float64, c colour) {
	dx, dy := x1-x0, y1-y0
	length := math.Hypot(dx, dy)
	if length == 0 {
		return
	}
	f.where(x0, y0, length+width, c, func(px, py float64) bool {
		along := (float64(px*dx) + float64(py*dy)) / length
		across := math.Abs(float64(px*dy)-float64(py*dx)) / length
		return along >= -0.5 && along <= length+0.5 && across <= width/2
	})
}

// text writes white letters. x, y is the upper left corner.
func (f rgb) text(x, y int, s string) {
	canvas := image.NewGray(image.Rect(0, 0, f.width, f.height))
	face := basicfont.Face7x13
	d := font.Drawer{Dst: canvas, Src: image.NewUniform(color.White), Face: face, Dot: fixed.P(x, y+face.Ascent)}
	d.DrawString(s)
	for i, v := range canvas.Pix {
		if v > 127 {
			copy(f.pix[3*i:], "\xff\xff\xff")
		}
	}
}
