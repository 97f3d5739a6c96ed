// Package arrow reads the IPC formats of Apache Arrow, streams and files, row by row. It supports all column types except unions, intervals and
// run-end encoded columns. It also supports dictionaries and lz4 or zstd compression. Format: https://arrow.apache.org/docs/format/Columnar.html
package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// magic is at the start and end of a file. A stream has none.
const magic = "ARROW1"

// continuation precedes the length of a message, except in files of Arrow before 0.15.
const continuation = math.MaxUint32

// Reader reads the rows of a stream or of a file.
type Reader struct {
	fields []*field
	wanted []string // columns; empty = all
	next   func() (flat, []byte, error)

	dictionaries map[int64]*dictionary
	values       map[int64]*field // value type of each dictionary

	columns []*column // columns of the current batch
	rows    int
	row     int
	batches int // number of batches read so far
}

// Open reads the schema of a stream or file of size bytes. Only the named columns are read; none named = all.
func Open(in io.ReaderAt, size int64, columns []string) (*Reader, error) {
	r := &Reader{wanted: columns, dictionaries: map[int64]*dictionary{}, values: map[int64]*field{}}
	head, err := readAt(in, 0, int64(len(magic)))
	if err != nil {
		return nil, err
	}
	var schema flat
	if string(head) == magic {
		f := &file{in: in, size: size}
		schema, err = f.open()
		r.next = f.next
	} else {
		s := &stream{in: in, size: size}
		schema, err = s.open()
		r.next = s.next
	}
	if err == nil {
		r.fields, err = recovered(func() ([]*field, error) { return readSchema(schema) })
	}
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	r.encoded(r.fields)
	return r, nil
}

// encoded collects the value types of all dictionaries.
func (r *Reader) encoded(fields []*field) {
	for _, f := range fields {
		if f.encoded {
			plain := *f
			plain.encoded = false
			r.values[f.dictionary] = &plain
		}
		r.encoded(f.children)
	}
}

// Columns returns the names of all columns.
func (r *Reader) Columns() []string {
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = f.name
	}
	return names
}

// Next returns the next row, io.EOF after the last one. Values are nil, bool, int64, float64, string, []any or map[string]any.
func (r *Reader) Next() (map[string]any, error) {
	for r.row == r.rows {
		if err := r.batch(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("record batch %d: %w", r.batches, err)
		}
		r.row = 0
		r.batches++
	}
	row := map[string]any{}
	for i, c := range r.columns {
		if c == nil {
			continue
		}
		v, err := c.value(r.row)
		if err != nil {
			return nil, fmt.Errorf("column %s, row %d of record batch %d: %w", r.fields[i].name, r.row, r.batches-1, err)
		}
		row[r.fields[i].name] = v
	}
	r.row++
	return row, nil
}

// batch reads messages up to the next record batch.
func (r *Reader) batch() error {
	for {
		message, body, err := r.next()
		if err != nil {
			return err
		}
		kind, err := recovered(func() (byte, error) { return r.readMessage(message, body) })
		if err != nil || kind == kindBatch {
			return err
		}
	}
}

// readMessage reads one message and returns its kind.
func (r *Reader) readMessage(m flat, body []byte) (byte, error) {
	header, ok := m.table(messageHeader)
	if !ok {
		return 0, damaged("a message without content")
	}
	kind := m.GetByteSlot(messageKind, 0)
	switch kind {
	case kindBatch:
		columns, rows, err := readBatch(batchReader{body: body, version: m.GetInt16Slot(messageVersion, 0), dictionaries: r.dictionaries}, header, r.fields, r.selected)
		r.columns, r.rows = columns, rows
		return kind, err
	case kindDictionary:
		return kind, r.dictionary(header, body, m.GetInt16Slot(messageVersion, 0))
	}
	return 0, damaged("a message of the kind %d after the schema", kind)
}

func (r *Reader) selected(name string) bool {
	return len(r.wanted) == 0 || slices.Contains(r.wanted, name)
}

// dictionary reads a dictionary. It replaces the dictionary with the same number or extends it.
func (r *Reader) dictionary(t flat, body []byte, version int16) error {
	data, ok := t.table(dictionaryData)
	if !ok {
		return damaged("a dictionary without values")
	}
	id := t.GetInt64Slot(dictionaryID, 0)
	values, known := r.values[id]
	if !known {
		return damaged("the dictionary %d belongs to no column", id)
	}
	columns, _, err := readBatch(batchReader{body: body, version: version, dictionaries: r.dictionaries}, data, []*field{values}, func(string) bool { return true })
	if err != nil {
		return err
	}
	d := &dictionary{parts: columns}
	if before := r.dictionaries[id]; before != nil && t.GetBoolSlot(dictionaryDelta, false) {
		d.parts = slices.Concat(before.parts, columns)
	}
	r.dictionaries[id] = d
	return nil
}

