package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompress decompresses a page of the column to at most limit bytes. They stay valid until the next page.
func (c *cursor) decompress(text []byte, most int) (out []byte, err error) {
	if len(text) == 0 || c.chunk.codec == codecNone {
		return text, nil
	}
	if cap(c.buffer) < most {
		c.buffer = make([]byte, most)
	}
	to := c.buffer[:most:most]
	switch c.chunk.codec {
	case codecSnappy:
		n, err := snappy.DecodedLen(text)
		if err != nil || n > most {
			return nil, tooLarge(most, err)
		}
		return snappy.Decode(to, text)
	case codecZstd:
		if c.reader.zstd == nil {
			if c.reader.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		if out, err = c.reader.zstd.DecodeAll(text, to[:0]); err != nil {
			return nil, tooLarge(most, err)
		}
		return out, nil
	case codecLZ4:
		return lz4Block(to, text)
	case codecOldLZ4:
		if n := hadoopLZ4(to, text); n == most {
			return to, nil
		}
		return lz4Block(to, text)
	case codecGzip:
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, tooLarge(most, err)
		}
		return fill(to, z)
	case codecBrotli:
		return fill(to, brotli.NewReader(bytes.NewReader(text)))
	}
	return nil, corrupt("compressed by the method %d, which cannot be read", c.chunk.codec)
}

func lz4Block(to, text []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(text, to)
	if err != nil {
		return nil, tooLarge(len(to), err)
	}
	return to[:n], nil
}

// hadoopLZ4 decompresses the blocks of Hadoop's LZ4: each is behind its size and its stored size, of four bytes each. It returns the decompressed
// bytes, -1 if the text is not framed so.
func hadoopLZ4(to, text []byte) int {
	done := 0
	for len(text) > 0 {
		if len(text) < 8 {
			return -1
		}
		size, stored := binary.BigEndian.Uint32(text), binary.BigEndian.Uint32(text[4:])
		if text = text[8:]; uint64(stored) > uint64(len(text)) || uint64(size) > uint64(len(to)-done) {
			return -1
		}
		n, err := lz4.UncompressBlock(text[:stored], to[done:done+int(size)])
		if err != nil || n != int(size) {
			return -1
		}
		done, text = done+n, text[stored:]
	}
	return done
}

// fill reads all of a stream into b.
func fill(b []byte, from io.Reader) ([]byte, error) {
	for n := 0; ; {
		to := b[n:]
		if len(to) == 0 { // nothing may follow
			to = make([]byte, 1)
		}
		m, err := from.Read(to)
		if n += m; n > len(b) {
			return nil, tooLarge(len(b), nil)
		}
		if errors.Is(err, io.EOF) {
			return b[:n], nil
		}
		if err != nil {
			return nil, tooLarge(len(b), err)
		}
	}
}

// tooLarge returns an error that a page is larger than stated, or cannot be read.
func tooLarge(most int, err error) error {
	if err == nil || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return corrupt("it holds more than the %d bytes that it states", most)
	}
	return fmt.Errorf("decompressing %d bytes: %w", most, err)
}
