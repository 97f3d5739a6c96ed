package canvas

import (
	"slices"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"

	"aiperf/internal/base/testhome"
)

// TestPackedFonts: the fonts inside the program draw every letter as those of the module go-fonts do, with the same widths, heights and distances of
// pairs. To make the file again, with the tool pyftsubset of the Python package fonttools, for Regular and then Bold:
//
//	pyftsubset LiberationSans-Regular.ttf --output-file=regular.ttf --no-hinting --glyphs='*' --unicodes='*' --legacy-kern --notdef-outline \
//	  --drop-tables=FFTM,GSUB,GDEF,gasp,hdmx,LTSH,VDMX,PCLT,DSIG,OS/2
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
			if b.index != 0 {
				letters++
			}
			if (a.index == 0) != (b.index == 0) || a.advance != b.advance || !slices.Equal(a.outline, b.outline) {
				t.Fatalf("%U differs: glyph %d with %d segments, want glyph %d with %d", r, a.index, len(a.outline), b.index, len(b.outline))
			}
		}
		if letters < 1500 {
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
