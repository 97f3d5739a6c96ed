package canvas

import (
	"bytes"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
)

// TestPackedFonts: the fonts inside the program are those of the module go-fonts, byte for byte. To make the file again:
// cat LiberationSans-Regular.ttf LiberationSans-Bold.ttf | zstd --ultra -22 -c > liberation_sans.ttf.zst.
func TestPackedFonts(t *testing.T) {
	regular, bold, err := unpackedFonts()
	if err != nil || !bytes.Equal(regular, liberationsansregular.TTF) || !bytes.Equal(bold, liberationsansbold.TTF) {
		t.Errorf("%d and %d bytes, want %d and %d: %v", len(regular), len(bold), len(liberationsansregular.TTF), len(liberationsansbold.TTF), err)
	}
}
