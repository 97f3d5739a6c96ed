package table

import (
	"encoding/binary"
	"io"
)

// maxThrift is the maximum nesting of Thrift values.
const maxThrift = 32

// thriftStruct checks a struct in Thrift's compact protocol and returns its size. All its lists and texts must be within the bytes, because the
// library allocates memory for the stated sizes first.
func thriftStruct(b []byte, depth int) (size int, err error) {
	w := &thriftWalk{b: b}
	err = w.fields(depth)
	return len(b) - len(w.b), err
}

// thriftWalk reads values from bytes.
type thriftWalk struct{ b []byte }

// Types of values in the compact protocol.
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
	thriftFields
	thriftUUID
)

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.b)) {
		return io.ErrUnexpectedEOF
	}
	w.b = w.b[n:]
	return nil
}

func (w *thriftWalk) next() (byte, error) {
	if len(w.b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := w.b[0]
	w.b = w.b[1:]
	return b, nil
}

func (w *thriftWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b)
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if n < 0 {
		return 0, unsoundParquet("a number of more than 64 bits")
	}
	w.b = w.b[n:]
	return v, nil
}

func (w *thriftWalk) fields(depth int) error {
	for {
		head, err := w.next()
		if err != nil || head == thriftStop {
			return err
		}
		if head>>4 == 0 { // the field number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse { // booleans have their value in the type
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
}

func (w *thriftWalk) value(kind byte, depth int) error {
	if depth > maxThrift {
		return unsoundParquet("values nested deeper than %d", maxThrift)
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftText:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftMap:
		return w.pairs(depth)
	case thriftFields:
		return w.fields(depth)
	}
	return unsoundParquet("a value of type %d", kind)
}

// count checks the number of elements. Each takes at least one byte. A struct takes at least three, with one field that is not empty.
func (w *thriftWalk) count(n uint64, kind byte) error {
	least := uint64(1)
	if kind == thriftFields {
		least = 3
	}
	if n > uint64(len(w.b))/least {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (w *thriftWalk) list(depth int) error {
	head, err := w.next()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if err := w.count(n, head&15); err != nil {
		return err
	}
	for range n {
		if err := w.value(head&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) pairs(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.next()
	if err != nil {
		return err
	}
	if err := w.count(n, kinds&15); err != nil {
		return err
	}
	for range n {
		if err := w.value(kinds>>4, depth+1); err != nil {
			return err
		}
		if err := w.value(kinds&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}
