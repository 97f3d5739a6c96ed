package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	pq "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// page is a page of a column that the library has not read yet.
type page struct {
	*chunk
	head     *pq.PageHeader
	size     int64 // decompressed size in bytes
	need     int64 // approximate size in memory, in bytes
	values   int64
	encoding pq.Encoding
	text     []byte
}

// plainDictionary is the old encoding number of RLEDictionary.
const plainDictionary pq.Encoding = 2

// idleValues is how many more values runs may have than the page states, because the last run is padded.
const idleValues = 4096

// count checks the numbers in the header.
func (p *page) count() error {
	h := p.head
	switch {
	case h.Type == pq.DataPage && h.DataPageHeader.Valid:
		p.values, p.encoding = int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	case h.Type == pq.DataPageV2 && h.DataPageHeaderV2.Valid:
		p.values, p.encoding = int64(h.DataPageHeaderV2.V.NumValues), h.DataPageHeaderV2.V.Encoding
	case h.Type == pq.DictionaryPage && h.DictionaryPageHeader.Valid:
		p.values, p.encoding = int64(h.DictionaryPageHeader.V.NumValues), pq.Plain
		if p.values > 8*p.size {
			return unsoundParquet("%d values in %d bytes", p.values, p.size)
		}
	default:
		return unsoundParquet("a page of type %d without its numbers", h.Type)
	}
	if p.values < 0 || p.length < 0 {
		return unsoundParquet("%d values of %d bytes", p.values, p.length)
	}
	p.need = p.size + p.values*(8+p.length)
	return nil
}

// look checks the content of the page.
func (p *page) look() error {
	if v2 := p.head.DataPageHeaderV2.V; p.head.Type == pq.DataPageV2 {
		levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 || levels > int64(len(p.text)) {
			return unsoundParquet("levels of %d bytes in %d", levels, len(p.text))
		}
		front := p.text[:levels]
		if err := p.levels(front[:v2.RepetitionLevelsByteLength], pq.RLE, p.leaf.MaxRepetitionLevel()); err != nil {
			return err
		}
		if err := p.levels(front[v2.RepetitionLevelsByteLength:], pq.RLE, p.leaf.MaxDefinitionLevel()); err != nil {
			return err
		}
		p.text = p.text[levels:]
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return p.content()
		}
	}
	var err error
	if p.text, err = decompress(p.codec, p.text, p.size); err != nil {
		return err
	}
	if v1 := p.head.DataPageHeader.V; p.head.Type == pq.DataPage {
		for _, of := range []struct {
			most     int
			encoding pq.Encoding
		}{{p.leaf.MaxRepetitionLevel(), v1.RepetitionLevelEncoding}, {p.leaf.MaxDefinitionLevel(), v1.DefinitionLevelEncoding}} {
			if of.most == 0 {
				continue
			}
			if len(p.text) < 4 || int64(binary.LittleEndian.Uint32(p.text)) > int64(len(p.text)-4) {
				return unsoundParquet("levels that end behind the page")
			}
			end := 4 + int(binary.LittleEndian.Uint32(p.text))
			if err := p.levels(p.text[4:end], of.encoding, of.most); err != nil {
				return err
			}
			p.text = p.text[end:]
		}
	}
	return p.content()
}

// levels checks the levels of all values. most is the maximum level.
func (p *page) levels(text []byte, encoding pq.Encoding, most int) error {
	width := bits.Len8(byte(most))
	if most == 0 {
		return nil // levels are skipped
	}
	if encoding == pq.BitPacked {
		if int64(len(text)) > (p.values+idleValues)*int64(width)/8 {
			return unsoundParquet("levels of %d bytes for %d values", len(text), p.values)
		}
		return nil
	}
	return p.runs(text, width)
}

