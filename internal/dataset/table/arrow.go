package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowReader reads record batches: of a stream, as the Hugging Face library caches data sets, or of a file with an index at its end.
type arrowReader struct {
	schema *arrow.Schema
	next   func() (arrow.RecordBatch, error) // nil batch = the end
	close  func() error
	batch  arrow.RecordBatch
	row    int

	batches int // read so far
}

func openArrow(in Input, size int64, _ []string) (Reader, error) {
	magic := make([]byte, 6)
	if _, err := in.ReadAt(magic, 0); err != nil {
		return nil, noEOF(err)
	}
	if bytes.Equal(magic, []byte("ARROW1")) {
		return openArrowFile(in, size)
	}
	r, err := guarded(func() (*ipc.Reader, error) { return ipc.NewReaderFromMessageReader(&messages{in: in, size: size}) })
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return &arrowReader{
		schema: r.Schema(),
		next: func() (arrow.RecordBatch, error) {
			if !r.Next() {
				return nil, r.Err()
			}
			return r.RecordBatch(), nil
		},
		close: func() error { r.Release(); return nil },
	}, nil
}

// continuation stands before the length of a message, but not in old files.
const continuation = math.MaxUint32

// messages reads the messages of a stream, each looked through before the library sees it.
type messages struct {
	in       io.ReaderAt
	at, size int64
}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	length, err := m.length()
	if err == nil && length == continuation {
		length, err = m.length()
	}
	switch {
	case err != nil:
		return nil, err
	case length == 0:
		return nil, io.EOF
	case int64(length) > m.size-m.at:
		return nil, unsound("metadata of %d bytes where %d are left", length, m.size-m.at)
	}
	meta, err := m.read(int64(length))
	if err != nil {
		return nil, err
	}
	size, err := checkMessage(meta, m.in, m.at, m.size)
	if err != nil {
		return nil, err
	}
	body, err := m.read(size)
	if err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// Retain implements ipc.MessageReader: there is nothing to count.
func (m *messages) Retain() {}

// Release implements ipc.MessageReader.
func (m *messages) Release() {}

// length reads a length; a file may end where one would stand.
func (m *messages) length() (uint32, error) {
	if m.at == m.size {
		return 0, io.EOF
	}
	b, err := m.read(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// read reads the next n bytes.
func (m *messages) read(n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := m.in.ReadAt(b, m.at); err != nil && (n > 0 || !errors.Is(err, io.EOF)) {
		return nil, noEOF(err)
	}
	m.at += n
	return b, nil
}

// openArrowFile reads a file with an index at its end: the index, its length and the name of the format.
func openArrowFile(in Input, size int64) (Reader, error) {
	seek, ok := in.(ipc.ReadAtSeeker)
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	var end [10]byte
	if size < int64(len(end)) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := in.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, noEOF(err)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length < 8 || length > size-int64(len(end)) {
		return nil, unsound("an index of %d bytes in a file of %d", length, size)
	}
	footer := make([]byte, length)
	if _, err := in.ReadAt(footer, size-int64(len(end))-length); err != nil {
		return nil, noEOF(err)
	}
	if err := checkFooter(footer, in, size); err != nil {
		return nil, err
	}
	r, err := guarded(func() (*ipc.FileReader, error) { return ipc.NewFileReader(seek) })
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	i := 0
	return &arrowReader{
		schema: r.Schema(),
		next: func() (arrow.RecordBatch, error) {
			if i == r.NumRecords() {
				return nil, nil
			}
			i++
			return r.RecordBatchAt(i - 1)
		},
		close: r.Close,
	}, nil
}

func (a *arrowReader) Columns() []string {
	var names []string
	for _, f := range a.schema.Fields() {
		names = append(names, f.Name)
	}
	return names
}

func (a *arrowReader) Next() (Row, error) {
	for a.batch == nil || a.row == int(a.batch.NumRows()) {
		b, err := guarded(a.next)
		if err != nil {
			return nil, fmt.Errorf("record batch %d: %w", a.batches, err)
		}
		if b == nil {
			return nil, io.EOF
		}
		a.batch, a.row = b, 0
		a.batches++
	}
	column := ""
	row, err := guarded(func() (Row, error) {
		row := Row{}
		for i, f := range a.schema.Fields() {
			column = f.Name
			row[f.Name] = cell(a.batch.Column(i), a.row)
		}
		return row, nil
	})
	if err != nil {
		return nil, fmt.Errorf("column %s, row %d of record batch %d: %w", column, a.row, a.batches-1, errValues)
	}
	a.row++
	return row, nil
}

func (a *arrowReader) Close() error { return a.close() }

// cell is the value at place i of a column.
func cell(column arrow.Array, i int) any {
	if column.IsNull(i) {
		return nil
	}
	switch c := column.(type) {
	case *array.Struct:
		out := map[string]any{}
		for k, f := range c.DataType().(*arrow.StructType).Fields() {
			out[f.Name] = cell(c.Field(k), i)
		}
		return out
	case array.ListLike:
		from, to := c.ValueOffsets(i)
		if from < 0 || to < from || to > int64(c.ListValues().Len()) {
			panic(fmt.Sprintf("a list from %d to %d of %d values", from, to, c.ListValues().Len()))
		}
		out := make([]any, 0, to-from)
		for k := from; k < to; k++ {
			out = append(out, cell(c.ListValues(), int(k)))
		}
		return out
	case *array.Dictionary:
		return cell(c.Dictionary(), c.GetValueIndex(i))
	}
	return scalar(column, i)
}

// scalar is one value that holds no others.
func scalar(column arrow.Array, i int) any {
	switch c := column.(type) {
	case interface{ Value(i int) string }:
		return strings.Clone(c.Value(i)) // the batch is released
	case interface{ Value(i int) []byte }:
		return string(c.Value(i))
	case interface{ Value(i int) bool }:
		return c.Value(i)
	case interface{ Value(i int) float64 }:
		return c.Value(i)
	case interface{ Value(i int) float32 }:
		return float64(c.Value(i))
	case interface{ Value(i int) int64 }:
		return c.Value(i)
	case interface{ Value(i int) int32 }:
		return int64(c.Value(i))
	case interface{ Value(i int) int16 }:
		return int64(c.Value(i))
	case interface{ Value(i int) int8 }:
		return int64(c.Value(i))
	case interface{ Value(i int) uint64 }:
		if v := c.Value(i); v > math.MaxInt64 {
			return float64(v)
		}
		return int64(c.Value(i))
	case interface{ Value(i int) uint32 }:
		return int64(c.Value(i))
	case interface{ Value(i int) uint16 }:
		return int64(c.Value(i))
	case interface{ Value(i int) uint8 }:
		return int64(c.Value(i))
	}
	return column.ValueStr(i)
}
