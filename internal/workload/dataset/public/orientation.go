package public

import (
	"encoding/binary"
	"image"
	"image/draw"
)

// orientation returns the EXIF orientation of a JPEG, 1 to 8; 1 = upright or missing (EXIF 2.3, section 4.6.4, tag 0x0112, in an APP1 segment).
func orientation(raw string) int {
	b := []byte(raw)
	if len(b) < 4 || b[0] != 0xff || b[1] != 0xd8 {
		return 1
	}
	for b = b[2:]; len(b) >= 4 && b[0] == 0xff && b[1] != 0xda; {
		size := int(binary.BigEndian.Uint16(b[2:]))
		if size < 2 || len(b) < 2+size {
			return 1
		}
		if body := b[4 : 2+size]; b[1] == 0xe1 && len(body) > 14 && string(body[:6]) == "Exif\x00\x00" {
			return tiffOrientation(body[6:])
		}
		b = b[2+size:]
	}
	return 1
}

// tiffOrientation reads the tag from the first directory of a TIFF header.
func tiffOrientation(t []byte) int {
	var order binary.ByteOrder
	switch string(t[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(t[4:]))
	if at+2 > uint64(len(t)) {
		return 1
	}
	entries := t[at+2:]
	for range order.Uint16(t[at:]) {
		if len(entries) < 12 {
			break
		}
		if n := int(order.Uint16(entries[8:])); order.Uint16(entries) == 0x0112 && 1 <= n && n <= 8 {
			return n
		}
		entries = entries[12:]
	}
	return 1
}

// turned returns the image turned upright.
func turned(img image.Image, orientation int) image.Image {
	if orientation <= 1 {
		return img
	}
	r := img.Bounds()
	w, h := r.Dx(), r.Dy()
	flat := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(flat, flat.Bounds(), img, r.Min, draw.Src)
	if orientation >= 5 {
		w, h = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sx, sy := x, y
			if orientation >= 5 { // rows and columns are swapped
				sx, sy = y, x
			}
			if orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8 {
				sx = flat.Rect.Dx() - 1 - sx
			}
			if orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7 {
				sy = flat.Rect.Dy() - 1 - sy
			}
			out.SetNRGBA(x, y, flat.NRGBAAt(sx, sy))
		}
	}
	return out
}
