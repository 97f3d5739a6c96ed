package artifact

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// appendFloat writes a float as Python does: shortest digits, always with a point or an exponent.
func appendFloat(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, format, -1, 64)
	if format == 'f' && bytes.IndexByte(b[from:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string: UTF-8 as it is, invalid bytes replaced.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// object writes one JSON object, key by key. The zero value with a buffer is ready.
type object struct {
	b    []byte
	some bool
}

// open begins an object at the end of b.
func open(b []byte) object { return object{b: append(b, '{')} }

// key begins a member.
func (o *object) key(k string) {
	if o.some {
		o.b = append(o.b, ',')
	}
	o.some = true
	o.b = append(appendString(o.b, k), ':')
}

func (o *object) str(k, v string)       { o.key(k); o.b = appendString(o.b, v) }
func (o *object) int(k string, v int64) { o.key(k); o.b = strconv.AppendInt(o.b, v, 10) }
func (o *object) float(k string, v float64) {
	o.key(k)
	o.b = appendFloat(o.b, v)
}
func (o *object) bool(k string, v bool) { o.key(k); o.b = strconv.AppendBool(o.b, v) }
func (o *object) raw(k string, v []byte) {
	o.key(k)
	o.b = append(o.b, v...)
}

// text writes a string unless it is empty, instant a positive number.
func (o *object) text(k, v string) {
	if v != "" {
		o.str(k, v)
	}
}
func (o *object) instant(k string, v int64) {
	if v > 0 {
		o.int(k, v)
	}
}

// close ends the object and returns the buffer.
func (o *object) close() []byte { return append(o.b, '}') }

// plain encodes a value without escaping HTML characters.
func plain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(buf.Bytes(), "\n"), err
}

// indented lays a JSON text out with two blanks per level and no line end at its end.
func indented(compact []byte) ([]byte, error) {
	var buf bytes.Buffer
	err := json.Indent(&buf, compact, "", "  ")
	return buf.Bytes(), err
}
