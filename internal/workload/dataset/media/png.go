package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"
)

// deflaters is a pool, because each takes more than half a megabyte.
var deflaters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(nil, zlib.HuffmanOnly)
	if err != nil {
		panic(err) // cannot happen: the level is valid
	}
	return z
}}

// encodePNG writes 8-bit RGB without row filters and without a search for repetitions (PNG, W3C 2003): noise has none, and image/png would take five
// times as long.
func encodePNG(m rgb) ([]byte, error) {
	out := make([]byte, 0, len(m.pix)+len(m.pix)/256+m.height+256) // approximate size of noise
	out = append(out, "\x89PNG\r\n\x1a\n"...)
	var head [13]byte
	binary.BigEndian.PutUint32(head[:], uint32(m.width))
	binary.BigEndian.PutUint32(head[4:], uint32(m.height))
	head[8], head[9] = 8, 2 // bits per sample, truecolour
	out = pngChunk(out, "IHDR", head[:])
	at := len(out)
	data := bytes.NewBuffer(append(out, "\x00\x00\x00\x00IDAT"...))
	if err := deflateRows(data, m); err != nil {
		return nil, err
	}
	out = data.Bytes()
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-8))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at+4:]))
	return pngChunk(out, "IEND", nil), nil
}

// deflateRows writes the rows of an image in zlib format, each after its filter byte.
func deflateRows(to io.Writer, m rgb) error {
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(to)
	row := make([]byte, 1+3*m.width) // the first byte is the filter: 0 = none
	for y := range m.height {
		copy(row[1:], m.pix[3*m.width*y:3*m.width*(y+1)])
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	return z.Close()
}

// pngChunk appends a chunk: length, name, data, CRC of name and data.
func pngChunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	begin := len(out)
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[begin:]))
}
