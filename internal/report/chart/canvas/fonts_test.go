package canvas

import (
	"slices"
	"testing"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"

	"aiperf/internal/base/testhome"
)

// kept are the letters of the fonts inside the program: Latin, Greek, Cyrillic, Vietnamese, punctuation and symbols. Those of Hebrew, and marks above
// other letters, need rules that charts do not have.
var kept = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x20, Hi: 0x24f, Stride: 1}, {Lo: 0x2c6, Hi: 0x2dd, Stride: 1}, {Lo: 0x370, Hi: 0x4ff, Stride: 1}, {Lo: 0x1e00, Hi: 0x1eff, Stride: 1},
	{Lo: 0x2000, Hi: 0x2bff, Stride: 1}, {Lo: 0xfb00, Hi: 0xfb04, Stride: 1}, {Lo: 0xfffc, Hi: 0xfffd, Stride: 1},
}}

// TestPackedFonts: the fonts inside the program draw the letters of kept as those of the module go-fonts do, with the same widths, heights and distances
// of pairs. To make the file again, with the tool pyftsubset of the Python package fonttools, for Regular and then Bold:
//
//	pyftsubset LiberationSans-Regular.ttf --output-file=regular.ttf --no-hinting --layout-features=kern --notdef-outline \
//	  --unicodes=U+0020-024F,U+02C6-02DD,U+0370-04FF,U+1E00-1EFF,U+2000-2BFF,U+FB00-FB04,U+FFFC-FFFD \
//	  --drop-tables+=kern,FFTM,GSUB,GDEF,gasp,hdmx,LTSH,VDMX,PCLT,DSIG,OS/2
//	cat regular.ttf bold.ttf | zstd --ultra -22 -c > liberation_sans.ttf.zst
func TestPackedFonts(t *testing.T) {
	last, pairsUpTo := rune(0x30000), rune(0x180)
	if testhome.Fast() {
		last, pairsUpTo = 0x2600, '~'
	}
	for i, whole := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		got, want := faces()[i], newFace(whole)
		if got.em != want.em || got.metrics.Ascent != want.metrics.Ascent || got.metrics.Descent != want.metrics.Descent || got.metrics.Height != want.metrics.Height {
			t.Errorf("%v units per em and %+v, want %v and %+v", got.em, got.metrics, want.em, want.metrics)
		}
		letters := 0
		for r := range last {
			a, b := got.letter(t, r), want.letter(t, r)
			if r != 0 && !unicode.Is(kept, r) {
				if a.index != 0 {
					t.Fatalf("%U is in the font, but not needed", r)
				}
				continue
			}
			if b.index != 0 {
				letters++
			}
			if (a.index == 0) != (b.index == 0) || a.advance != b.advance || !slices.Equal(a.outline, b.outline) {
				t.Fatalf("%U differs: glyph %d with %d segments, want glyph %d with %d", r, a.index, len(a.outline), b.index, len(b.outline))
			}
		}
		if letters < 1000 {
			t.Errorf("the font has only %d letters", letters)
		}
		pairs := 0
		for r := rune(' '); r < pairsUpTo; r++ {
			for s := rune(' '); s < pairsUpTo; s++ {
				text := string([]rune{r, s})
				_, a := got.place(text)
				_, b := want.place(text)
				if a != b {
					t.Fatalf("%q is %v units wide, want %v", text, a, b)
				}
				_, alone := want.place(text[:len(string(r))])
				_, after := want.place(text[len(string(r)):])
				if b != alone+after {
					pairs++
				}
			}
		}
		if pairs < 80 {
			t.Errorf("only %d pairs have a distance of their own", pairs)
		}
	}
}

type letter struct {
	index   sfnt.GlyphIndex
	advance int
	outline sfnt.Segments
}

func (f *face) letter(t *testing.T, r rune) (l letter) {
	t.Helper()
	var b sfnt.Buffer
	var err error
	if l.index, err = f.font.GlyphIndex(&b, r); err != nil {
		t.Fatal(err)
	}
	if l.index == 0 && r != 0 {
		return l
	}
	advance, err := f.font.GlyphAdvance(&b, l.index, f.em, font.HintingNone)
	if err != nil {
		t.Fatal(err)
	}
	l.advance = int(advance)
	if l.outline, err = f.font.LoadGlyph(&b, l.index, f.em, nil); err != nil {
		t.Fatal(err)
	}
	return l
}
