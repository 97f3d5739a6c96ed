package weka

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Pack appends a session as bytes. The heads with the times come first, then the edits, which only the messages need. It does not store recorded data
// of turns (Options.Recorded).
func (s *Session) Pack(to []byte) []byte {
	p := packer{b: append(to, make([]byte, HeadLength)...)}
	p.text(s.ID)
	p.text(s.Trace)
	p.number(s.Block)
	p.number(s.Parent)
	p.number(s.Join)
	p.flags(s.Before, s.tools)
	p.number(len(s.Turns))
	model, where := "", "" // values of the previous turn: turns have much in common
	for _, t := range s.Turns {
		p.flags(t.Timestamp != nil, t.Delay != nil, t.Model == model)
		p.instant(t.Timestamp)
		p.instant(t.Delay)
		if t.Model != model {
			p.text(t.Model)
		}
		common := 0
		for common < min(len(where), len(t.Where)) && where[common] == t.Where[common] {
			common++
		}
		p.number(common)
		p.text(t.Where[common:])
		p.number(t.MaxTokens)
		p.number(len(t.After))
		for _, a := range t.After {
			p.number(a.Session)
			p.number(a.Turn)
		}
		model, where = t.Model, t.Where
	}
	binary.LittleEndian.PutUint32(p.b[len(to):], uint32(len(p.b)-len(to)))
	for _, e := range s.edits {
		for _, n := range []int{e.keptBlocks, e.system, e.assistant, e.tail, len(e.ids)} {
			p.number(n)
		}
		p.flags(e.tool)
		before := int64(0)
		for _, id := range e.ids { // mostly consecutive ids
			p.b = binary.AppendVarint(p.b, id-before)
			before = id
		}
	}
	return p.b
}

// HeadLength is the number of first bytes that hold the size of the heads.
const HeadLength = 4

// HeadSize returns the size of the heads in packed bytes, including the first HeadLength bytes.
func HeadSize(packed []byte) int { return int(binary.LittleEndian.Uint32(packed)) }

// errPacked reports bytes that are not a packed session.
var errPacked = errors.New("no session")

// Unpack decodes a packed session, or only its heads. With heads only, it has no messages.
func Unpack(packed []byte) (s Session, err error) {
	u := unpacker{b: packed}
	u.take(HeadLength)
	s.ID, s.Trace = u.text(), u.text()
	s.Block, s.Parent, s.Join = u.number(), u.number(), u.number()
	f := u.flags()
	s.Before, s.tools = f&1 != 0, f&2 != 0
	model, where := "", ""
	for range u.count() {
		f := u.flags()
		t := Turn{Timestamp: u.instant(f&1 != 0), Delay: u.instant(f&2 != 0), Model: model}
		if f&4 == 0 {
			t.Model = u.text()
		}
		common := u.number()
		if common > len(where) {
			return s, errPacked
		}
		t.Where = where[:common] + u.text()
		t.MaxTokens = u.number()
		for range u.count() {
			t.After = append(t.After, Place{Session: u.number(), Turn: u.number()})
		}
		model, where = t.Model, t.Where
		s.Turns = append(s.Turns, t)
	}
	if len(u.b) > 0 && !u.bad {
		s.edits = make([]edit, len(s.Turns))
		for i := range s.edits {
			u.edit(&s.edits[i])
		}
	}
	if u.bad || len(u.b) > 0 {
		return s, errPacked
	}
	return s, nil
}

// packer appends values to bytes.
type packer struct{ b []byte }

func (p *packer) number(n int) { p.b = binary.AppendUvarint(p.b, uint64(n)) }

func (p *packer) text(s string) {
	p.number(len(s))
	p.b = append(p.b, s...)
}

func (p *packer) flags(list ...bool) {
	var f byte
	for i, set := range list {
		if set {
			f |= 1 << i
		}
	}
	p.b = append(p.b, f)
}

// instant appends a number that may be absent. A flag says whether it is there.
func (p *packer) instant(v *float64) {
	if v != nil {
		p.b = binary.LittleEndian.AppendUint64(p.b, math.Float64bits(*v))
	}
}

// unpacker reads values from bytes. bad = the bytes were too short or invalid.
type unpacker struct {
	b   []byte
	bad bool
}

func (u *unpacker) take(n int) []byte {
	if n < 0 || n > len(u.b) {
		u.bad, u.b = true, nil
		return nil
	}
	out := u.b[:n]
	u.b = u.b[n:]
	return out
}

func (u *unpacker) number() int {
	v, n := binary.Uvarint(u.b)
	if n <= 0 {
		n = -1 // missing or too long
	}
	u.take(n)
	return int(v)
}

// count reads the number of items of at least one byte each.
func (u *unpacker) count() int {
	n := u.number()
	if n < 0 || n > len(u.b) {
		u.bad, u.b = true, nil
		return 0
	}
	return n
}

func (u *unpacker) text() string { return string(u.take(u.number())) }

func (u *unpacker) flags() byte {
	if b := u.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (u *unpacker) instant(there bool) *float64 {
	if !there {
		return nil
	}
	b := u.take(8)
	if b == nil {
		return nil
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(b))
	return &v
}

func (u *unpacker) edit(e *edit) {
	e.keptBlocks, e.system, e.assistant, e.tail = u.number(), u.number(), u.number(), u.number()
	n := u.number()
	e.tool = u.flags()&1 != 0
	if n < 0 || n > len(u.b) {
		u.bad, u.b = true, nil
		return
	}
	e.ids = slices.Grow(e.ids, n)
	before := int64(0)
	for range n {
		d, size := binary.Varint(u.b)
		if size <= 0 {
			u.bad, u.b = true, nil
			return
		}
		u.take(size)
		before += d
		e.ids = append(e.ids, before)
	}
}