// message returns the metadata of a message and the size of its body. The version must be supported.
func message(text []byte, left int64) (flat, int64, error) {
	type found struct {
		flat
		body int64
	}
	m, err := recovered(func() (found, error) {
		m := root(text)
		if v := m.GetInt16Slot(messageVersion, 0); v < minVersion {
			return found{}, damaged("its format is older than Arrow 0.8")
		}
		body := m.GetInt64Slot(messageBody, 0)
		if body < 0 || body > left || body > maxBatchBytes {
			return found{}, damaged("a message of %d bytes where %d are left; at most %d MiB can be read", body, max(0, left), maxBatchBytes>>20)
		}
		return found{m, body}, nil
	})
	return m.flat, m.body, err
}

// stream reads consecutive messages.
type stream struct {
	in       io.ReaderAt
	at, size int64
}

// open reads the schema, which is the first message.
func (s *stream) open() (flat, error) {
	m, _, err := s.next()
	if err != nil {
		return flat{}, noEOF(err)
	}
	return recovered(func() (flat, error) {
		schema, ok := m.table(messageHeader)
		if !ok || m.GetByteSlot(messageKind, 0) != kindSchema {
			return flat{}, damaged("the first message is not a schema")
		}
		return schema, nil
	})
}

// next returns the metadata and the body of the next message, io.EOF at the end.
func (s *stream) next() (flat, []byte, error) {
	length, err := s.length()
	if err == nil && length == continuation {
		length, err = s.length()
	}
	switch {
	case err != nil:
		return flat{}, nil, err
	case length == 0:
		return flat{}, nil, io.EOF
	case int64(length) > s.size-s.at:
		return flat{}, nil, damaged("metadata of %d bytes where %d are left", length, s.size-s.at)
	}
	text, err := s.read(int64(length))
	if err != nil {
		return flat{}, nil, err
	}
	m, size, err := message(text, s.size-s.at)
	if err != nil {
		return flat{}, nil, err
	}
	body, err := s.read(size)
	return m, body, err
}

// length reads a length. A stream may end instead.
func (s *stream) length() (uint32, error) {
	if s.at == s.size {
		return 0, io.EOF
	}
	b, err := s.read(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// read reads the next n bytes.
func (s *stream) read(n int64) ([]byte, error) {
	b, err := readAt(s.in, s.at, n)
	s.at += n
	return b, err
}

// block is the position of a message in a file: its metadata with their length prefix, then its body.
type block struct{ at, meta, body int64 }

// file reads the messages listed in the index at the end of a file: dictionaries, then batches.
type file struct {
	in     io.ReaderAt
	size   int64
	blocks []block
	read   int
}

// open reads the index from the end of the file and returns the schema. The index is followed by its length and the magic bytes.
func (f *file) open() (flat, error) {
	const tail = int64(4 + len(magic))
	end, err := readAt(f.in, f.size-tail, tail)
	if err != nil {
		return flat{}, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if !bytes.HasSuffix(end, []byte(magic)) || length < 8 || length > f.size-tail {
		return flat{}, damaged("an index of %d bytes in a file of %d", length, f.size)
	}
	text, err := readAt(f.in, f.size-tail-length, length)
	if err != nil {
		return flat{}, err
	}
	return recovered(func() (flat, error) { return f.index(root(text)) })
}

// index reads the positions of the messages. They must not overlap.
func (f *file) index(t flat) (flat, error) {
	left := f.size
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerBatches} {
		v, err := t.vector(slot, blockSize)
		if err != nil {
			return flat{}, err
		}
		for i := range v.n {
			p := v.at(i)
			b := block{v.GetInt64(p), int64(v.GetInt32(p + 8)), v.GetInt64(p + 16)}
			if b.at < 0 || b.at > f.size || b.meta < 8 || b.meta > f.size-b.at || b.body < 0 || b.body > f.size-b.at-b.meta || b.meta+b.body > left {
				return flat{}, damaged("batch %d of %d and %d bytes at %d of %d", i, b.meta, b.body, b.at, f.size)
			}
			left -= b.meta + b.body
			f.blocks = append(f.blocks, b)
		}
	}
	schema, ok := t.table(footerSchema)
	if !ok {
		return flat{}, damaged("an index without columns")
	}
	return schema, nil
}

// next returns the metadata and the body of the next message, io.EOF at the end.
func (f *file) next() (flat, []byte, error) {
	if f.read == len(f.blocks) {
		return flat{}, nil, io.EOF
	}
	b := f.blocks[f.read]
	f.read++
	text, err := readAt(f.in, b.at, b.meta)
	if err != nil {
		return flat{}, nil, err
	}
	if binary.LittleEndian.Uint32(text) == continuation {
		text = text[4:]
	}
	m, size, err := message(text[4:], f.size-b.at-b.meta)
	switch {
	case err != nil:
		return flat{}, nil, err
	case size != b.body:
		return flat{}, nil, damaged("a batch of %d bytes, of %d in the index", size, b.body)
	}
	body, err := readAt(f.in, b.at+b.meta, size)
	return m, body, err
}

// readAt reads n bytes at an offset.
func readAt(in io.ReaderAt, at, n int64) ([]byte, error) {
	if at < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if got, err := in.ReadAt(b, at); int64(got) < n { // a complete read with io.EOF is not a failure
		return nil, noEOF(err)
	}
	return b, nil
}

// noEOF converts io.EOF to an error if more data must follow.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
