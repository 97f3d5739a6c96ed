package canvas

import (
	_ "embed"
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"aiperf/internal/base/programpages"
)

// Alignments of a text to its position, as parts of its width and height.
const (
	XLeft   = 0
	XCenter = -0.5
	XRight  = -1
	YBottom = 0
	YCenter = -0.5
	YTop    = -1
)

// Style is the look of a text, and where its position is in it. Rotation is in radians.
type Style struct {
	Color          color.NRGBA
	Bold           bool
	Size           float64
	Rotation       float64
	XAlign, YAlign float64
}

// Width returns the width of a line of text.
func (s *Style) Width(line string) float64 {
	_, width := s.face().place(line)
	return float64(width) * s.perUnit()
}

// height returns the height of a number of lines.
func (s *Style) height(lines int) float64 {
	f := s.face()
	line, gap := float64(f.metrics.Ascent)*s.perUnit()+float64(f.metrics.Descent)*s.perUnit(), float64(f.metrics.Height-f.metrics.Ascent-f.metrics.Descent)*s.perUnit()
	return float64(lines)*line + float64(lines-1)*gap
}

// ascent returns the height of a line above its base line.
func (s *Style) ascent() float64 { return float64(s.face().metrics.Ascent) * s.perUnit() }

// perUnit returns the points per unit of the font.
func (s *Style) perUnit() float64 { return s.Size / float64(s.face().em) }

func (s *Style) face() *face {
	both := faces()
	if s.Bold {
		return both[1]
	}
	return both[0]
}

// packedFonts are Liberation Sans Regular and Bold, one behind the other (liberation_LICENSE), with the letters and tables that charts need. fonts_test.go
// says which, and has the commands that make the file.
//
//go:embed liberation_sans.ttf.zst
var packedFonts string

// sizeOfRegular is the size of the first font in bytes.
const sizeOfRegular = 100384

// unpackedFonts returns the two fonts.
func unpackedFonts() (regular, bold []byte, err error) {
	both, err := programpages.Decompress(packedFonts)
	if err != nil {
		return nil, nil, err
	}
	return both[:sizeOfRegular], both[sizeOfRegular:], nil
}

// faces are the regular and the bold face, parsed when the first text is measured.
var faces = sync.OnceValue(func() [2]*face {
	regular, bold, err := unpackedFonts()
	if err != nil {
		panic("canvas: the fonts inside the program: " + err.Error())
	}
	return [2]*face{newFace(regular), newFace(bold)}
})

// face is a font. All its lengths are in its own units: its glyphs are loaded at as many pixels per em as it has units, in which sfnt counts.
type face struct {
	font    *sfnt.Font
	em      fixed.Int26_6 // units per em
	metrics font.Metrics
}

func newFace(ttf []byte) *face {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("canvas: built-in font: " + err.Error())
	}
	em := fixed.Int26_6(f.UnitsPerEm())
	metrics, err := f.Metrics(nil, em, font.HintingNone)
	if err != nil {
		panic("canvas: built-in font: " + err.Error())
	}
	return &face{font: f, em: em, metrics: metrics}
}

// glyph is the shape of a letter and where it begins in its line, in units of the font.
type glyph struct {
	index sfnt.GlyphIndex
	at    fixed.Int26_6
}

// place returns the glyphs of a line and its width. Pairs like To and Av are closer than their widths say.
func (f *face) place(line string) (list []glyph, width fixed.Int26_6) {
	var b sfnt.Buffer
	for _, r := range line {
		index, err := f.font.GlyphIndex(&b, r)
		if err != nil {
			continue
		}
		if len(list) > 0 {
			if kern, err := f.font.Kern(&b, list[len(list)-1].index, index, f.em, font.HintingNone); err == nil {
				width += kern
			}
		}
		list = append(list, glyph{index, width})
		if advance, err := f.font.GlyphAdvance(&b, index, f.em, font.HintingNone); err == nil {
			width += advance
		}
	}
	return list, width
}
