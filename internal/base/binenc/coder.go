// Package binenc encodes plain data as bytes and decodes it without loss. A type describes itself once, field by field, in a function that takes a
// Coder. The same function writes and reads, so the two cannot disagree. Whole numbers are varints, floats are eight bytes, and nil stays distinct
// from empty.
package binenc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrShort reports that the data ends within a value.
var ErrShort = errors.New("the data ends too early")

// Coder visits values: a writing coder appends them to its bytes, a reading coder fills them from its bytes. Reading stops at the first error; values
// visited later keep their contents.
type Coder struct {
	b       []byte
	reading bool
	err     error
}

// NewWriter returns a coder that appends to dst.
func NewWriter(dst []byte) *Coder { return &Coder{b: dst} }

// NewReader returns a coder that reads b. The byte slices that it fills share memory with b.
func NewReader(b []byte) *Coder { return &Coder{b: b, reading: true} }

// Bytes returns the bytes written so far, or the bytes not read yet.
func (c *Coder) Bytes() []byte { return c.b }

// Reading reports whether the coder reads rather than writes.
func (c *Coder) Reading() bool { return c.reading }

// Err returns the first error in the data, or nil.
func (c *Coder) Err() error { return c.err }

// Fail stops reading with an error, unless there is an error already.
func (c *Coder) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// take removes and returns the next n bytes; nil if fewer are left.
func (c *Coder) take(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.b) {
		c.err = ErrShort
		return nil
	}
	part := c.b[:n:n]
	c.b = c.b[n:]
	return part
}

// Int64 visits a whole number.
func (c *Coder) Int64(v *int64) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	if c.err != nil {
		return
	}
	got, n := binary.Varint(c.b)
	if n <= 0 {
		c.err = ErrShort
		return
	}
	c.b = c.b[n:]
	*v = got
}

// Int visits a whole number.
func (c *Coder) Int(v *int) {
	wide := int64(*v)
	if c.Int64(&wide); c.reading { // a value that is written may be read elsewhere at the same time
		*v = int(wide)
	}
}

// Bool visits a bool.
func (c *Coder) Bool(v *bool) {
	var bit byte
	if *v {
		bit = 1
	}
	if c.Byte(&bit); c.reading {
		*v = bit != 0
	}
}

// Byte visits a byte.
func (c *Coder) Byte(v *byte) {
	if !c.reading {
		c.b = append(c.b, *v)
		return
	}
	if b := c.take(1); b != nil {
		*v = b[0]
	}
}

// Float64 visits a number bit by bit, so that NaN and the sign of 0 survive.
func (c *Coder) Float64(v *float64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, math.Float64bits(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

// String visits a string.
func (c *Coder) String(v *string) {
	if !c.reading {
		c.b = append(binary.AppendUvarint(c.b, uint64(len(*v))), *v...)
		return
	}
	*v = string(c.take(c.length(1)))
}

// ByteSlice visits bytes; nil stays nil.
func (c *Coder) ByteSlice(v *[]byte) {
	if c.present(*v != nil) {
		if !c.reading {
			c.b = append(binary.AppendUvarint(c.b, uint64(len(*v))), *v...)
			return
		}
		*v = c.take(c.length(1))
		return
	}
	if c.reading {
		*v = nil
	}
}

// present visits a flag that says whether a value follows.
func (c *Coder) present(yes bool) bool {
	c.Bool(&yes)
	return yes && c.err == nil
}

// length reads a number of elements that take at least size bytes each.
func (c *Coder) length(size int) int {
	if c.err != nil {
		return 0
	}
	got, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.err = ErrShort
		return 0
	}
	c.b = c.b[n:]
	if got > uint64(len(c.b)/max(1, size)) {
		c.err = ErrShort
		return 0
	}
	return int(got)
}

// Len visits a number of elements that take at least one byte each.
func (c *Coder) Len(n *int) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*n))
		return
	}
	*n = c.length(1)
}

// Slice visits a slice; nil stays nil.
func Slice[T any](c *Coder, v *[]T, each func(*Coder, *T)) {
	if !c.present(*v != nil) {
		if c.reading {
			*v = nil
		}
		return
	}
	n := len(*v)
	c.Len(&n)
	if c.reading {
		*v = readSlice(c, n, each)
		return
	}
	for i := range *v {
		each(c, &(*v)[i])
	}
}

// readAtOnce is the number of elements for which a slice has room before they are read. A small element can become a large one in memory, so the
// number that foreign bytes state is not trusted.
const readAtOnce = 4096

func readSlice[T any](c *Coder, n int, each func(*Coder, *T)) []T {
	list := make([]T, 0, min(n, readAtOnce))
	for range n {
		var one T
		list = append(list, one)
		if each(c, &list[len(list)-1]); c.err != nil {
			break
		}
	}
	return list
}

// Pointer visits a value that may be missing; nil stays nil.
func Pointer[T any](c *Coder, v **T, each func(*Coder, *T)) {
	if !c.present(*v != nil) {
		if c.reading {
			*v = nil
		}
		return
	}
	if c.reading {
		*v = new(T)
	}
	each(c, *v)
}
