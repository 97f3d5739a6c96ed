package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zlib"
)

// encodePNG writes 8-bit RGB without row filters (PNG, W3C 2003). Filters and hard deflate gain nothing on noise, and image/png would spend
// five times the time on them.
func encodePNG(m rgb) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(len(m.pix) + len(m.pix)/100 + 1024)
	z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	row := make([]byte, 1+3*m.width) // begins with its filter: 0, none
	for y := range m.height {
		copy(row[1:], m.pix[3*m.width*y:3*m.width*(y+1)])
		if _, err := z.Write(row); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, data.Len()+64), "\x89PNG\r\n\x1a\n"...)
	var head [13]byte
	binary.BigEndian.PutUint32(head[:], uint32(m.width))
	binary.BigEndian.PutUint32(head[4:], uint32(m.height))
	head[8], head[9] = 8, 2 // bits, truecolour
	out = pngChunk(out, "IHDR", head[:])
	out = pngChunk(out, "IDAT", data.Bytes())
	return pngChunk(out, "IEND", nil), nil
}

// pngChunk appends a chunk: length, name, data, CRC of name and data.
func pngChunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	begin := len(out)
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[begin:]))
}
