package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Limits for the numbers stated in a batch.
const (
	maxBatchBytes = 1 << 30 // decompressed size
	minRoom       = 64 << 20
	roomOfBytes   = 256     // a batch may decompress to at most minRoom plus this many times its size in the file
	idleRows      = 1 << 20 // rows allowed beyond one per bit of data, because null columns have no data
)

// Compression codecs: the enumeration CompressionType of Message.fbs.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// column holds the values of one column of a batch.
type column struct {
	*field
	rows     int
	valid    []byte // one bit per row; nil if no value is null
	data     []byte // fixed-width values, bits, text bytes, or views
	offsets  []byte
	sizes    []byte   // for list views
	pieces   [][]byte // buffers that views point into
	children []*column
	lookup   *dictionary
}

// dictionary holds the values of a dictionary-encoded column: one batch, and one more for each delta.
type dictionary struct{ parts []*column }

// batchReader reads the columns of a batch from its nodes and buffers, which are in schema order.
type batchReader struct {
	nodes, buffers, views       vector
	nextNode, nextBuf, nextView int
	body                        []byte
	version                     int16 // version of the metadata
	codec                       int
	room                        int64 // bytes that may still be allocated
	rows                        int64 // maximum number of rows that a column may state
	dictionaries                map[int64]*dictionary
	skip                        bool // the column is not wanted: its buffers are counted, not read
}

// readBatch returns the columns of a batch and the number of rows. Unwanted columns are nil.
func readBatch(b batchReader, t flat, fields []*field, wanted func(name string) bool) ([]*column, int, error) {
	if err := b.open(t); err != nil {
		return nil, 0, err
	}
	rows := t.GetInt64Slot(batchRows, 0)
	if rows < 0 || rows > b.rows {
		return nil, 0, damaged("a batch of %d rows in %d bytes", rows, len(b.body))
	}
	columns := make([]*column, len(fields))
	for i, f := range fields {
		b.skip = !wanted(f.name)
		c, err := b.column(f)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("column %s: %w", f.name, err)
		case b.skip:
		case int64(c.rows) < rows:
			return nil, 0, damaged("column %s has %d of %d rows", f.name, c.rows, rows)
		default:
			columns[i] = c
		}
	}
	return columns, int(rows), nil
}

// open reads the lists of a batch and checks the positions of its buffers.
func (b *batchReader) open(t flat) (err error) {
	if b.nodes, err = t.vector(batchNodes, nodeSize); err != nil {
		return err
	}
	if b.buffers, err = t.vector(batchBuffers, bufferSize); err != nil {
		return err
	}
	if b.views, err = t.vector(batchViews, flatbuffers.SizeInt64); err != nil {
		return err
	}
	b.codec = codecNone
	if about, ok := t.table(batchCompression); ok {
		if b.codec = int(about.GetInt8Slot(compressionCodec, codecLZ4)); b.codec != codecLZ4 && b.codec != codecZstd {
			return damaged("unknown compression %d; supported are lz4 and zstd", b.codec)
		}
	}
	size := int64(len(b.body))
	b.room = min(maxBatchBytes, minRoom+roomOfBytes*size)
	plain := int64(0)
	for i := range b.buffers.n {
		from, n := b.buffers.GetInt64(b.buffers.at(i)), b.buffers.GetInt64(b.buffers.at(i)+8)
		if from < 0 || n < 0 || from > size || n > size-from {
			return damaged("a buffer of %d bytes at %d of a batch of %d", n, from, size)
		}
		if b.codec != codecNone && n >= 8 {
			if stated := int64(binary.LittleEndian.Uint64(b.body[from:])); stated != -1 {
				n = stated
			}
		}
		if n < 0 || n > b.room-plain {
			return damaged("a batch of more than %d MiB, the most that is made of %d bytes", b.room>>20, size)
		}
		plain += n
	}
	b.rows = 8*plain + idleRows
	return nil
}

// node returns the number of values in the next column, and how many of them are null.
func (b *batchReader) node() (rows, nulls int64, err error) {
	if b.nextNode >= b.nodes.n {
		return 0, 0, damaged("a batch with %d columns, nested ones counted: too few", b.nodes.n)
	}
	at := b.nodes.at(b.nextNode)
	b.nextNode++
	rows, nulls = b.nodes.GetInt64(at), b.nodes.GetInt64(at+8)
	if rows < 0 || rows > b.rows {
		return 0, 0, damaged("%d values in %d bytes", rows, len(b.body))
	}
	return rows, nulls, nil
}

// buffer returns the next buffer, decompressed. It must have at least the given number of bytes.
func (b *batchReader) buffer(least int64) ([]byte, error) {
	if b.nextBuf >= b.buffers.n {
		return nil, damaged("a batch with %d buffers: too few", b.buffers.n)
	}
	at := b.buffers.at(b.nextBuf)
	b.nextBuf++
	if b.skip {
		return nil, nil
	}
	from, n := b.buffers.GetInt64(at), b.buffers.GetInt64(at+8)
	text, err := b.plain(b.body[from : from+n])
	if err == nil && int64(len(text)) < least {
		err = damaged("%d of %d bytes", len(text), least)
	}
	return text, err
}

