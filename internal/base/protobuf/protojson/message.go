package protojson

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"aiperf/internal/base/protobuf"
)

// message holds the values of a message by the number of their field. A value is a bool, int64, uint64, float64, string, []byte or *message; that of a
// repeated field is a []any, and that of a map is a mapping.
type message struct {
	kind   *Type
	values map[int]any
}

// mapping is the content of a map. Its keys are bool, int64, uint64 or string.
type mapping map[any]any

func newMessage(t *Type) *message { return &message{t, map[int]any{}} }

// maxDepth limits how deep messages nest, as the reference library does.
const maxDepth = 10_000

var errDepth = errors.New("its messages nest too deep")

// set stores a value of a field that is not repeated. It clears the other fields of its oneof.
func (m *message) set(f *field, v any) {
	if f.oneof >= 0 {
		for _, other := range m.kind.fields {
			if other.oneof == f.oneof && other != f {
				delete(m.values, other.id)
			}
		}
	}
	if !f.presence && isZero(v) {
		delete(m.values, f.id)
		return
	}
	m.values[f.id] = v
}

// add appends a value to a repeated field.
func (m *message) add(f *field, v any) {
	list, _ := m.values[f.id].([]any)
	m.values[f.id] = append(list, v)
}

// entries returns the content of a map, for changes.
func (m *message) entries(f *field) mapping {
	if e, ok := m.values[f.id].(mapping); ok {
		return e
	}
	e := mapping{}
	m.values[f.id] = e
	return e
}

// isZero reports whether a value is the default one of its type. A negative zero is not.
func isZero(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case int64:
		return v == 0
	case uint64:
		return v == 0
	case float64:
		return v == 0 && !math.Signbit(v)
	case string:
		return v == ""
	case []byte:
		return len(v) == 0
	}
	return false
}

// zero returns the default value of a field.
func (f *field) zero() any {
	switch f.kind {
	case kindBool:
		return false
	case kindInt32, kindInt64, kindSint32, kindSint64, kindSfixed32, kindSfixed64, kindEnum:
		return int64(0)
	case kindUint32, kindUint64, kindFixed32, kindFixed64:
		return uint64(0)
	case kindFloat, kindDouble:
		return float64(0)
	case kindString:
		return ""
	case kindBytes:
		return []byte(nil)
	}
	return newMessage(f.message)
}

// missing returns the name of a required field that is not set; "" = none.
func (m *message) missing() string {
	for _, f := range m.kind.fields {
		v, has := m.values[f.id]
		if !has {
			if f.required {
				return m.kind.Name + "." + f.name
			}
			continue
		}
		if f.message == nil {
			continue
		}
		inner := []any{v}
		switch v := v.(type) {
		case []any:
			inner = v
		case mapping:
			inner = inner[:0]
			for _, one := range v {
				inner = append(inner, one)
			}
		}
		for _, one := range inner {
			if one, ok := one.(*message); ok {
				if name := one.missing(); name != "" {
					return name
				}
			}
		}
	}
	return ""
}

// parse merges the fields of an encoded message. Fields that are unknown or of another wire type are ignored.
func (m *message) parse(b []byte, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	for one, err := range protobuf.Fields(b) {
		if err != nil {
			return err
		}
		f := m.kind.byID[one.ID]
		if f == nil {
			continue
		}
		switch {
		case f.isMap():
			err = m.parseEntry(f, one, depth)
		case f.repeated && f.kind.wire() != protobuf.Bytes && f.kind != kindGroup:
			_, err = one.Numbers(f.kind.wire(), func(v uint64) { m.add(f, f.fromNumber(v)) })
		case one.Kind != f.kind.wire():
		case f.message != nil:
			err = m.parseMessage(f, one.Content, depth)
		default:
			var v any
			if v, err = f.fromField(one); err == nil {
				if f.repeated {
					m.add(f, v)
				} else {
					m.set(f, v)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parseMessage parses a message inside. If a message that is not repeated comes twice, both are merged.
func (m *message) parseMessage(f *field, b []byte, depth int) error {
	inner, ok := m.values[f.id].(*message)
	if !ok || f.repeated {
		inner = newMessage(f.message)
	}
	if err := inner.parse(b, depth+1); err != nil {
		return err
	}
	if f.repeated {
		m.add(f, inner)
	} else {
		m.set(f, inner)
	}
	return nil
}

// parseEntry parses an entry of a map.
func (m *message) parseEntry(f *field, one protobuf.Field, depth int) error {
	if one.Kind != protobuf.Bytes {
		return nil
	}
	entry := newMessage(f.message)
	if err := entry.parse(one.Content, depth+1); err != nil {
		return err
	}
	pair := [2]any{}
	for i := range pair {
		side := f.message.byID[i+1]
		v, has := entry.values[side.id]
		if !has {
			v = side.zero()
		}
		pair[i] = v
	}
	m.entries(f)[pair[0]] = pair[1]
	return nil
}

// fromField converts an encoded value that is not a message.
func (f *field) fromField(one protobuf.Field) (any, error) {
	switch f.kind {
	case kindString:
		if f.checkUTF8 && !utf8.Valid(one.Content) {
			return nil, fmt.Errorf("field %s is not UTF-8", f.name)
		}
		return string(one.Content), nil
	case kindBytes:
		return one.Content, nil
	}
	return f.fromNumber(one.Number), nil
}

// fromNumber converts an encoded number.
func (f *field) fromNumber(v uint64) any {
	switch f.kind {
	case kindBool:
		return v != 0
	case kindInt32, kindEnum, kindSfixed32:
		return int64(int32(v))
	case kindInt64, kindSfixed64:
		return int64(v)
	case kindSint32:
		return int64(int32(protobuf.Unzigzag(v & math.MaxUint32)))
	case kindSint64:
		return protobuf.Unzigzag(v)
	case kindUint32, kindFixed32:
		return uint64(uint32(v))
	case kindFloat:
		return float64(math.Float32frombits(uint32(v)))
	case kindDouble:
		return math.Float64frombits(v)
	}
	return v
}

// toNumber is the inverse of fromNumber.
func (f *field) toNumber(v any) uint64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case int64:
		switch f.kind {
		case kindSint32, kindSint64:
			return protobuf.Zigzag(v)
		case kindSfixed32:
			return uint64(uint32(v))
		}
		return uint64(v)
	case float64:
		if f.kind == kindFloat {
			return uint64(math.Float32bits(float32(v)))
		}
		return math.Float64bits(v)
	}
	return v.(uint64)
}
