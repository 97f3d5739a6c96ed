// Package canvas draws lines, areas and texts on images, as PNG or SVG. Lengths are in points, positions in points from the left and the bottom.
package canvas

import (
	"image/color"
	"math"
	"strings"
)

// Canvas is an image that is being drawn. Translate and Rotate move the coordinates of what is drawn next; Pop returns to the coordinates of the last
// Push.
type Canvas interface {
	Push()
	Pop()
	Translate(by Point)
	Rotate(radians float64)

	// Fill fills the inside of a path, whose lines it closes.
	Fill(path Path, c color.NRGBA)
	// Stroke draws the lines of a path, which has no circles.
	Stroke(path Path, line Line)
	// Encode returns the image as a file.
	Encode() ([]byte, error)

	// text writes a line without breaks that begins at a position on the base line.
	text(style *Style, at Point, line string)
}

// Line is the look of a line. Dashes are the lengths of its dashes and gaps; nil means a solid line.
type Line struct {
	Color  color.NRGBA
	Width  float64
	Dashes []float64
}

// FillPolygon fills a polygon.
func FillPolygon(on Canvas, c color.NRGBA, corners []Point) {
	if len(corners) == 0 {
		return
	}
	on.Fill(Path{{Points: corners}}, c)
}

// FillCircle fills a circle.
func FillCircle(on Canvas, c color.NRGBA, middle Point, radius float64) {
	on.Fill(Path{{Points: []Point{middle}, Radius: radius}}, c)
}

// StrokeLine draws a line through points.
func StrokeLine(on Canvas, line Line, points []Point) {
	if len(points) == 0 {
		return
	}
	on.Stroke(Path{{Points: points}}, line)
}

// FillText writes a text of one or more lines at a position; the style says how it is aligned to it.
func FillText(on Canvas, style Style, at Point, text string) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return
	}
	if style.Rotation != 0 {
		on.Push()
		defer on.Pop()
		on.Rotate(style.Rotation)
	}
	sin, cos := math.Sincos(style.Rotation)
	at = Point{X: at.Y*sin + at.X*cos, Y: at.Y*cos - at.X*sin}
	lines := strings.Split(text, "\n")
	at.Y += style.height(len(lines))*style.YAlign - style.ascent()
	for i, line := range lines {
		on.text(&style, at.Add(Point{X: style.XAlign * style.Width(line), Y: float64(len(lines)-i) * style.Size}), line)
	}
}
