package canvas

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"
)

// vectors is a canvas that becomes an SVG document.
type vectors struct {
	out  bytes.Buffer
	open []int // groups opened since each Push; the first number counts those before any
}

// NewSVG returns an empty document with a size in points.
func NewSVG(width, height float64) Canvas {
	v := &vectors{open: []int{0}}
	fmt.Fprintf(&v.out, `<?xml version="1.0"?>
<svg width="%.5gpt" height="%.5gpt" viewBox="0 0 %.5g %.5g"
	xmlns="http://www.w3.org/2000/svg"
	xmlns:xlink="http://www.w3.org/1999/xlink">
`, width, height, width, height)
	v.group("scale(1, -1) translate(0, -%.5g)", height) // the origin is at the bottom
	return v
}

func (v *vectors) group(transform string, values ...any) {
	fmt.Fprintf(&v.out, `<g transform="`+transform+"\">\n", values...)
	v.open[len(v.open)-1]++
}

func (v *vectors) Push() { v.open = append(v.open, 0) }

func (v *vectors) Pop() {
	v.out.WriteString(strings.Repeat("</g>\n", v.open[len(v.open)-1]))
	v.open = v.open[:len(v.open)-1]
}

func (v *vectors) Translate(by Point)     { v.group("translate(%.5g, %.5g)", by.X, by.Y) }
func (v *vectors) Rotate(radians float64) { v.group("rotate(%g)", radians*180/math.Pi) }

func (v *vectors) Encode() ([]byte, error) {
	return append(append(bytes.Clone(v.out.Bytes()), strings.Repeat("</g>\n", v.open[0])...), "</svg>\n"...), nil
}

func (v *vectors) Fill(path Path, c color.NRGBA) {
	fmt.Fprintf(&v.out, `<path d="%s" style="fill:%s%s" />`+"\n", pathData(path, "Z"), hex(c), opacity("fill-opacity", c))
}

func (v *vectors) Stroke(path Path, line Line) {
	if line.Width <= 0 {
		return
	}
	dashes, before := "", ";stroke-dasharray:"
	for _, d := range line.Dashes {
		dashes += before + fmt.Sprintf("%.5g", d)
		before = ","
	}
	fmt.Fprintf(&v.out, `<path d="%s" style="fill:none;stroke:%s%s;stroke-width:%.5g%s" />`+"\n",
		pathData(path, ""), hex(line.Color), opacity("stroke-opacity", line.Color), line.Width, dashes)
}

// text names font families with the same metrics, because the reader may not have the font that the text was measured with, and it fixes the length of
// the text, so that no other font exceeds the image.
func (v *vectors) text(style *Style, at Point, line string) {
	weight := "normal"
	if style.Bold {
		weight = "bold"
	}
	fmt.Fprintf(&v.out, `<text x="%.5g" y="%.5g" transform="scale(1, -1)"
	style="font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;font-variant:normal;font-weight:%s;font-style:normal;font-size:%.5gpx;fill:%s" textLength="%.2f" lengthAdjust="spacingAndGlyphs">%s</text>
`, at.X, -at.Y, weight, style.Size, hex(style.Color), style.Width(line), html.EscapeString(line))
}

// pathData returns the commands of a path; each line ends with end.
func pathData(path Path, end string) string {
	var out strings.Builder
	for i := range path {
		s := &path[i]
		if r := s.Radius; r != 0 { // two halves, because an arc cannot end where it begins
			x, y := s.Points[0].X, s.Points[0].Y
			fmt.Fprintf(&out, "M%.5g,%.5gA%.5g,%.5g 0 1 1 %.5g,%.5gA%.5g,%.5g 0 1 1 %.5g,%.5gZ", x+r, y, r, r, x-r, y, r, r, x+r, y)
			continue
		}
		command := "M"
		for _, p := range s.Points {
			fmt.Fprintf(&out, "%s%.5g,%.5g", command, p.X, p.Y)
			command = "L"
		}
		out.WriteString(end)
	}
	return out.String()
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// opacity returns a property with the opacity of a colour, empty if it is opaque.
func opacity(property string, c color.NRGBA) string {
	if c.A == 255 {
		return ""
	}
	return fmt.Sprintf(";%s:%.5g", property, float64(c.A)/255)
}
