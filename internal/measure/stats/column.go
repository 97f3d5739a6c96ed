package stats

import (
	"encoding/binary"
	"iter"
	"math"
	"sync"
)

// chunkLen is the number of values that are packed together.
const chunkLen = 4096

// Column is an append-only list of float64 values with compact, exact storage. Blocks of small non-negative integers (nanoseconds below 4.3 s, token
// counts, byte counts) take two or four bytes per value, constant blocks none, others eight. Its users use NaN for "absent"; here it is an ordinary
// value.
type Column struct {
	chunks []chunk
	tail   []float64
	store  *Store
}

// chunk is one packed block.
type chunk struct {
	same  float64 // of a block without width
	width int     // bytes of a value: 0, 2, 4 or 8
	block []byte  // little endian; nil = in the file of the store, or without width
	at    int64   // where in the file
}

// KeepIn puts the blocks of the column, which must be empty, into a store.
func (c *Column) KeepIn(s *Store) { c.store = s }

// Len returns the number of values.
func (c *Column) Len() int { return len(c.chunks)*chunkLen + len(c.tail) }

// Append adds one value.
func (c *Column) Append(v float64) {
	c.tail = append(c.tail, v)
	if len(c.tail) == chunkLen {
		k := pack(c.tail)
		if at, ok := c.store.put(k.block); ok {
			k.block, k.at = nil, at
		}
		c.chunks = append(c.chunks, k)
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
		dst = c.chunks[i].appendTo(dst, c.store)
	}
	return append(dst, c.tail...)
}

// Values reads all values.
func (c *Column) Values() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		var buf []float64
		for i := range c.chunks {
			buf = c.chunks[i].appendTo(buf[:0], c.store)
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
		return c.chunks[k].value(i%chunkLen, c.store)
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
	k := chunk{width: 8}
	switch {
	case same:
		return chunk{same: v[0]}
	case small && top <= math.MaxUint16:
		k.width = 2
	case small:
		k.width = 4
	}
	k.block = make([]byte, len(v)*k.width)
	for i, x := range v {
		switch at := k.block[i*k.width:]; k.width {
		case 2:
			binary.LittleEndian.PutUint16(at, uint16(x))
		case 4:
			binary.LittleEndian.PutUint32(at, uint32(x))
		default:
			binary.LittleEndian.PutUint64(at, math.Float64bits(x))
		}
	}
	return k
}

// blocks holds memory for blocks that are read from a file.
var blocks = sync.Pool{New: func() any { return new([8 * chunkLen]byte) }}

func (k *chunk) appendTo(dst []float64, s *Store) []float64 {
	block := k.block
	if block == nil && k.width > 0 {
		room := blocks.Get().(*[8 * chunkLen]byte)
		defer blocks.Put(room)
		block = room[:chunkLen*k.width]
		s.read(block, k.at)
	}
	switch k.width {
	case 8:
		for i := 0; i < len(block); i += 8 {
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(block[i:])))
		}
	case 4:
		for i := 0; i < len(block); i += 4 {
			dst = append(dst, float64(binary.LittleEndian.Uint32(block[i:])))
		}
	case 2:
		for i := 0; i < len(block); i += 2 {
			dst = append(dst, float64(binary.LittleEndian.Uint16(block[i:])))
		}
	default:
		for range chunkLen {
			dst = append(dst, k.same)
		}
	}
	return dst
}

// value returns value i of the block.
func (k *chunk) value(i int, s *Store) float64 {
	if k.width == 0 {
		return k.same
	}
	at := k.block
	if at == nil {
		at = make([]byte, k.width)
		s.read(at, k.at+int64(i*k.width))
	} else {
		at = at[i*k.width:]
	}
	switch k.width {
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(at))
	case 4:
		return float64(binary.LittleEndian.Uint32(at))
	}
	return float64(binary.LittleEndian.Uint16(at))
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
			r.buf = r.c.chunks[r.k].appendTo(r.buf[:0], r.c.store)
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
