package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// What a file of Arrow may state at the most. The library makes room for whatever counts and sizes stand in a message, before it looks whether
// there is so much; so every message is looked through before the library sees it.
const (
	maxBatchBytes = 1 << 30 // of one batch once it is decompressed
	maxFields     = 1 << 16 // of a schema, nested ones too
	maxDepth      = 64      // of nested fields
	idleRows      = 1 << 20 // of a batch, beyond one a bit of its bytes: columns of nulls have none
)

// Slots of tables and sizes of structs in Arrow's Message.fbs, Schema.fbs and File.fbs: a slot is four bytes plus two for every field before it.
const (
	messageKind, messageHeader, messageBody               = 6, 8, 10
	schemaFields, schemaMetadata                          = 6, 8
	fieldKind, fieldType, fieldChildren, fieldMetadata    = 8, 10, 14, 16
	unionTypes                                            = 6
	batchRows, batchNodes, batchBuffers, batchCompression = 4, 6, 8, 10
	batchVariadic                                         = 12
	dictionaryData                                        = 6
	footerSchema, footerDictionaries, footerBatches       = 6, 8, 10
	nodeSize, bufferSize, blockSize                       = 16, 16, 24
	kindSchema, kindDictionary, kindBatch                 = 1, 2, 3
	kindUnion                                             = 14
)

var errUnsound = errors.New("is no sound Arrow file")

func unsound(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errUnsound, fmt.Sprintf(format, a...))
}

// flat is a table of FlatBuffers. Offsets that lead out of its bytes panic, as in the library; guarded makes errors of that.
type flat struct{ flatbuffers.Table }

func root(b []byte) flat {
	return flat{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

// table is the table in a slot; false = there is none.
func (t flat) table(slot flatbuffers.VOffsetT) (flat, bool) {
	o := t.Offset(slot)
	if o == 0 {
		return flat{}, false
	}
	return flat{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(o))}}, true
}

// vector is where the elements of the vector in a slot begin and how many there are, if all of them lie in the bytes.
func (t flat) vector(slot flatbuffers.VOffsetT, size int) (from flatbuffers.UOffsetT, n int, err error) {
	o := t.Offset(slot)
	if o == 0 {
		return 0, 0, nil
	}
	from, n = t.Vector(flatbuffers.UOffsetT(o)), t.VectorLen(flatbuffers.UOffsetT(o))
	if room := len(t.Bytes) - int(from); n < 0 || n > room/size {
		return 0, 0, unsound("a list of %d elements in %d bytes", n, max(0, room))
	}
	return from, n, nil
}

// schemaCheck looks through a schema.
type schemaCheck struct{ fields int }

func checkSchema(t flat) error {
	if _, _, err := t.vector(schemaMetadata, flatbuffers.SizeUOffsetT); err != nil {
		return err
	}
	return new(schemaCheck).list(t, schemaFields, 1)
}

