// Package protobuf writes and reads the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding). The few messages that
// aiperf exchanges are written field by field. The library for generated messages would add 1.5 MB to the program and a millisecond to its start.
package protobuf

import (
	"encoding/binary"
	"math"
	"strings"
)

// Kind is the wire type of a field.
type Kind uint8

// Kinds of fields. A field of bytes holds a text, bytes, a message or packed numbers.
const (
	Varint Kind = iota
	Fixed64
	Bytes
	StartGroup
	EndGroup
	Fixed32
)

// Message is an encoded message. Its methods append fields.
type Message []byte

// Tag appends the start of a field.
func (m *Message) Tag(field int, kind Kind) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(kind))
}

// Varint appends a number of variable size. A negative number is its two's complement.
func (m *Message) Varint(field int, v uint64) {
	m.Tag(field, Varint)
	*m = binary.AppendUvarint(*m, v)
}

// Bool appends a truth value.
func (m *Message) Bool(field int, v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	m.Varint(field, n)
}

// Fixed64 appends a number of eight bytes.
func (m *Message) Fixed64(field int, v uint64) {
	m.Tag(field, Fixed64)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

// Fixed32 appends a number of four bytes.
func (m *Message) Fixed32(field int, v uint32) {
	m.Tag(field, Fixed32)
	*m = binary.LittleEndian.AppendUint32(*m, v)
}

// Double appends a floating-point number of eight bytes.
func (m *Message) Double(field int, v float64) { m.Fixed64(field, math.Float64bits(v)) }

// Bytes appends bytes, or a message.
func (m *Message) Bytes(field int, b []byte) {
	m.Tag(field, Bytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

// String appends a text. The format demands UTF-8, so invalid bytes become the replacement character.
func (m *Message) String(field int, s string) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	m.Tag(field, Bytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(s))), s...)
}

// StringIfAny appends a text unless it is empty, which is the default value of a field.
func (m *Message) StringIfAny(field int, s string) {
	if s != "" {
		m.String(field, s)
	}
}

// Zigzag maps a signed number to an unsigned one, so that numbers near zero are short (sint32, sint64).
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// Message appends a message, whose fields write appends. They are written in place and not copied to another buffer.
func (m *Message) Message(field int, write func(m *Message)) {
	m.Tag(field, Bytes)
	start := len(*m)
	write(m)
	size := len(*m) - start
	var room [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(room[:], uint64(size))
	*m = append(*m, room[:n]...)
	copy((*m)[start+n:], (*m)[start:start+size])
	copy((*m)[start:], room[:n])
}