// plain decompresses a buffer. It starts with the decompressed size, or -1 if the rest is not compressed.
func (b *batchReader) plain(text []byte) ([]byte, error) {
	if b.codec == codecNone || len(text) == 0 {
		return text, nil
	}
	if len(text) < 8 {
		return nil, damaged("a compressed buffer of %d bytes", len(text))
	}
	stated := int64(binary.LittleEndian.Uint64(text))
	if text = text[8:]; stated == -1 {
		return text, nil
	}
	out := make([]byte, stated) // open has limited the sum of all sizes
	var err error
	if b.codec == codecZstd {
		err = unzstd(text, out)
	} else {
		_, err = io.ReadFull(lz4.NewReader(bytes.NewReader(text)), out)
	}
	if err != nil {
		return nil, damaged("a buffer cannot be decompressed: %v", err)
	}
	return out, nil
}

// unzstd decompresses text, which must fill out. The window of a frame may be as large as its content, as the highest levels of zstd make it.
func unzstd(text, out []byte) error {
	window := min(max(minRoom, len(out)), zstd.MaxWindowSize)
	d, err := zstd.NewReader(bytes.NewReader(text), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = io.ReadFull(d, out)
	return err
}

// column reads the next column, including its nested columns.
func (b *batchReader) column(f *field) (*column, error) {
	if f.encoded {
		return b.indices(f)
	}
	if what, bad := unreadableKinds[f.kind]; bad && !b.skip {
		return nil, fmt.Errorf("its type (%s) cannot be read; leave the column out of the file", what)
	}
	rows, nulls, err := b.node()
	if err != nil {
		return nil, err
	}
	c := &column{field: f, rows: int(rows)}
	if f.kind != kindNull && f.kind != kindRunEnd && (f.kind != kindUnion || b.version < versionUnions) {
		if err := b.validity(c, nulls); err != nil {
			return nil, err
		}
	}
	if err := b.values(c, rows); err != nil {
		return nil, err
	}
	for _, nested := range f.children {
		child, err := b.column(nested)
		if err != nil {
			return nil, fmt.Errorf("nested %s: %w", nested.name, err)
		}
		if least := c.leastNested(); !b.skip && child.rows < least {
			return nil, damaged("nested %s has %d of %d values", nested.name, child.rows, least)
		}
		c.children = append(c.children, child)
	}
	return c, nil
}

// validity reads the bits that mark values which are not null. Without nulls they may be missing.
func (b *batchReader) validity(c *column, nulls int64) error {
	if nulls == 0 {
		_, err := b.buffer(0)
		return err
	}
	bits, err := b.buffer(bytesOf(int64(c.rows), 1))
	c.valid = bits
	return err
}

// values reads the buffers after the validity bits, according to the kind.
func (b *batchReader) values(c *column, rows int64) (err error) {
	take := func(to *[]byte, least int64) {
		if err == nil {
			*to, err = b.buffer(least)
		}
	}
	ends := int64(0) // number of offsets: one more than values, but none for no values
	if rows > 0 {
		ends = rows + 1
	}
	switch c.kind {
	case kindNull, kindStruct, kindFixedList, kindRunEnd:
	case kindBool:
		take(&c.data, bytesOf(rows, 1))
	case kindBinary, kindText:
		take(&c.offsets, 4*ends)
		take(&c.data, 0)
	case kindLargeBinary, kindLargeText:
		take(&c.offsets, 8*ends)
		take(&c.data, 0)
	case kindList, kindMap:
		take(&c.offsets, 4*ends)
	case kindLargeList:
		take(&c.offsets, 8*ends)
	case kindListView:
		take(&c.offsets, 4*rows)
		take(&c.sizes, 4*rows)
	case kindLargeListView:
		take(&c.offsets, 8*rows)
		take(&c.sizes, 8*rows)
	case kindBinaryView, kindTextView:
		take(&c.data, viewSize*rows)
		if err == nil {
			err = b.piecesOf(c)
		}
	case kindUnion:
		take(&c.data, rows)
		if c.dense {
			take(&c.offsets, 4*rows)
		}
	default:
		take(&c.data, bytesOf(rows, int64(c.width)))
	}
	return err
}

// piecesOf reads the buffers that the views of a column point into.
func (b *batchReader) piecesOf(c *column) error {
	if b.nextView >= b.views.n {
		return damaged("a batch with %d columns of views: too few", b.views.n)
	}
	n := b.views.GetInt64(b.views.at(b.nextView))
	b.nextView++
	if n < 0 || n > int64(b.buffers.n) {
		return damaged("a column of %d pieces in a batch of %d", n, b.buffers.n)
	}
	for range n {
		text, err := b.buffer(0)
		if err != nil {
			return err
		}
		c.pieces = append(c.pieces, text)
	}
	return nil
}

// indices reads a column of indices into a dictionary.
func (b *batchReader) indices(f *field) (*column, error) {
	c, err := b.column(f.index)
	if err != nil || b.skip {
		return c, err
	}
	c.lookup = b.dictionaries[f.dictionary]
	if c.lookup == nil {
		return nil, damaged("the dictionary %d is missing", f.dictionary)
	}
	c.lookup = &dictionary{parts: c.lookup.parts} // a later batch may replace it
	return c, nil
}

// leastNested returns the minimum number of values in the nested columns. Offsets are checked when they are used.
func (c *column) leastNested() int {
	switch c.kind {
	case kindStruct:
		return c.rows
	case kindFixedList:
		if c.size > 0 && c.rows > math.MaxInt/c.size {
			return math.MaxInt
		}
		return c.rows * c.size
	}
	return 0
}

// bytesOf returns the number of bytes in n values of the given bits. A batch is so small that this does not overflow, unless the width is absurd.
func bytesOf(n, bits int64) int64 {
	if bits > 0 && n > (math.MaxInt64-7)/bits {
		return math.MaxInt64
	}
	return (n*bits + 7) / 8
}
