package parquet

import (
	"encoding/binary"
	"io"
)

// A decoder returns the values of a page one after another. Nothing is decoded in advance, so a page costs no more memory than its bytes.
type decoder interface{ next() (any, error) }

// packed are numbers of equal width, one behind the other, the lowest bits first.
type packed struct {
	b     []byte
	width int
	at    int // bits that were read
}

// next returns a number. The caller knows that it is there.
func (p *packed) next() (uint64, error) {
	if p.width == 0 {
		return 0, nil
	}
	first, shift := p.at>>3, p.at&7
	if p.at+p.width > 8*len(p.b) {
		return 0, io.ErrUnexpectedEOF
	}
	p.at += p.width
	var v uint64
	if first+8 <= len(p.b) {
		v = binary.LittleEndian.Uint64(p.b[first:]) >> shift
	} else {
		for i, b := range p.b[first:] {
			v |= uint64(b) << (8 * i)
		}
		v >>= shift
	}
	if have := 64 - shift; have < p.width {
		v |= uint64(p.b[first+8]) << have
	}
	return v & (1<<p.width - 1), nil
}

// runs are numbers in run-length encoding: runs of equal numbers and runs of packed numbers.
type runs struct {
	b         []byte
	width     int
	remaining uint64 // numbers left in the run
	value     uint64 // of a run of equal numbers
	packed    packed
	equal     bool
}

func newRuns(b []byte, width int) *runs { return &runs{b: b, width: width} }

func (r *runs) next() (uint64, error) {
	for r.remaining == 0 {
		if err := r.run(); err != nil {
			return 0, err
		}
	}
	r.remaining--
	if r.equal {
		return r.value, nil
	}
	return r.packed.next()
}

// run starts the next run.
func (r *runs) run() error {
	head, n := binary.Uvarint(r.b)
	if n <= 0 || head > 1<<40 {
		return corrupt("a run without a length")
	}
	r.b = r.b[n:]
	r.remaining, r.equal = head>>1, head&1 == 0
	if r.equal {
		size := (r.width + 7) / 8
		if size > len(r.b) {
			return io.ErrUnexpectedEOF
		}
		r.value = 0
		for i, b := range r.b[:size] {
			r.value |= uint64(b) << (8 * i)
		}
		r.b = r.b[size:]
		return nil
	}
	size := min(r.remaining*uint64(r.width), uint64(len(r.b))) // the last run may be short: no number of it is asked for
	r.packed = packed{b: r.b[:size], width: r.width}
	r.remaining, r.b = r.remaining*8, r.b[size:]
	return nil
}

// formerLevels are levels packed with the highest bit first.
type formerLevels struct {
	b         []byte
	width, at int
}

func (f *formerLevels) next() (uint64, error) {
	if f.at+f.width > 8*len(f.b) {
		return 0, io.ErrUnexpectedEOF
	}
	v := uint64(0)
	for range f.width {
		v = v<<1 | uint64(f.b[f.at>>3]>>(7-f.at&7)&1)
		f.at++
	}
	return v, nil
}

// deltas are whole numbers as packed differences in blocks (DELTA_BINARY_PACKED).
type deltas struct {
	b           []byte
	part, parts int // numbers in a part of a block, parts of a block
	remaining   uint64
	value       int64
	first       bool
	minDelta    int64
	widths      []byte
	packed      packed
	unread      int // numbers left in the part
}

// maxBlock is the maximum number of numbers in a block.
const maxBlock = 1 << 16

// newDeltas reads the head of numbers of a page with at most the given number of values.
func newDeltas(b []byte, values int) (*deltas, error) {
	var head [4]uint64 // values per block, parts per block, number of values, first value
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, io.ErrUnexpectedEOF
		}
		head[i], b = v, b[n:]
	}
	block, parts, left := head[0], head[1], head[2]
	if left > uint64(values) || block == 0 || block > maxBlock || parts == 0 || parts > block || block/parts%8 != 0 {
		return nil, corrupt("%d numbers in blocks of %d in a page of %d values", left, block, values)
	}
	return &deltas{b: b, part: int(block / parts), parts: int(parts), remaining: left, value: int64(head[3]>>1) ^ -int64(head[3]&1), first: true}, nil
}

