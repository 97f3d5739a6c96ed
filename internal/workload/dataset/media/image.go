package media

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"sync"

	"golang.org/x/image/draw"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// Image formats.
const (
	formatPNG    = "png"
	formatJPEG   = "jpeg"
	formatRandom = "random"
)

// Image sources; any other value is a directory.
const (
	sourceNoise  = "noise"
	sourceAssets = "assets"
)

// maxPixels is the maximum size of an image or frame: 64 megapixels are 192 MB of noise.
const maxPixels = 64 << 20

// imageDraws draws and generates images.
type imageDraws struct {
	Images
	sizes   *rng.Stream
	formats *rng.Stream
	noise   uint64  // seed of the pixel stream
	words   uint64  // words of that stream drawn so far
	sources *photos // nil = noise
}

func newImageDraws(o *Images, root *rng.Root, as setting.Spell) (*imageDraws, error) {
	l := &imageDraws{
		Images: *o, sizes: root.Stream("dataset.image.dimensions"), formats: root.Stream("dataset.image.format"),
		noise: root.Child("dataset.image.noise"),
	}
	switch o.Format {
	case formatPNG, formatJPEG, formatRandom:
	default:
		return nil, fmt.Errorf("%s %q: must be one of png, jpeg, random", as.As("datasets.main.images.format"), o.Format)
	}
	if w, h := float64(o.Width.Mean), float64(o.Height.Mean); w*h > maxPixels || w > 65535 || h > 65535 {
		return nil, fmt.Errorf("%s, %s: an image of %d × %d pixels is too large; at most %d megapixels and 65535 pixels a side are allowed", as.As("datasets.main.images.width.mean"),
			as.As("datasets.main.images.height.mean"), o.Width.Mean, o.Height.Mean, maxPixels>>20)
	}
	if o.Source == sourceNoise {
		return l, nil
	}
	var err error
	if l.sources, err = openPhotos(o.Source, o.Sampling, root.Stream("dataset.image.source")); err != nil {
		return nil, fmt.Errorf("%s: %w", as.As("datasets.main.images.source"), err)
	}
	return l, nil
}

// draw draws the next image in the order of the Python tool: format, width, height, source.
func (l *imageDraws) draw() Item {
	it := Item{kind: conversation.Image, format: l.Format}
	if l.Format == formatRandom {
		it.format = []string{formatPNG, formatJPEG}[l.formats.Below(2)]
	}
	it.a = l.side(&l.Width)
	it.b = l.side(&l.Height)
	if l.sources != nil {
		it.n = int32(l.sources.next())
		return it
	}
	it.at = l.words
	l.words += rng.Words(3 * int(it.a) * int(it.b))
	return it
}

// side draws a width or height, at most the maximum of JPEG.
func (l *imageDraws) side(d *dataset.Distribution) int32 {
	return int32(min(65535, d.Draw(l.sizes)))
}

// make generates the image of an item.
func (l *imageDraws) make(it Item) ([]byte, error) {
	if l.sources != nil {
		return l.fromPhoto(it)
	}
	frame, _ := frames.Get().(*rgb)
	defer frames.Put(frame)
	frame.noise(l.noise, it.at, int(it.a), int(it.b))
	if it.format == formatJPEG {
		return encodeJPEG(*frame), nil
	}
	return encodePNG(*frame)
}

// frames is a pool of images whose memory is reused.
var frames = sync.Pool{New: func() any { return new(rgb) }}

// noise fills the image with uniform random bytes, from position at of the stream.
func (m *rgb) noise(seed, at uint64, width, height int) {
	stream := rng.NewNumpy(seed)
	stream.Skip(at)
	m.pix, m.width, m.height = slices.Grow(m.pix[:0], 3*width*height)[:3*width*height], width, height
	stream.Fill(m.pix)
}

// fromPhoto resizes a source image to any aspect ratio, with the Catmull-Rom kernel (bicubic, a = −1/2).
func (l *imageDraws) fromPhoto(it Item) ([]byte, error) {
	src, err := l.sources.load(int(it.n))
	if err != nil {
		return nil, err
	}
	size := image.Rect(0, 0, int(it.a), int(it.b))
	var out draw.Image
	switch {
	case it.format == formatPNG && isGray(src):
		out = image.NewGray(size)
	case it.format == formatPNG && !opaque(src):
		out = image.NewNRGBA(size)
	default: // a JPEG has no transparency: the background is black
		out = image.NewRGBA(size)
		draw.Draw(out, size, image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	draw.CatmullRom.Scale(out, size, src, src.Bounds(), draw.Over, nil)
	if it.format == formatJPEG {
		return encodeJPEG(fromRGBA(out.(*image.RGBA))), nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func isGray(m image.Image) bool {
	switch m.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		return true
	}
	return false
}

func opaque(m image.Image) bool {
	o, ok := m.(interface{ Opaque() bool })
	return !ok || o.Opaque()
}

// rgb is an image with three bytes per pixel, rows from the top.
type rgb struct {
	pix           []byte
	width, height int
}

func newRGB(width, height int) rgb { return rgb{make([]byte, 3*width*height), width, height} }

// JPEG encodes an image as JPEG with quality 85 and full chroma (4:4:4), like the Python tool. Transparent pixels show their colour.
func JPEG(m image.Image) []byte {
	bounds := m.Bounds()
	flat := image.NewNRGBA(image.Rect(0, 0, bounds.Dx(), bounds.Dy()))
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			c, _ := color.NRGBAModel.Convert(m.At(bounds.Min.X+x, bounds.Min.Y+y)).(color.NRGBA)
			flat.SetNRGBA(x, y, c)
		}
	}
	out := newRGB(bounds.Dx(), bounds.Dy())
	for i, k := 0, 0; i < len(out.pix); i, k = i+3, k+4 {
		copy(out.pix[i:i+3], flat.Pix[k:k+3])
	}
	return encodeJPEG(out)
}

// fromRGBA drops the alpha byte of every pixel.
func fromRGBA(m *image.RGBA) rgb {
	out := newRGB(m.Rect.Dx(), m.Rect.Dy())
	for i, k := 0, 0; i < len(out.pix); i, k = i+3, k+4 {
		copy(out.pix[i:i+3], m.Pix[k:k+3])
	}
	return out
}
