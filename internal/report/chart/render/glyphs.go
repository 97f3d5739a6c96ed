package render

import (
	"unicode/utf8"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// raster is a pixel canvas that places letters as they are measured. The library draws kerned pairs (To, Av, a blank before A) with
// golang.org/x/image, whose faces move the second letter by the same 26.6 units at every size (Face.Kern of font/opentype), so that it overlaps the
// first.
type raster struct{ *vgimg.Canvas }

func newRaster(size Size) raster {
	return raster{vgimg.NewWith(vgimg.UseWH(vg.Length(size.Width), vg.Length(size.Height)), vgimg.UseDPI(int(72*size.Scale)))}
}

// FillString draws a text in pieces that contain no kerned pair.
func (c raster) FillString(f font.Face, at vg.Point, text string) {
	for _, l := range unkerned(f, text) {
		c.Canvas.FillString(f, vg.Point{X: at.X + l.at, Y: at.Y}, l.text)
	}
}

// letters is a part of a text and its position in it.
type letters struct {
	at   vg.Length
	text string
}

// unkerned splits a text between the letters of each kerned pair.
func unkerned(f font.Face, text string) (list []letters) {
	start, place, before := 0, vg.Length(0), -1 // before: glyph index of the previous letter
	for i := range text {
		if before >= 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			end := i + size
			kern := f.Width(text[before:end]) - f.Width(text[before:i]) - f.Width(text[i:end])
			if kern*kern > 1e-12*f.Font.Size*f.Font.Size {
				list = append(list, letters{place, text[start:i]})
				place += f.Width(text[start:i]) + kern
				start = i
			}
		}
		before = i
	}
	return append(list, letters{place, text[start:]})
}