// list looks through the fields in a slot of a schema or of a field.
func (c *schemaCheck) list(t flat, slot flatbuffers.VOffsetT, depth int) error {
	from, n, err := t.vector(slot, flatbuffers.SizeUOffsetT)
	if err != nil {
		return err
	}
	if c.fields += n; c.fields > maxFields || depth > maxDepth {
		return unsound("more than %d columns, or nested deeper than %d", maxFields, maxDepth)
	}
	for i := range n {
		at := from + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		if err := c.field(flat{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}}, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *schemaCheck) field(f flat, depth int) error {
	if _, _, err := f.vector(fieldMetadata, flatbuffers.SizeUOffsetT); err != nil {
		return err
	}
	if kind, ok := f.table(fieldType); ok && f.GetByteSlot(fieldKind, 0) == kindUnion {
		if _, _, err := kind.vector(unionTypes, flatbuffers.SizeInt32); err != nil {
			return err
		}
	}
	return c.list(f, fieldChildren, depth+1)
}

// checkMessage looks through the metadata of a message whose body lies in the file from a place on, and returns the body's size in bytes.
func checkMessage(meta []byte, in io.ReaderAt, from, size int64) (int64, error) {
	m := root(meta)
	body := m.GetInt64Slot(messageBody, 0)
	if body < 0 || body > size-from || body > maxBatchBytes {
		return 0, unsound("a message of %d bytes where %d are left; at most %d MiB can be read", body, max(0, size-from), maxBatchBytes>>20)
	}
	header, ok := m.table(messageHeader)
	if !ok {
		return 0, unsound("a message without content")
	}
	switch m.GetByteSlot(messageKind, 0) {
	case kindSchema:
		return body, checkSchema(header)
	case kindDictionary:
		if header, ok = header.table(dictionaryData); !ok {
			return 0, unsound("a dictionary without values")
		}
		return body, checkBatch(header, in, from, body)
	case kindBatch:
		return body, checkBatch(header, in, from, body)
	}
	return 0, unsound("a message of an unknown kind")
}

// checkBatch looks through the numbers of a batch whose body lies in the file from a place on.
func checkBatch(t flat, in io.ReaderAt, at, body int64) error {
	bytes, err := batchBytes(t, in, at, body)
	if err != nil {
		return err
	}
	most := 8*bytes + idleRows
	if rows := t.GetInt64Slot(batchRows, 0); rows < 0 || rows > most {
		return unsound("a batch of %d rows in %d bytes", rows, bytes)
	}
	from, n, err := t.vector(batchNodes, nodeSize)
	if err != nil {
		return err
	}
	for i := range n {
		if rows := t.GetInt64(from + flatbuffers.UOffsetT(i*nodeSize)); rows < 0 || rows > most {
			return unsound("a column of %d values in %d bytes", rows, bytes)
		}
	}
	return nil
}

// batchBytes is the size of a batch once it is decompressed.
func batchBytes(t flat, in io.ReaderAt, at, body int64) (int64, error) {
	from, n, err := t.vector(batchBuffers, bufferSize)
	if err != nil {
		return 0, err
	}
	_, compressed := t.table(batchCompression)
	sum, most := int64(0), min(maxBatchBytes, leastRoom+roomOfBytes*body)
	for i := range n {
		p := from + flatbuffers.UOffsetT(i*bufferSize)
		offset, length := t.GetInt64(p), t.GetInt64(p+8)
		if offset < 0 || length < 0 || offset > body || length > body-offset {
			return 0, unsound("a column of %d bytes at %d of a batch of %d", length, offset, body)
		}
		if compressed && length >= 8 {
			var head [8]byte
			if _, err := in.ReadAt(head[:], at+offset); err != nil {
				return 0, noEOF(err)
			}
			if plain := int64(binary.LittleEndian.Uint64(head[:])); plain != -1 { // -1: it is not compressed
				length = plain
			}
		}
		if length < 0 || length > most-sum {
			return 0, unsound("a batch of more than %d MiB, the most that is made of %d bytes", most>>20, body)
		}
		sum += length
	}
	from, counts, err := t.vector(batchVariadic, flatbuffers.SizeInt64)
	for i := range counts {
		if v := t.GetInt64(from + flatbuffers.UOffsetT(i*flatbuffers.SizeInt64)); v < 0 || v > int64(n) {
			return 0, unsound("a column of %d pieces in a batch of %d", v, n)
		}
	}
	return sum, err
}

// checkFooter looks through the index at the end of a file, and through the messages that it names.
func checkFooter(footer []byte, in io.ReaderAt, size int64) error {
	t := root(footer)
	schema, ok := t.table(footerSchema)
	if !ok {
		return unsound("an index without columns")
	}
	if err := checkSchema(schema); err != nil {
		return err
	}
	left := size // blocks share no bytes
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerBatches} {
		from, n, err := t.vector(slot, blockSize)
		if err != nil {
			return err
		}
		for i := range n {
			p := from + flatbuffers.UOffsetT(i*blockSize)
			at, meta, body := t.GetInt64(p), int64(t.GetInt32(p+8)), t.GetInt64(p+16)
			if at < 0 || at > size || meta < 8 || meta > size-at || body < 0 || body > size-at-meta || meta+body > left {
				return unsound("batch %d of %d and %d bytes at %d of %d", i, meta, body, at, size)
			}
			left -= meta + body
			if err := checkBlock(at, meta, body, in, size); err != nil {
				return fmt.Errorf("batch %d: %w", i, err)
			}
		}
	}
	return nil
}

// checkBlock looks through one message that the index names: its metadata, with their length before them, and its body.
func checkBlock(at, meta, body int64, in io.ReaderAt, size int64) error {
	text := make([]byte, meta)
	if _, err := in.ReadAt(text, at); err != nil {
		return noEOF(err)
	}
	if binary.LittleEndian.Uint32(text) == continuation {
		text = text[4:]
	}
	stated, err := checkMessage(text[4:], in, at+meta, size)
	if err == nil && stated != body {
		err = unsound("a batch of %d bytes, of %d in the index", stated, body)
	}
	return err
}
