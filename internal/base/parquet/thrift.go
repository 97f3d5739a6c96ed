package parquet

import (
	"encoding/binary"
	"io"
	"math"
)

// maxNesting is the maximum nesting of Thrift values and of columns.
const maxNesting = 32

// Types of values in Thrift's compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftText
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

// thriftReader reads Thrift's compact protocol. After the first error, all values are zero. Every stated length and count is checked against the
// bytes that are left, so nothing is allocated for what is not there.
type thriftReader struct {
	b     []byte
	depth int
	err   error
}

func (t *thriftReader) fail(err error) {
	if t.err == nil {
		t.err, t.b = err, nil
	}
}

func (t *thriftReader) take(n uint64) []byte {
	if n > uint64(len(t.b)) {
		t.fail(io.ErrUnexpectedEOF)
		return nil
	}
	taken := t.b[:n]
	t.b = t.b[n:]
	return taken
}

func (t *thriftReader) octet() byte {
	if b := t.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

func (t *thriftReader) varint() uint64 {
	v, n := binary.Uvarint(t.b)
	switch {
	case n == 0:
		t.fail(io.ErrUnexpectedEOF)
		return 0
	case n < 0:
		t.fail(corrupt("a number of more than 64 bits"))
		return 0
	}
	t.b = t.b[n:]
	return v
}

// integer reads a number of the given type.
func (t *thriftReader) integer(kind byte) int64 {
	switch kind {
	case thriftTrue:
		return 1
	case thriftFalse:
		return 0
	case thriftByte:
		return int64(int8(t.octet()))
	case thriftInt16, thriftInt32, thriftInt64:
		v := t.varint()
		return int64(v>>1) ^ -int64(v&1)
	}
	t.fail(corrupt("a value of type %d where a number is wanted", kind))
	return 0
}

// int32 reads a number of at most 32 bits.
func (t *thriftReader) int32(kind byte) int {
	v := t.integer(kind)
	if v != int64(int32(v)) {
		t.fail(corrupt("the number %d of more than 32 bits", v))
		return 0
	}
	return int(v)
}

func (t *thriftReader) text(kind byte) []byte {
	if kind != thriftText {
		t.fail(corrupt("a value of type %d where a text is wanted", kind))
		return nil
	}
	return t.take(t.varint())
}

// fields calls visit for every field of a struct. Fields that visit does not read (false) are skipped.
func (t *thriftReader) fields(kind byte, visit func(id int64, kind byte) bool) {
	if kind != thriftStruct {
		t.fail(corrupt("a value of type %d where a struct is wanted", kind))
	}
	if t.depth++; t.depth > maxNesting {
		t.fail(corrupt("values nested deeper than %d", maxNesting))
	}
	for id := int64(0); t.err == nil; {
		head := t.octet()
		if head == thriftStop {
			break
		}
		if id += int64(head >> 4); head>>4 == 0 { // the field number follows
			id = t.integer(thriftInt16)
		}
		if t.err == nil && !visit(id, head&15) {
			t.skip(head & 15)
		}
	}
	t.depth--
}

// list reads the head of a list: the type and the number of its elements. An element takes at least one byte, a struct at least three, because one of
// its fields is not empty.
func (t *thriftReader) list(kind byte) (element byte, count int) {
	if kind != thriftList && kind != thriftSet {
		t.fail(corrupt("a value of type %d where a list is wanted", kind))
		return 0, 0
	}
	head := t.octet()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.varint()
	}
	return head & 15, t.count(n, head&15)
}

func (t *thriftReader) count(n uint64, element byte) int {
	least := uint64(1)
	if element == thriftStruct {
		least = 3
	}
	if n > uint64(len(t.b))/least || n > math.MaxInt32 {
		t.fail(io.ErrUnexpectedEOF)
		return 0
	}
	return int(n)
}

// skip reads over a field.
func (t *thriftReader) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse: // the type is the value
	default:
		t.skipElement(kind)
	}
}

// skipElement reads over an element of a list. Its booleans take a byte.
func (t *thriftReader) skipElement(kind byte) {
	if t.depth++; t.depth > maxNesting {
		t.fail(corrupt("values nested deeper than %d", maxNesting))
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.take(1)
	case thriftInt16, thriftInt32, thriftInt64:
		t.varint()
	case thriftDouble:
		t.take(8)
	case thriftUUID:
		t.take(16)
	case thriftText:
		t.take(t.varint())
	case thriftStruct:
		t.fields(kind, func(int64, byte) bool { return false })
	case thriftList, thriftSet:
		element, n := t.list(kind)
		for range n {
			t.skipElement(element)
		}
	case thriftMap:
		if n := t.varint(); n > 0 {
			kinds := t.octet()
			for range t.count(n, kinds&15) {
				t.skipElement(kinds >> 4)
				t.skipElement(kinds & 15)
			}
		}
	default:
		t.fail(corrupt("a value of type %d", kind))
	}
	t.depth--
}

// thriftWriter writes Thrift's compact protocol.
type thriftWriter struct {
	b    []byte
	last []int // number of the latest field, by nesting
}

// begin starts a struct: an element of a list, or with open a field.
func (t *thriftWriter) begin() { t.last = append(t.last, 0) }

func (t *thriftWriter) end() {
	t.b = append(t.b, thriftStop)
	t.last = t.last[:len(t.last)-1]
}

// field writes the head of a field. Numbers of fields grow by at most 15.
func (t *thriftWriter) field(id int, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*last)<<4|kind)
	*last = id
}

// open starts a struct in a field.
func (t *thriftWriter) open(id int) {
	t.field(id, thriftStruct)
	t.begin()
}

// empty writes a struct without fields.
func (t *thriftWriter) empty(id int) {
	t.open(id)
	t.end()
}

func (t *thriftWriter) zigzag(v int64) { t.b = binary.AppendVarint(t.b, v) }

func (t *thriftWriter) int32(id, v int) {
	t.field(id, thriftInt32)
	t.zigzag(int64(v))
}

func (t *thriftWriter) int64(id int, v int64) {
	t.field(id, thriftInt64)
	t.zigzag(v)
}

func (t *thriftWriter) text(id int, s string) {
	t.field(id, thriftText)
	t.element(s)
}

// element writes a text of a list.
func (t *thriftWriter) element(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thriftWriter) list(id, count int, element byte) {
	t.field(id, thriftList)
	if count < 15 {
		t.b = append(t.b, byte(count)<<4|element)
		return
	}
	t.b = append(t.b, 0xf0|element)
	t.b = binary.AppendUvarint(t.b, uint64(count))
}
