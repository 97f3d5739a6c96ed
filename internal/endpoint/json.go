package endpoint

import (
	"strconv"

	"aiperf/internal/jsontext"
	"aiperf/internal/record"
)

// object is a JSON object under construction: members in order, values already spelled.
type object struct {
	buf     []byte
	members []member
	shared  []splice
}

// splice is where bytes stand in a value that are not copied into buf, because others hold them too.
type splice struct {
	at    int // index into buf
	bytes []byte
}

// shareFrom is the size in bytes from which content is shared and not copied.
const shareFrom = 4 << 10

// share appends bytes that need no escapes and are never changed to the value under construction.
func (o *object) share(b []byte) {
	if len(b) < shareFrom {
		o.buf = append(o.buf, b...)
		return
	}
	o.shared = append(o.shared, splice{len(o.buf), b})
}

// reset forgets everything but the room.
func (o *object) reset() {
	clear(o.shared)
	o.buf, o.members, o.shared = o.buf[:0], o.members[:0], o.shared[:0]
}

// ranges gives the object as a body: one range, or several where bytes are shared.
func (o *object) ranges() record.Body {
	size := 2
	for _, m := range o.members {
		size += len(m.key) + m.b - m.a + 8
	}
	out, cuts := append(make([]byte, 0, size), '{'), []splice(nil)
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsontext.AppendString(out, m.key), ':')
		from := m.a
		for _, s := range o.shared {
			if m.a <= s.at && s.at <= m.b {
				out = append(out, o.buf[from:s.at]...)
				cuts, from = append(cuts, splice{len(out), s.bytes}), s.at
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

// end makes what was appended to buf since a the value of key: at its old place if it was there, else as the last member.
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

// setObject spells an object out as a value.
func (o *object) setObject(key string, value *object) {
	a := len(o.buf)
	o.buf = value.append(o.buf)
	o.end(key, a)
}

// over puts the members of another object over those that are there.
func (o *object) over(other *object) {
	for i := range other.members {
		a := len(o.buf)
		o.buf = append(o.buf, other.value(i)...)
		o.end(other.members[i].key, a)
	}
}

// inner appends the characters of a string value whose quotes the caller writes.
func (o *object) inner(s string) {
	a := len(o.buf)
	o.buf = jsontext.AppendString(o.buf, s)
	o.buf = append(o.buf[:a], o.buf[a+1:len(o.buf)-1]...)
}

// setRaw reads value as JSON and spells it anew; false = not JSON.
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

// merge puts the members of the object that comes next in s over those that are there.
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
