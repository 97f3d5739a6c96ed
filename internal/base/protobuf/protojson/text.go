package protojson

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"aiperf/internal/base/jsontext"
)

// Text converts an encoded message to JSON, without spaces and with the names of the fields in the source.
func (t *Type) Text(encoded []byte) ([]byte, error) {
	m := newMessage(t)
	if err := m.parse(encoded, 0); err != nil {
		return nil, err
	}
	if name := m.missing(); name != "" {
		return nil, fmt.Errorf("the required field %s is missing", name)
	}
	return m.appendJSON(nil, 0)
}

// appendJSON appends the JSON form of a message.
func (m *message) appendJSON(b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	if m.kind.messageSet {
		return nil, fmt.Errorf("type %s is a MessageSet, which is not supported", m.kind.Name)
	}
	if form := m.kind.form; form != nil {
		return form.append(m, b, depth)
	}
	o := jsontext.Open(b)
	err := m.appendFields(&o, depth)
	return o.Close(), err
}

// appendFields appends the fields that are set.
func (m *message) appendFields(o *jsontext.Object, depth int) (err error) {
	for _, f := range m.kind.fields {
		v, has := m.values[f.id]
		if !has {
			continue
		}
		o.Key(f.name)
		switch v := v.(type) {
		case []any:
			o.B, err = f.appendListJSON(o.B, v, depth)
		case mapping:
			o.B, err = f.appendMapJSON(o.B, v, depth)
		default:
			o.B, err = f.appendValue(o.B, v, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *field) appendListJSON(b []byte, list []any, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = f.appendValue(b, v, depth); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func (f *field) appendMapJSON(b []byte, m mapping, depth int) (_ []byte, err error) {
	o := jsontext.Open(b)
	value := f.message.byID[2]
	for _, key := range m.keys() {
		text := fmt.Sprint(key)
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("a key of field %s is not UTF-8", f.name)
		}
		o.Key(text)
		if o.B, err = value.appendValue(o.B, m[key], depth); err != nil {
			return nil, err
		}
	}
	return o.Close(), nil
}

// appendValue appends one value. Numbers of 64 bits are texts, because many readers of JSON round them.
func (f *field) appendValue(b []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		switch f.kind {
		case kindEnum:
			return f.enum.append(b, int32(v)), nil
		case kindInt32, kindSint32, kindSfixed32:
			return strconv.AppendInt(b, v, 10), nil
		}
		return append(strconv.AppendInt(append(b, '"'), v, 10), '"'), nil
	case uint64:
		if f.kind == kindUint32 || f.kind == kindFixed32 {
			return strconv.AppendUint(b, v, 10), nil
		}
		return append(strconv.AppendUint(append(b, '"'), v, 10), '"'), nil
	case float64:
		if f.kind == kindFloat {
			return appendFloat(b, v, 32), nil
		}
		return appendFloat(b, v, 64), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("field %s is not UTF-8", f.name)
		}
		return jsontext.AppendString(b, v), nil
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"'), nil
	}
	return v.(*message).appendJSON(b, depth+1)
}

// append appends the name of a number, or the number if it has none. The only value of google.protobuf.NullValue is null.
func (e *enum) append(b []byte, n int32) []byte {
	if e.name == nullEnum {
		return append(b, "null"...)
	}
	if name, ok := e.names[n]; ok {
		return jsontext.AppendString(b, name)
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// appendFloat appends a number in the format of encoding/json. Numbers that JSON cannot represent are texts.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	format, size := byte('f'), math.Abs(v)
	if bits == 32 {
		size = float64(float32(size))
	}
	if low, high := smallest(bits), largest(bits); size != 0 && (size < low || size >= high) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, v, format, -1, bits)
	if n := len(b); format == 'e' && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 becomes e-9
		b = b[:n-1]
	}
	return b
}

// smallest and largest are the limits of numbers without an exponent, at the precision of the type.
func smallest(bits int) float64 {
	if bits == 32 {
		return float64(float32(1e-6))
	}
	return 1e-6
}

func largest(bits int) float64 {
	if bits == 32 {
		return float64(float32(1e21))
	}
	return 1e21
}
