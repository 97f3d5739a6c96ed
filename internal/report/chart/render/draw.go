// Package render makes PNG and SVG images of charts without a browser. It does the layout: two y axes, a legend next to the panel, notes below.
package render

import (
	"image/color"
	"math"
	"strconv"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/canvas"
)

// Size is the size of an image in points, and the number of pixels per point.
type Size struct {
	Width, Height float64
	Scale         float64
}

// Standard is 2400 × 1200 pixels.
var Standard = Size{Width: 1600, Height: 800, Scale: 1.5}

// PNG renders a chart as a PNG image.
func PNG(c *chart.Chart, theme *chart.Theme, size Size) ([]byte, error) {
	return Stack([]*chart.Chart{c}, []float64{1}, theme, size, false)
}

// SVG renders a chart as an SVG document.
func SVG(c *chart.Chart, theme *chart.Theme, size Size) ([]byte, error) {
	return Stack([]*chart.Chart{c}, []float64{1}, theme, size, true)
}

// Stack renders charts one below the other in one image, PNG or SVG; shares are their parts of the height.
func Stack(list []*chart.Chart, shares []float64, theme *chart.Theme, size Size, svg bool) ([]byte, error) {
	image := canvas.NewSVG(size.Width, size.Height)
	if !svg {
		image = canvas.NewPNG(size.Width, size.Height, size.Scale)
	}
	stacked(image, list, shares, theme, size)
	return image.Encode()
}

// lettering returns a text style.
func lettering(size float64, hue string, bold bool, x, y float64) canvas.Style {
	return canvas.Style{Color: tint(hue, 1), Bold: bold, Size: size, XAlign: x, YAlign: y}
}

// tint returns a colour #rrggbb with an opacity.
func tint(hex string, opacity float64) color.NRGBA {
	v, err := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	if err != nil {
		v = 0x808080
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), uint8(math.Round(255 * min(max(opacity, 0), 1)))}
}
