// Package render makes PNG and SVG images of charts without a browser. It does the layout itself (two y axes, a legend next to the panel, notes below)
// on a canvas of gonum/plot, which provides the fonts and both formats.
package render

import (
	"bytes"
	_ "embed"
	"image/color"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"aiperf/internal/report/chart"
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
	canvas := newRaster(size)
	paint(vgdraw.New(canvas), c, theme, size)
	return written(vgimg.PngCanvas{Canvas: canvas.Canvas})
}

// SVG renders a chart as an SVG document.
func SVG(c *chart.Chart, theme *chart.Theme, size Size) ([]byte, error) {
	canvas := vgsvg.New(vg.Length(size.Width), vg.Length(size.Height))
	paint(vgdraw.New(canvas), c, theme, size)
	return svgOf(canvas)
}

// Stack renders charts one below the other in one image, PNG or SVG; shares are their parts of the height.
func Stack(list []*chart.Chart, shares []float64, theme *chart.Theme, size Size, svg bool) ([]byte, error) {
	if svg {
		canvas := vgsvg.New(vg.Length(size.Width), vg.Length(size.Height))
		stacked(vgdraw.New(canvas), list, shares, theme, size)
		return svgOf(canvas)
	}
	canvas := newRaster(size)
	stacked(vgdraw.New(canvas), list, shares, theme, size)
	return written(vgimg.PngCanvas{Canvas: canvas.Canvas})
}

func written(c io.WriterTo) ([]byte, error) {
	var out bytes.Buffer
	_, err := c.WriteTo(&out)
	return out.Bytes(), err
}

// packedFonts are Liberation Sans Regular and Bold, one behind the other (liberation_LICENSE).
//
//go:embed liberation_sans.ttf.zst
var packedFonts []byte

// sizeOfRegular is the size of the first font in bytes.
const sizeOfRegular = 411860

// unpackedFonts returns the two fonts.
func unpackedFonts() (regular, bold []byte, err error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	both, err := z.DecodeAll(packedFonts, nil)
	if err != nil {
		return nil, nil, err
	}
	return both[:sizeOfRegular], both[sizeOfRegular:], nil
}

// fonts are parsed when the first picture is drawn.
var fonts = sync.OnceValue(func() text.Handler {
	regular, bold, err := unpackedFonts()
	if err != nil {
		panic("draw: the fonts inside the program: " + err.Error())
	}
	var list font.Collection
	for _, one := range []struct {
		ttf    []byte
		weight stdfont.Weight
	}{{regular, stdfont.WeightNormal}, {bold, stdfont.WeightBold}} {
		face, err := opentype.Parse(one.ttf)
		if err != nil {
			panic("draw: built-in font: " + err.Error())
		}
		list = append(list, font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: one.weight}, Face: face})
	}
	return text.Plain{Fonts: font.NewCache(list)}
})

// lettering returns a text style.
func lettering(size float64, hue string, bold bool, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(size)}
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return text.Style{Color: tint(hue, 1), Font: f, XAlign: x, YAlign: y, Handler: fonts()}
}

// tint returns a colour #rrggbb with an opacity.
func tint(hex string, opacity float64) color.Color {
	v, err := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	if err != nil {
		v = 0x808080
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), uint8(math.Round(255 * min(max(opacity, 0), 1)))}
}
