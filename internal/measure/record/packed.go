package record

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unsafe"
)

// Packed holds the bytes of consecutive messages of one record as differences. The events of a stream differ in little more than their text, so a long
// answer needs a tenth of its size while it waits. Messages whose bytes are packed have no Raw until Unpack.
type Packed struct {
	from, to int     // the messages, by index in the record
	data     []byte  // one difference after the other
	size     int     // bytes of the messages without packing
	last     []byte  // copy of the last packed message
	whole    *[]byte // pooled bytes of the unpacked messages; nil = not unpacked
}

// maxKeptPacked is the capacity in bytes above which memory of an answer is not used again for the next one.
const maxKeptPacked = 64 << 10

// wholes holds memory for unpacked bytes.
var wholes = sync.Pool{New: func() any { return new([]byte) }}

// Pack packs the bytes of messages[from:], which the caller may then use for something else. It reports false if it cannot, because messages before
// from have been packed and unpacked again, or are not the last packed ones.
func (p *Packed) Pack(messages []Message, from int) bool {
	switch {
	case p.whole != nil:
		return false
	case p.to == p.from:
		p.from = from
	case p.to != from:
		return false
	}
	last := p.last
	for i := from; i < len(messages); i++ {
		m := &messages[i]
		p.data = appendDifference(p.data, last, m.Raw)
		p.size += len(m.Raw)
		last, m.Raw, m.packed = m.Raw, nil, p
	}
	p.last, p.to = append(p.last[:0], last...), len(messages)
	return true
}

// Reset forgets all messages and keeps the memory for others.
func (p *Packed) Reset() {
	if p.whole != nil {
		if cap(*p.whole) <= 16*maxKeptPacked {
			wholes.Put(p.whole)
		}
		p.whole = nil
	}
	p.from, p.to, p.size, p.data, p.last = 0, 0, 0, p.data[:0], p.last[:0]
	if cap(p.data)+cap(p.last) > maxKeptPacked {
		p.data, p.last = nil, nil
	}
}

// appendDifference appends how raw differs from the message before it: the lengths of what both begin and end with, and what lies between.
func appendDifference(dst, before, raw []byte) []byte {
	start := commonStart(before, raw)
	end := commonEnd(before[start:], raw[start:])
	middle := raw[start : len(raw)-end]
	dst = binary.AppendUvarint(dst, uint64(start))
	dst = binary.AppendUvarint(dst, uint64(end))
	dst = binary.AppendUvarint(dst, uint64(len(middle)))
	return append(dst, middle...)
}

// commonStart returns the number of bytes with which both a and b begin.
func commonStart(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonEnd returns the number of bytes with which both a and b end.
func commonEnd(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[len(a)-i-8:]) ^ binary.LittleEndian.Uint64(b[len(b)-i-8:]); x != 0 {
			return i + bits.LeadingZeros64(x)/8
		}
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// Unpack gives packed messages of one record their bytes again. They are valid until the record is released.
func Unpack(messages []Message) {
	for i := range messages {
		if p := messages[i].packed; p != nil {
			p.unpack(messages)
			return
		}
	}
}

// unpack sets Raw of the packed messages. Those behind the end of the given list stay without.
func (p *Packed) unpack(messages []Message) {
	p.whole = wholes.Get().(*[]byte)
	if cap(*p.whole) < p.size {
		*p.whole = make([]byte, 0, p.size)
	}
	all, before, data := (*p.whole)[:0], []byte(nil), p.data
	for i := p.from; i < min(p.to, len(messages)); i++ {
		start, end, middle := next(&data), next(&data), next(&data)
		at := len(all)
		all = append(all, before[:start]...)
		all = append(all, data[:middle]...)
		all = append(all, before[len(before)-end:]...)
		data, before = data[middle:], all[at:len(all):len(all)]
		messages[i].Raw, messages[i].packed = before, nil
	}
	*p.whole = all
}

// next takes a number from the front of differences.
func next(data *[]byte) int {
	n, size := binary.Uvarint(*data)
	*data = (*data)[size:]
	return int(n)
}

// IsPacked reports whether Raw is missing until Unpack.
func (m *Message) IsPacked() bool { return m.packed != nil }

// Size returns about how many bytes of memory the messages need until they are unpacked.
func Size(messages []Message) int64 {
	n, packed := len(messages)*int(unsafe.Sizeof(Message{})), (*Packed)(nil)
	for i := range messages {
		m := &messages[i]
		n += len(m.Raw)
		for _, f := range m.Fields() {
			n += int(unsafe.Sizeof(f)) + len(f.Value)
		}
		if packed == nil && m.packed != nil {
			packed = m.packed
			n += len(packed.data)
		}
	}
	return int64(n)
}
