package stats

import (
	"iter"
	"math"
)

// chunkLen is the number of values that are packed together.
const chunkLen = 4096

// Column is an append-only list of float64 values with compact, exact storage. Blocks of small non-negative integers (nanoseconds below 4.3 s, token
// counts, byte counts) take two or four bytes per value, constant blocks none, others eight. Its users use NaN for "absent"; here it is an ordinary
// value.
type Column struct {
	chunks []chunk
	tail   []float64
}

// chunk is one packed block. Exactly one of the slices is set; for a constant block all are nil.
type chunk struct {
	same   float64
	halves []uint16
	words  []uint32
	wide   []float64
}

// Len returns the number of values.
func (c *Column) Len() int { return len(c.chunks)*chunkLen + len(c.tail) }

// Append adds one value.
func (c *Column) Append(v float64) {
	c.tail = append(c.tail, v)
	if len(c.tail) == chunkLen {
		c.chunks = append(c.chunks, pack(c.tail))
		c.tail = c.tail[:0]
	}
}

// Pad appends v until the column has n values.
func (c *Column) Pad(n int, v float64) {
	for c.Len() < n {
		c.Append(v)
	}
}

// AppendTo appends all values to dst.
func (c *Column) AppendTo(dst []float64) []float64 {
	for i := range c.chunks {
		dst = c.chunks[i].appendTo(dst)
	}
	return append(dst, c.tail...)
}

// Values reads all values.
func (c *Column) Values() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		var buf []float64
		for i := range c.chunks {
			buf = c.chunks[i].appendTo(buf[:0])
			for _, v := range buf {
				if !yield(v) {
					return
				}
			}
		}
		for _, v := range c.tail {
			if !yield(v) {
				return
			}
		}
	}
}

// At returns value i.
func (c *Column) At(i int) float64 {
	if k := i / chunkLen; k < len(c.chunks) {
		return c.chunks[k].at(i % chunkLen)
	}
	return c.tail[i-len(c.chunks)*chunkLen]
}

// pack chooses the smallest exact form for a full block.
func pack(v []float64) chunk {
	same, small, top := true, true, 0.0
	for _, x := range v {
		same = same && (x == v[0] || math.IsNaN(x) && math.IsNaN(v[0]))
		small = small && x >= 0 && x <= math.MaxUint32 && x == math.Trunc(x) && !math.Signbit(x)
		top = max(top, x)
	}
	switch {
	case same:
		return chunk{same: v[0]}
	case small && top <= math.MaxUint16:
		return chunk{halves: convert[uint16](v)}
	case small:
		return chunk{words: convert[uint32](v)}
	}
	return chunk{wide: append([]float64(nil), v...)}
}

func convert[T uint16 | uint32](v []float64) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

func (k *chunk) appendTo(dst []float64) []float64 {
	switch {
	case k.wide != nil:
		return append(dst, k.wide...)
	case k.words != nil:
		for _, x := range k.words {
			dst = append(dst, float64(x))
		}
	case k.halves != nil:
		for _, x := range k.halves {
			dst = append(dst, float64(x))
		}
	default:
		for range chunkLen {
			dst = append(dst, k.same)
		}
	}
	return dst
}

func (k *chunk) at(i int) float64 {
	switch {
	case k.wide != nil:
		return k.wide[i]
	case k.words != nil:
		return float64(k.words[i])
	case k.halves != nil:
		return float64(k.halves[i])
	}
	return k.same
}

// Cursor reads a column from its beginning, value by value, and returns NaN after its end.
type Cursor struct {
	c   *Column
	buf []float64
	k   int // index of the next block
	i   int // index of the next value in buf
}

// Cursor returns a reader of the column. The column must not change while it is used.
func (c *Column) Cursor() *Cursor { return &Cursor{c: c} }

// Seek makes value i the next one.
func (r *Cursor) Seek(i int) {
	r.k, r.buf, r.i = i/chunkLen, r.buf[:0], 0
	if skip := i % chunkLen; skip > 0 {
		r.Next()
		r.i = min(skip, len(r.buf))
	}
}

// Next returns the next value.
func (r *Cursor) Next() float64 {
	for r.i == len(r.buf) {
		switch {
		case r.k < len(r.c.chunks):
			r.buf = r.c.chunks[r.k].appendTo(r.buf[:0])
		case r.k == len(r.c.chunks):
			r.buf = append(r.buf[:0], r.c.tail...)
		default:
			return math.NaN()
		}
		r.k++
		r.i = 0
	}
	r.i++
	return r.buf[r.i-1]
}
