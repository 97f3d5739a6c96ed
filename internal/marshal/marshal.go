// Package marshal writes plain data as bytes and reads it back, exactly. A type describes itself once, field by field, in a function that
// takes a Coder; the same function writes and reads, so that the two cannot part. Whole numbers are varints, floats their eight bytes, and
// nil is kept apart from empty.
package marshal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrShort says that the bytes end within a value.
var ErrShort = errors.New("the data ends too early")

// Coder visits values: it appends them to its bytes, or fills them from its bytes. The first error ends the reading; what is visited
// afterwards stays as it is.
type Coder struct {
	b       []byte
	reading bool
	err     error
}

// NewWriter makes a coder that appends to dst.
func NewWriter(dst []byte) *Coder { return &Coder{b: dst} }

// NewReader makes a coder that reads b. Byte slices that it fills are cut from b.
func NewReader(b []byte) *Coder { return &Coder{b: b, reading: true} }

// Bytes is what was written, or what is not read yet.
func (c *Coder) Bytes() []byte { return c.b }

// Reading tells which of the two the coder does.
func (c *Coder) Reading() bool { return c.reading }

// Err is what was wrong with the bytes, nil = nothing.
func (c *Coder) Err() error { return c.err }

// Fail ends the reading with an error, unless there is one already.
func (c *Coder) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// take cuts n bytes off; nil if there are not as many.
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
	c.Int64(&wide)
	*v = int(wide)
}

// Bool visits a truth value.
func (c *Coder) Bool(v *bool) {
	var bit byte
	if *v {
		bit = 1
	}
	c.Byte(&bit)
	*v = bit != 0
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

// Float64 visits a number bit by bit: NaN and the sign of 0 are kept.
func (c *Coder) Float64(v *float64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, math.Float64bits(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

// String visits a text.
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

// present visits whether something follows.
func (c *Coder) present(yes bool) bool {
	c.Bool(&yes)
	return yes && c.err == nil
}

// length reads a number of elements, each of which takes size bytes at least.
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

// Len visits a number of elements, each of which takes one byte at least.
func (c *Coder) Len(n *int) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*n))
		return
	}
	*n = c.length(1)
}

// Slice visits a list; nil stays nil.
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
		*v = make([]T, n)
	}
	for i := range *v {
		each(c, &(*v)[i])
	}
}

// Pointer visits what may be missing; nil stays nil.
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
