package public

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"strings"

	_ "image/gif" // what pictures of data sets are stored as
	_ "image/png"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"aiperf/internal/conversation"
)

// jpegQuality is that of the pictures that are sent. (The chroma is halved, as Go's encoder does; the Python tool keeps it whole.)
const jpegQuality = 85

// maxPixels is the size of the largest picture that is read.
const maxPixels = 200 << 20

// picture is the picture of a column, as JPEG; nil = the row has none. One that cannot be read is an error.
func (b *builder) picture(r row, v any) (*conversation.Blob, error) {
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return nil, nil
		}
		v = list[0]
	}
	raw := content(v)
	if raw == "" {
		return nil, nil
	}
	img, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: picture: %w", r.where, err)
	}
	return b.encode(r, turned(img, orientation(raw)))
}

// firstReadable is the first picture of a list that can be read; nil = there is none. How a camera was held is not looked at.
func (b *builder) firstReadable(r row, v any) (*conversation.Blob, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		raw := content(item)
		if raw == "" {
			continue
		}
		if img, err := decode(raw); err == nil {
			return b.encode(r, img)
		}
	}
	return nil, nil
}

// content is the file that a cell holds, "" = none.
func content(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		raw, _ := v["bytes"].(string)
		return raw
	}
	return ""
}

func decode(raw string) (image.Image, error) {
	c, _, err := image.DecodeConfig(strings.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("%d × %d pixels, at most %d in all are read", c.Width, c.Height, maxPixels)
	}
	img, _, err := image.Decode(strings.NewReader(raw))
	return img, err
}

// encode writes a picture as JPEG.
func (b *builder) encode(r row, img image.Image) (*conversation.Blob, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, opaque(img), &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, fmt.Errorf("%s: picture: %w", r.where, err)
	}
	return b.Made("image/jpeg", out.Bytes()), nil
}

// opaque is a picture whose transparency is dropped: the colours below it show.
func opaque(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	bounds := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), bounds.Dy()))
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			c, _ := color.NRGBAModel.Convert(img.At(bounds.Min.X+x, bounds.Min.Y+y)).(color.NRGBA)
			out.SetRGBA(x, y, color.RGBA{c.R, c.G, c.B, 255})
		}
	}
	return out
}
