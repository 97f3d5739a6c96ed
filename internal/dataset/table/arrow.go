package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowReader reads record batches: of a stream, as the Hugging Face library caches data sets, or of a file with an index at its end.
type arrowReader struct {
	schema *arrow.Schema
	next   func() (arrow.RecordBatch, error) // nil batch = the end
	close  func() error
	batch  arrow.RecordBatch
	row    int
}

func openArrow(in Input, size int64, _ []string) (Reader, error) {
	magic := make([]byte, 6)
	if _, err := in.ReadAt(magic, 0); err != nil {
		return nil, noEOF(err)
	}
	if bytes.Equal(magic, []byte("ARROW1")) {
		return openArrowFile(in)
	}
	if err := firstMessage(in, size); err != nil {
		return nil, err
	}
	r, err := ipc.NewReader(in)
	if err != nil {
		return nil, err
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

// firstMessage checks that a stream begins with a message that fits into it: a reader would make room for whatever length it says.
func firstMessage(in Input, size int64) error {
	var head [8]byte
	if _, err := in.ReadAt(head[:], 0); err != nil {
		return noEOF(err)
	}
	length := binary.LittleEndian.Uint32(head[:4])
	if length == math.MaxUint32 { // what newer streams put before it
		length = binary.LittleEndian.Uint32(head[4:])
	}
	if int64(length) > size {
		return errors.New("is no Arrow file: its first message would be longer than the file")
	}
	return nil
}

func openArrowFile(in Input) (Reader, error) {
	seek, ok := in.(ipc.ReadAtSeeker)
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	r, err := ipc.NewFileReader(seek)
	if err != nil {
		return nil, err
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
		b, err := a.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, io.EOF
		}
		a.batch, a.row = b, 0
	}
	row := Row{}
	for i, f := range a.schema.Fields() {
		row[f.Name] = cell(a.batch.Column(i), a.row)
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
		return int64(c.Value(i))
	case interface{ Value(i int) uint32 }:
		return int64(c.Value(i))
	}
	return column.ValueStr(i)
}
