package public

import (
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // formats of images in data sets
	_ "image/jpeg"
	_ "image/png"
	"math"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/media"
)

// maxPixels is the maximum size of an image.
const maxPixels = 200 << 20

// picture returns the image of a column as JPEG; nil = the row has none. An unreadable image is an error.
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
	return b.Made("image/jpeg", media.JPEG(turned(img, orientation(raw)))), nil
}

// firstReadable returns the first readable image of a list; nil = none. It ignores the EXIF orientation.
func (b *builder) firstReadable(_ row, v any) (*conversation.Blob, error) {
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
			return b.Made("image/jpeg", media.JPEG(img)), nil
		}
	}
	return nil, nil
}

// content returns the file in a cell; "" = none.
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
		return nil, fmt.Errorf("%d × %d pixels are too many; at most %d are allowed", c.Width, c.Height, maxPixels)
	}
	img, format, err := image.Decode(strings.NewReader(raw))
	if y, lossy := img.(*image.YCbCr); lossy && format == "webp" {
		return fromVideoRange(y), nil
	}
	if y, lossy := img.(*image.NYCbCrA); lossy && format == "webp" {
		return fromVideoRange(&y.YCbCr), nil // transparency is dropped
	}
	return img, err
}

// fromVideoRange converts the colours of a lossy WebP image. Its luma ranges from 16 to 235 and its chroma from 16 to 240 (ITU-R BT.601; RFC 6386,
// section 9.2). Package image assumes 0 to 255 for both, like in JPEG.
func fromVideoRange(m *image.YCbCr) image.Image {
	out := image.NewNRGBA(image.Rect(0, 0, m.Rect.Dx(), m.Rect.Dy()))
	level := func(v float64) uint8 { return uint8(math.Round(max(0, min(255, v)))) }
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			c := m.YCbCrAt(m.Rect.Min.X+x, m.Rect.Min.Y+y)
			luma, blue, red := 255./219*(float64(c.Y)-16), 255./224*(float64(c.Cb)-128), 255./224*(float64(c.Cr)-128)
			out.SetNRGBA(x, y, color.NRGBA{level(luma + 1.402*red), level(luma - 0.344136*blue - 0.714136*red), level(luma + 1.772*blue), 255})
		}
	}
	return out
}
