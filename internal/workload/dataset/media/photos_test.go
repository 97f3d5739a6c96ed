package media

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plain writes a directory of images with one colour, a broken image, and a file that is not an image.
func plain(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]color.Color{"a_red.png": color.RGBA{255, 0, 0, 255}, "b_green.png": color.RGBA{0, 255, 0, 255}, "c_blue.PNG": color.RGBA{0, 0, 255, 255}, "d_gray.png": color.Gray{128}} {
		var m interface {
			image.Image
			Set(x, y int, c color.Color)
		} = image.NewRGBA(image.Rect(0, 0, 20, 10))
		if _, gray := c.(color.Gray); gray {
			m = image.NewGray(image.Rect(0, 0, 20, 10))
		}
		for i := range 200 {
			m.Set(i%20, i/20, c)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		write(name, b.Bytes())
	}
	write("e_bad.png", []byte("\x89PNG\r\n\x1a\nbroken"))
	write("note.txt", []byte("no picture"))
	return dir
}

// seen generates n images of a source and returns their colours.
func seen(t *testing.T, source, sampling, format string, n int) string {
	t.Helper()
	var list []string
	for _, raw := range content(t, Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(40), Height: exactly(30), Format: format, Source: source, Sampling: sampling}}, n) {
		m, got, err := image.Decode(bytes.NewReader(raw))
		if err != nil || got != format || m.Bounds() != image.Rect(0, 0, 40, 30) {
			t.Fatal(got, m.Bounds(), err)
		}
		r, g, b, _ := m.At(20, 15).RGBA()
		name := "d"
		switch {
		case r > 0xf000:
			name = "a"
		case g > 0xf000:
			name = "b"
		case b > 0xf000:
			name = "c"
		}
		list = append(list, name)
	}
	return strings.Join(list, "")
}

// TestDirectory compares the images of a directory in every order with a run of the Python tool over this directory with seed 42 (golden cases
// img_dir, img_dir_shuffle). A broken image is skipped when it is drawn.
func TestDirectory(t *testing.T) {
	dir := plain(t)
	for sampling, want := range map[string]string{
		"sequential-cycle": "abcdabcdabcd", "random-with-replacement": "cacadcbaddaa", "shuffle-cycle": "cdabcd",
	} {
		for _, format := range []string{"png", "jpeg"} {
			if got := seen(t, dir, sampling, format, len(want)); got != want {
				t.Errorf("%s, %s: %s, want %s", sampling, format, got, want)
			}
		}
	}
	m, err := New(t.Context(), Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(40), Height: exactly(30), Format: "png", Source: dir, Sampling: "sequential-cycle"}})
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Warnings(); len(w) != 1 || !strings.Contains(w[0], "e_bad.png") {
		t.Errorf("%v", w)
	}
}

// TestAssets checks that the bundled images are resized, and that more than one of them is drawn.
func TestAssets(t *testing.T) {
	different := map[string]bool{}
	for _, raw := range content(t, Options{Root: seeded(), Images: &Images{Batch: 1, Width: exactly(64), Height: exactly(48), Format: "png", Source: "assets", Sampling: "random-with-replacement"}}, 12) {
		m, _, err := image.Decode(bytes.NewReader(raw))
		if err != nil || m.Bounds() != image.Rect(0, 0, 64, 48) {
			t.Fatal(m.Bounds(), err)
		}
		different[string(raw)] = true
	}
	if len(different) < 3 || len(different) > 4 {
		t.Errorf("%d different pictures of 4 in 12 draws", len(different))
	}
}
