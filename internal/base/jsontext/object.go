package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Object writes one JSON object at the end of a buffer, member by member in their order.
type Object struct {
	B          []byte // the buffer, to which the caller appends values
	hasMembers bool
}

// Open starts an object at the end of dst.
func Open(dst []byte) Object { return Object{B: append(dst, '{')} }

// Key starts a member.
func (o *Object) Key(k string) {
	if o.hasMembers {
		o.B = append(o.B, ',')
	}
	o.hasMembers = true
	o.B = append(AppendString(o.B, k), ':')
}

// Text writes a string member.
func (o *Object) Text(k, v string) { o.Key(k); o.B = AppendString(o.B, v) }

// Int writes an integer member.
func (o *Object) Int(k string, v int64) { o.Key(k); o.B = strconv.AppendInt(o.B, v, 10) }

// Float writes a member with a finite number, by AppendFloat.
func (o *Object) Float(k string, v float64) {
	o.Key(k)
	o.B = AppendFloat(o.B, v)
}

// Bool writes a boolean member.
func (o *Object) Bool(k string, v bool) { o.Key(k); o.B = strconv.AppendBool(o.B, v) }

// Raw writes a member whose value is JSON already.
func (o *Object) Raw(k string, v []byte) {
	o.Key(k)
	o.B = append(o.B, v...)
}

// TextIfAny writes a string member, unless the string is empty.
func (o *Object) TextIfAny(k, v string) {
	if v != "" {
		o.Text(k, v)
	}
}

// IntIfPositive writes an integer member, unless the number is 0 or negative.
func (o *Object) IntIfPositive(k string, v int64) {
	if v > 0 {
		o.Int(k, v)
	}
}

// Texts writes a member with a list of strings.
func (o *Object) Texts(k string, list []string) {
	o.Key(k)
	o.B = append(o.B, '[')
	for i, v := range list {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = AppendString(o.B, v)
	}
	o.B = append(o.B, ']')
}

// AppendInts writes a list of integers.
func AppendInts[T int | int32 | int64](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, ']')
}

// Any reports whether the object has a member yet.
func (o *Object) Any() bool { return o.hasMembers }

// Close ends the object and returns the buffer.
func (o *Object) Close() []byte { return append(o.B, '}') }

// Marshal encodes a Go value with encoding/json, but without escaping HTML characters.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(buf.Bytes(), "\n"), err
}

// Indent formats a JSON text with two blanks per level and no final newline.
func Indent(compact []byte) ([]byte, error) {
	var buf bytes.Buffer
	err := json.Indent(&buf, compact, "", "  ")
	return buf.Bytes(), err
}

// Sorted returns a JSON text with the members of every object sorted by name. Numbers keep their spelling.
func Sorted(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return Marshal(v)
}

// Check returns an error unless the text is exactly one JSON value.
func Check(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	var v json.RawMessage
	return json.Unmarshal(text, &v) // describes what is wrong
}