// next returns a number.
func (d *deltas) next() (int64, error) {
	if d.remaining == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	d.remaining--
	if d.first {
		d.first = false
		return d.value, nil
	}
	if d.unread == 0 {
		if err := d.read(); err != nil {
			return 0, err
		}
	}
	d.unread--
	v, err := d.packed.next()
	d.value += d.minDelta + int64(v)
	return d.value, err
}

// read starts the next part, and the next block behind the last part.
func (d *deltas) read() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.b)
		if n <= 0 || len(d.b)-n < d.parts {
			return io.ErrUnexpectedEOF
		}
		d.minDelta, d.widths, d.b = least, d.b[n:n+d.parts], d.b[n+d.parts:]
	}
	width := int(d.widths[0])
	if width > 64 {
		return corrupt("numbers of %d bits", width)
	}
	size := min(d.part*width/8, len(d.b))
	d.packed, d.unread = packed{b: d.b[:size], width: width}, d.part
	d.widths, d.b = d.widths[1:], d.b[size:]
	return nil
}

// trailing returns the bytes behind the numbers. It leaves the numbers as they are.
func (d *deltas) trailing() ([]byte, error) {
	end := *d
	for left := max(end.remaining, 1) - 1; left > 0; left -= min(left, uint64(end.part)) {
		if err := end.read(); err != nil {
			return nil, err
		}
	}
	return end.b, nil
}

// fixedValues are values of equal length, one behind the other.
type fixedValues struct {
	leaf *node
	b    []byte
}

func (f *fixedValues) next() (any, error) {
	width := f.leaf.width()
	if width > len(f.b) {
		return nil, io.ErrUnexpectedEOF
	}
	v, err := f.leaf.fixed(f.b[:width])
	f.b = f.b[width:]
	return v, err
}

// textValues are texts behind their lengths.
type textValues struct {
	leaf *node
	b    []byte
}

func (t *textValues) next() (any, error) {
	if len(t.b) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	end := 4 + uint64(binary.LittleEndian.Uint32(t.b))
	if end > uint64(len(t.b)) {
		return nil, io.ErrUnexpectedEOF
	}
	v, err := t.leaf.bytes(t.b[4:end])
	t.b = t.b[end:]
	return v, err
}

// flags are booleans as single bits, packed or in runs.
type flags struct {
	bits interface{ next() (uint64, error) }
}

func (f flags) next() (any, error) {
	v, err := f.bits.next()
	return v != 0, err
}

// indexes are places in the dictionary of the column.
type indexes struct {
	runs       *runs
	dictionary []any
}

func (x *indexes) next() (any, error) {
	i, err := x.runs.next()
	if err != nil {
		return nil, err
	}
	if i >= uint64(len(x.dictionary)) {
		return nil, corrupt("value %d of a dictionary of %d", i, len(x.dictionary))
	}
	return x.dictionary[i], nil
}

type deltaValues struct {
	leaf   *node
	deltas *deltas
}

func (d *deltaValues) next() (any, error) {
	v, err := d.deltas.next()
	return d.leaf.integer(v), err
}

// deltaTexts are texts whose lengths are deltas. With prefixes, each also repeats the front of the text before it.
type deltaTexts struct {
	leaf      *node
	prefixes  *deltas // nil = none
	lengths   *deltas
	b         []byte
	previous  []byte
	remaining int // bytes that the texts may still have: a prefix takes none in the file
}

func newDeltaTexts(leaf *node, b []byte, values int, prefixed bool, room int) (*deltaTexts, error) {
	t := &deltaTexts{leaf: leaf, remaining: room}
	var err error
	if prefixed {
		if t.prefixes, err = newDeltas(b, values); err == nil {
			b, err = t.prefixes.trailing()
		}
		if err != nil {
			return nil, err
		}
	}
	if t.lengths, err = newDeltas(b, values); err == nil {
		t.b, err = t.lengths.trailing()
	}
	return t, err
}