// runs checks values in run-length encoding: runs of equal values and runs of packed values.
func (p *page) runs(text []byte, width int) error {
	for sum := int64(0); len(text) > 0; {
		head, n := binary.Uvarint(text)
		if n <= 0 {
			return unsoundParquet("a run without a length")
		}
		text = text[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 != 0 { // groups of eight packed values
			size = count * uint64(width)
			count *= 8
		}
		if head > 1<<40 || sum+int64(count) > p.values+idleValues {
			return unsoundParquet("runs of more than the %d values of the page", p.values)
		}
		sum += int64(count)
		text = text[min(size, uint64(len(text))):]
	}
	return nil
}

// content checks the values.
func (p *page) content() error {
	switch p.encoding {
	case plainDictionary, pq.RLEDictionary:
		if len(p.text) == 0 {
			return nil
		}
		if p.text[0] > 32 {
			return unsoundParquet("numbers of %d bits", p.text[0])
		}
		return p.runs(p.text[1:], int(p.text[0]))
	case pq.RLE:
		if len(p.text) < 4 {
			return nil // the library reports what is missing
		}
		return p.runs(p.text[4:], 1)
	case pq.DeltaBinaryPacked:
		_, err := p.lengths(p.text)
		return err
	case pq.DeltaLengthByteArray:
		if _, err := p.lengths(p.text); err != nil {
			return err
		}
		return p.sum(new(delta.LengthByteArrayEncoding).EstimateDecodeByteArraySize(p.text))
	case pq.DeltaByteArray:
		rest, err := p.lengths(p.text)
		if err == nil {
			_, err = p.lengths(rest)
		}
		if err != nil {
			return err
		}
		return p.sum(new(delta.ByteArrayEncoding).EstimateDecodeByteArraySize(p.text))
	}
	return nil
}

// sum checks the sum of text lengths.
func (p *page) sum(n int) error {
	if n < 0 || int64(n) > max(p.size, leastRoom)*4 {
		return unsoundParquet("texts of %d bytes in a page of %d", n, p.size)
	}
	return nil
}

// lengths checks delta-encoded numbers and returns the bytes after them.
func (p *page) lengths(text []byte) (rest []byte, err error) {
	var head [4]uint64 // values per block, parts per block, number of values, first value
	for i := range head {
		v, n := binary.Uvarint(text)
		if n <= 0 {
			return nil, io.ErrUnexpectedEOF
		}
		head[i], text = v, text[n:]
	}
	block, parts, left := head[0], head[1], head[2]
	if left > uint64(p.values+idleValues) || block == 0 || block > 1<<16 || parts == 0 || parts > block {
		return nil, unsoundParquet("%d numbers in blocks of %d in a page of %d values", left, block, p.values)
	}
	for left = max(left, 1) - 1; left > 0 && len(text) > 0; {
		_, n := binary.Varint(text)
		if n <= 0 || uint64(len(text)-n) < parts {
			return nil, io.ErrUnexpectedEOF
		}
		widths := text[n : n+int(parts)]
		text = text[n+int(parts):]
		for _, w := range widths {
			text = text[min(block/parts*uint64(w)/8, uint64(len(text))):]
			if left -= min(left, block/parts); left == 0 {
				break
			}
		}
	}
	return text, nil
}

// decompress decompresses a page to at most most bytes.
func decompress(codec pq.CompressionCodec, text []byte, most int64) (out []byte, err error) {
	var from io.Reader
	if len(text) == 0 {
		return nil, nil
	}
	switch codec {
	case pq.Uncompressed:
		return text, nil
	case pq.Snappy:
		n, err := snappy.DecodedLen(text)
		if err != nil || int64(n) > most {
			return nil, more(most, err)
		}
		out, err = snappy.Decode(make([]byte, n), text)
		return out, err
	case pq.Zstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if out, err = d.DecodeAll(text, make([]byte, 0, most)); err != nil {
			return nil, more(most, err)
		}
		return out, nil
	case pq.Lz4Raw:
		out = make([]byte, most)
		n, err := lz4.UncompressBlock(text, out)
		if err != nil {
			return nil, more(most, err)
		}
		return out[:n], nil
	case pq.Gzip:
		if from, err = gzip.NewReader(bytes.NewReader(text)); err != nil {
			return nil, err
		}
	case pq.Brotli:
		from = brotli.NewReader(bytes.NewReader(text))
	default:
		return text, nil // the library reports the unknown codec
	}
	to := bytes.NewBuffer(make([]byte, 0, most+bytes.MinRead))
	if n, err := to.ReadFrom(io.LimitReader(from, most+1)); err != nil || n > most {
		return nil, more(most, err)
	}
	return to.Bytes(), nil
}

// more returns an error that a page is larger than stated, or cannot be read.
func more(most int64, err error) error {
	if err == nil || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return unsoundParquet("it holds more than the %d bytes that it states", most)
	}
	return fmt.Errorf("decompressing %d bytes: %w", most, err)
}
