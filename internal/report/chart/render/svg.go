package render

import (
	"fmt"
	"html"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/vgsvg"

	"aiperf/internal/base/lazyregexp"
)

// lettered matches a text of an SVG document: weight, size and the words.
var lettered = lazyregexp.New(`font-family:Liberation Sans;([^"]*font-weight:(\w+);[^"]*font-size:([0-9.]+)px[^"]*)">([^<]*)</text>`)

// svgOf returns the canvas as an SVG document. The reader may not have the font that it was measured with. So it names font families with the same
// metrics, and every text has a fixed length, so that no other font exceeds the image.
func svgOf(canvas *vgsvg.Canvas) ([]byte, error) {
	data, err := written(canvas)
	if err != nil {
		return nil, err
	}
	return lettered.ReplaceAllFunc(data, func(found []byte) []byte {
		m := lettered.FindSubmatch(found)
		size, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil || len(m[4]) == 0 {
			return found
		}
		style := lettering(size, "#000000", string(m[2]) == "bold", text.XLeft, text.YBottom)
		long := float64(style.Width(html.UnescapeString(string(m[4]))))
		return fmt.Appendf(nil, `font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;%s" textLength="%.2f" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], long, m[4])
	}), nil
}