func (t *deltaTexts) next() (any, error) {
	prefix := int64(0)
	var err error
	if t.prefixes != nil {
		prefix, err = t.prefixes.next()
	}
	if err != nil {
		return nil, err
	}
	length, err := t.lengths.next()
	switch {
	case err != nil:
		return nil, err
	case length < 0 || length > int64(len(t.b)) || prefix < 0 || prefix > int64(len(t.previous)):
		return nil, corrupt("a text of %d bytes behind the first %d of one of %d, where %d are left", length, prefix, len(t.previous), len(t.b))
	}
	if t.remaining -= int(prefix); t.remaining < 0 {
		return nil, corrupt("texts that repeat too much of the texts before them")
	}
	t.previous = append(t.previous[:prefix], t.b[:length]...)
	t.b = t.b[length:]
	if t.leaf.physical == typeFixed && len(t.previous) != t.leaf.length {
		return nil, corrupt("a value of %d bytes where all have %d", len(t.previous), t.leaf.length)
	}
	return t.leaf.bytes(t.previous)
}

// splitValues are values of equal length, first the first byte of each, then the second and so on (BYTE_STREAM_SPLIT).
type splitValues struct {
	leaf  *node
	b     []byte
	at    int
	bytes []byte
}

func (s *splitValues) next() (any, error) {
	width := s.leaf.width()
	if width == 0 {
		return s.leaf.fixed(nil)
	}
	each := len(s.b) / width
	if s.at >= each {
		return nil, io.ErrUnexpectedEOF
	}
	s.bytes = s.bytes[:0]
	for i := range width {
		s.bytes = append(s.bytes, s.b[i*each+s.at])
	}
	s.at++
	return s.leaf.fixed(s.bytes)
}

// newDecoder returns the values of a page. encoding is that of its head, b are its bytes behind the levels.
func (c *cursor) newDecoder(encoding int, b []byte, values int) (decoder, error) {
	leaf := c.leaf
	kind := leaf.physical
	switch {
	case encoding == encodingPlain:
		return leaf.plainValues(b), nil
	case encoding == encodingIndexes || encoding == encodingOldIndexes:
		if len(b) == 0 { // no value is present
			return &indexes{runs: newRuns(nil, 0)}, nil
		}
		if b[0] > 32 {
			return nil, corrupt("numbers of %d bits", b[0])
		}
		return &indexes{newRuns(b[1:], int(b[0])), c.dictionary}, nil
	case encoding == encodingRuns && kind == typeBool:
		front, _, err := prefixed(b)
		return flags{newRuns(front, 1)}, err
	case encoding == encodingDelta && (kind == typeInt32 || kind == typeInt64):
		d, err := newDeltas(b, values)
		return &deltaValues{leaf, d}, err
	case encoding == encodingDeltaLengths && kind == typeText, encoding == encodingDeltaTexts && (kind == typeText || kind == typeFixed):
		return newDeltaTexts(leaf, b, values, encoding == encodingDeltaTexts, 4*max(len(b), minRoom))
	case encoding == encodingSplit && kind != typeBool && kind != typeText:
		return &splitValues{leaf: leaf, b: b}, nil
	}
	return nil, corrupt("values of type %d in the encoding %d", kind, encoding)
}

// plainValues returns values that are stored one behind the other.
func (n *node) plainValues(b []byte) decoder {
	switch n.physical {
	case typeBool:
		return flags{&packed{b: b, width: 1}}
	case typeText:
		return &textValues{n, b}
	}
	return &fixedValues{n, b}
}

// prefixed cuts bytes behind their length of four bytes.
func prefixed(b []byte) (front, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, corrupt("runs that end behind the page")
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:end], b[end:], nil
}

// levelRuns is a source of levels.
type levelRuns interface{ next() (uint64, error) }

// levelsBefore cuts the levels in front of the values of a page of version 1. most is the maximum level.
func levelsBefore(b []byte, encoding, most, values int) (levelRuns, []byte, error) {
	switch {
	case most == 0:
		return nil, b, nil
	case encoding == encodingRuns:
		front, rest, err := prefixed(b)
		return newRuns(front, levelBits(most)), rest, err
	case encoding == encodingBits:
		size := (values*levelBits(most) + 7) / 8
		if size > len(b) {
			return nil, nil, corrupt("levels that end behind the page")
		}
		return &formerLevels{b: b[:size], width: levelBits(most)}, b[size:], nil
	}
	return nil, nil, corrupt("levels in the encoding %d", encoding)
}
