package endpoint

import (
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// object is a JSON object under construction: ordered members whose values are already encoded.
type object struct {
	buf     []byte
	members []member
	shared  []sharedBytes
}

// sharedBytes marks a place in a value for bytes that are not copied into buf, because other requests share them.
type sharedBytes struct {
	at    int // index into buf
	bytes []byte
}

// shareFrom is the size in bytes from which content is shared instead of copied.
const shareFrom = 4 << 10

// share appends bytes to the current value without copying them. They must need no escapes and must never change.
func (o *object) share(b []byte) {
	if len(b) < shareFrom {
		o.buf = append(o.buf, b...)
		return
	}
	o.shared = append(o.shared, sharedBytes{len(o.buf), b})
}

// reset removes all members but keeps the capacity.
func (o *object) reset() {
	clear(o.shared)
	o.buf, o.members, o.shared = o.buf[:0], o.members[:0], o.shared[:0]
}

// ranges returns the object as a body: one range, or several where bytes are shared.
func (o *object) ranges() record.Body {
	size := 2
	for _, m := range o.members {
		size += len(m.key) + m.b - m.a + 8
	}
	out, cuts := append(make([]byte, 0, size), '{'), []sharedBytes(nil)
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsontext.AppendString(out, m.key), ':')
		from := m.a
		for _, s := range o.shared {
			if m.a <= s.at && s.at <= m.b {
				out = append(out, o.buf[from:s.at]...)
				cuts, from = append(cuts, sharedBytes{len(out), s.bytes}), s.at
			}
		}
		out = append(out, o.buf[from:m.b]...)
	}
	out = append(out, '}')
	var all [][]byte
	from := 0
	for _, c := range cuts {
		all = append(all, out[from:c.at:c.at], c.bytes)
		from = c.at
	}
	return record.Plain(append(all, out[from:])...)
}

type member struct {
	key  string
	a, b int // value = buf[a:b]
}

func (o *object) value(i int) []byte { return o.buf[o.members[i].a:o.members[i].b] }

func (o *object) find(key string) int {
	for i := range o.members {
		if o.members[i].key == key {
			return i
		}
	}
	return -1
}

// end makes the bytes appended to buf since a the value of key. An existing key keeps its position; a new key becomes the last member.
func (o *object) end(key string, a int) {
	m := member{key, a, len(o.buf)}
	if i := o.find(key); i >= 0 {
		o.members[i] = m
		return
	}
	o.members = append(o.members, m)
}

func (o *object) setString(key, value string) {
	a := len(o.buf)
	o.buf = jsontext.AppendString(o.buf, value)
	o.end(key, a)
}

func (o *object) setBool(key string, value bool) {
	a := len(o.buf)
	o.buf = strconv.AppendBool(o.buf, value)
	o.end(key, a)
}

func (o *object) setInt(key string, value int) {
	a := len(o.buf)
	o.buf = strconv.AppendInt(o.buf, int64(value), 10)
	o.end(key, a)
}

// setObject encodes an object as a value.
func (o *object) setObject(key string, value *object) {
	a := len(o.buf)
	o.buf = value.append(o.buf)
	o.end(key, a)
}

// overlay sets the members of another object, replacing existing ones.
func (o *object) overlay(other *object) {
	for i := range other.members {
		a := len(o.buf)
		o.buf = append(o.buf, other.value(i)...)
		o.end(other.members[i].key, a)
	}
}

// inner appends the escaped characters of a string; the caller writes the quotes.
func (o *object) inner(s string) {
	a := len(o.buf)
	o.buf = jsontext.AppendString(o.buf, s)
	o.buf = append(o.buf[:a], o.buf[a+1:len(o.buf)-1]...)
}

// setRaw parses value as JSON and encodes it again; false = not JSON.
func (o *object) setRaw(key string, value []byte) bool {
	s := jsontext.Scanner{Doc: value}
	a := len(o.buf)
	o.buf = jsontext.AppendCompact(o.buf, &s)
	if !s.Done() {
		o.buf = o.buf[:a]
		return false
	}
	o.end(key, a)
	return true
}

// merge sets the members of the next object in s, replacing existing ones.
func (o *object) merge(s *jsontext.Scanner) {
	if !s.Open('{') {
		s.Fail()
		return
	}
	for first := true; s.Next('}', first); first = false {
		key := string(jsontext.AppendUTF8(nil, s.Key()))
		a := len(o.buf)
		o.buf = jsontext.AppendCompact(o.buf, s)
		o.end(key, a)
	}
}

func (o *object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range o.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, o.members[i].key)
		dst = append(dst, ':')
		dst = append(dst, o.value(i)...)
	}
	return append(dst, '}')
}
