package endpoint

import (
	"math"
	"slices"
	"strconv"

	"aiperf/internal/record"
)

// appendString writes s as a JSON string: UTF-8 as it is, only quotes, backslashes and control characters escaped.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		dst = appendUTF8(dst, []byte(s[start:i]))
		dst = appendEscape(dst, s[i])
		start = i + 1
	}
	dst = appendUTF8(dst, []byte(s[start:]))
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendCompact writes the next value of s the way bodies are written: no blanks, strings by appendString, floats in their shortest
// form that is still a float. Of two members with equal names the last value counts, at the place of the first.
func appendCompact(dst []byte, s *scanner) []byte {
	switch s.kind() {
	case '"':
		return appendText(dst, s.text())
	case '[':
		if s.depth++; s.depth > maxDepth {
			s.fail()
			return dst
		}
		s.open('[')
		dst = append(dst, '[')
		for first := true; s.next(']', first); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = appendCompact(dst, s)
		}
		s.depth--
		return append(dst, ']')
	case '{':
		if s.depth++; s.depth > maxDepth {
			s.fail()
			return dst
		}
		dst = appendObject(dst, s)
		s.depth--
		return dst
	case 't', 'f', 'n':
		return append(dst, s.raw()...)
	}
	return appendNumber(dst, s.raw())
}

// spelled is a member that was written to a buffer: its name (with quotes) and its value.
type spelled struct{ key, colon, end int }

// appendObject writes an object straight to dst; only names that come twice make it arrange the members anew.
func appendObject(dst []byte, s *scanner) []byte {
	var room [16]spelled
	list, twice := room[:0], false
	var index map[string]int // of the members, once there are many
	s.open('{')
	start := len(dst)
	dst = append(dst, '{')
	for first := true; s.next('}', first); first = false {
		if !first {
			dst = append(dst, ',')
		}
		m := spelled{key: len(dst)}
		dst = appendString(dst, string(s.key()))
		m.colon = len(dst)
		dst = append(dst, ':')
		dst = appendCompact(dst, s)
		m.end = len(dst)
		name := dst[m.key:m.colon]
		at := -1
		if index != nil {
			if i, ok := index[string(name)]; ok {
				at = i
			}
		} else {
			at = slices.IndexFunc(list, func(o spelled) bool { return string(dst[o.key:o.colon]) == string(name) })
		}
		if at >= 0 {
			list[at], twice = m, true
			continue
		}
		list = append(list, m)
		switch {
		case index != nil:
			index[string(name)] = len(list) - 1
		case len(list) == len(room):
			index = make(map[string]int, 4*len(room))
			for i, o := range list {
				index[string(dst[o.key:o.colon])] = i
			}
		}
	}
	if !twice {
		return append(dst, '}')
	}
	old := slices.Clone(dst[start:])
	dst = append(dst[:start], '{')
	for i, m := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, old[m.key-start:m.end-start]...)
	}
	return append(dst, '}')
}

func appendText(dst []byte, t text) []byte {
	if !t.escaped {
		dst = append(dst, '"')
		dst = appendUTF8(dst, t.raw)
		return append(dst, '"')
	}
	return appendString(dst, t.String())
}

// appendNumber spells a number: integers as given, floats shortest, plain between 1e-5 and 1e16, with ".0" where no fraction is left.
func appendNumber(dst, raw []byte) []byte {
	isFloat := false
	for _, c := range raw {
		if c == '.' || c|0x20 == 'e' {
			isFloat = true
		}
	}
	if !isFloat {
		if string(raw) == "-0" {
			return append(dst, '0')
		}
		return append(dst, raw...)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return append(dst, raw...)
	}
	return AppendFloat(dst, f)
}

// AppendFloat spells a finite float as bodies do.
func AppendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		n := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		return trimExponent(dst, n)
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[n:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// trimExponent turns e-07 and e+16 behind from into e-7 and e16.
func trimExponent(dst []byte, from int) []byte {
	for i := from; i < len(dst); i++ {
		if dst[i] != 'e' {
			continue
		}
		exp := dst[i+2:]
		out := dst[:i+1]
		if dst[i+1] == '-' {
			out = append(out, '-')
		}
		for len(exp) > 1 && exp[0] == '0' {
			exp = exp[1:]
		}
		return append(out, exp...)
	}
	return dst
}

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
		out = append(appendString(out, m.key), ':')
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
	o.buf = appendString(o.buf, value)
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
	o.buf = appendString(o.buf, s)
	o.buf = append(o.buf[:a], o.buf[a+1:len(o.buf)-1]...)
}

// setRaw reads value as JSON and spells it anew; false = not JSON.
func (o *object) setRaw(key string, value []byte) bool {
	s := scanner{b: value}
	a := len(o.buf)
	o.buf = appendCompact(o.buf, &s)
	if !s.done() {
		o.buf = o.buf[:a]
		return false
	}
	o.end(key, a)
	return true
}

// merge puts the members of the object that comes next in s over those that are there.
func (o *object) merge(s *scanner) {
	if !s.open('{') {
		s.fail()
		return
	}
	for first := true; s.next('}', first); first = false {
		key := string(appendUTF8(nil, s.key()))
		a := len(o.buf)
		o.buf = appendCompact(o.buf, s)
		o.end(key, a)
	}
}

func (o *object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range o.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, o.members[i].key)
		dst = append(dst, ':')
		dst = append(dst, o.value(i)...)
	}
	return append(dst, '}')
}
