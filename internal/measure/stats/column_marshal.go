package stats

import (
	"encoding/binary"
	"math"

	"aiperf/internal/base/binenc"
)

// The forms of a packed block in the binary form of a column.
const (
	formSame byte = iota
	formHalves
	formWords
	formWide
)

// Visit encodes or decodes a column: its packed blocks as they are, then the unpacked values.
func (c *Column) Visit(m *binenc.Coder) {
	binenc.Slice(m, &c.chunks, visitChunk)
	if visitWide(m, &c.tail); m.Reading() && len(c.tail) >= chunkLen {
		m.Fail("a column with %d values behind its blocks", len(c.tail))
	}
}

func visitChunk(m *binenc.Coder, k *chunk) {
	form := formSame
	switch {
	case k.wide != nil:
		form = formWide
	case k.words != nil:
		form = formWords
	case k.halves != nil:
		form = formHalves
	}
	m.Byte(&form)
	n := chunkLen
	switch form {
	case formSame:
		m.Float64(&k.same)
	case formHalves:
		visitNumbers(m, &k.halves, 2, binary.LittleEndian.AppendUint16, binary.LittleEndian.Uint16)
		n = len(k.halves)
	case formWords:
		visitNumbers(m, &k.words, 4, binary.LittleEndian.AppendUint32, binary.LittleEndian.Uint32)
		n = len(k.words)
	case formWide:
		visitWide(m, &k.wide)
		n = len(k.wide)
	default:
		m.Fail("a block of form %d", form)
	}
	if m.Reading() && n != chunkLen {
		m.Fail("a block of %d values", n)
	}
}

func visitWide(m *binenc.Coder, v *[]float64) {
	visitNumbers(m, v, 8,
		func(b []byte, x float64) []byte { return binary.LittleEndian.AppendUint64(b, math.Float64bits(x)) },
		func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
}

// visitNumbers visits numbers of size bytes each.
func visitNumbers[T any](m *binenc.Coder, v *[]T, size int, put func([]byte, T) []byte, get func([]byte) T) {
	var raw []byte
	if !m.Reading() {
		raw = make([]byte, 0, size*len(*v))
		for _, x := range *v {
			raw = put(raw, x)
		}
	}
	m.ByteSlice(&raw)
	if !m.Reading() {
		return
	}
	if len(raw)%size != 0 {
		m.Fail("%d bytes are not a multiple of the %d bytes of a number", len(raw), size)
		return
	}
	*v = make([]T, 0, len(raw)/size)
	for ; len(raw) > 0; raw = raw[size:] {
		*v = append(*v, get(raw))
	}
}

// AppendAll appends the values of another column.
func (c *Column) AppendAll(o *Column) {
	from := o.Cursor()
	for range o.Len() {
		c.Append(from.Next())
	}
}
