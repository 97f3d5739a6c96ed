package openinference

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"aiperf/internal/base/protobuf"
)

// parse calls take for each field of a message, until one of them fails.
func parse(b []byte, take func(protobuf.Field) error) error {
	for f, err := range protobuf.Fields(b) {
		if err != nil {
			return err
		}
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// bytesField returns the number of a field that holds bytes; 0 = it holds something else, which is then ignored.
func bytesField(f protobuf.Field) int {
	if f.Kind == protobuf.Bytes {
		return f.ID
	}
	return 0
}

var errNotUTF8 = errors.New("a text of the message is not UTF-8")

// text returns the text in a field.
func text(f protobuf.Field) (string, error) {
	if !utf8.Valid(f.Content) {
		return "", errNotUTF8
	}
	return string(f.Content), nil
}

// numbers appends the numbers of a field to a list. A field of another wire type is ignored.
func numbers[T any](f protobuf.Field, kind protobuf.Kind, list *[]T, convert func(uint64) T) error {
	_, err := f.Numbers(kind, func(v uint64) { *list = append(*list, convert(v)) })
	return err
}

// appendVarints appends a packed list of numbers of variable size.
func appendVarints[T int32 | int64 | uint32 | uint64](m *protobuf.Message, field int, list []T) {
	if len(list) == 0 {
		return
	}
	m.Message(field, func(m *protobuf.Message) {
		for _, v := range list {
			*m = binary.AppendUvarint(*m, uint64(v))
		}
	})
}

// append appends the lists that are not empty.
func (c *Contents) append(m *protobuf.Message) {
	if len(c.Bool) > 0 {
		m.Message(1, func(m *protobuf.Message) {
			for _, v := range c.Bool {
				b := byte(0)
				if v {
					b = 1
				}
				*m = append(*m, b)
			}
		})
	}
	appendVarints(m, 2, c.Int)
	appendVarints(m, 3, c.Int64)
	appendVarints(m, 4, c.Uint)
	appendVarints(m, 5, c.Uint64)
	if len(c.FP32) > 0 {
		m.Message(6, func(m *protobuf.Message) {
			for _, v := range c.FP32 {
				*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
			}
		})
	}
	if len(c.FP64) > 0 {
		m.Message(7, func(m *protobuf.Message) {
			for _, v := range c.FP64 {
				*m = binary.LittleEndian.AppendUint64(*m, math.Float64bits(v))
			}
		})
	}
	for _, b := range c.Bytes {
		m.Bytes(8, b)
	}
}

func (c *Contents) parse(b []byte) error {
	return parse(b, func(f protobuf.Field) error {
		switch f.ID {
		case 1:
			return numbers(f, protobuf.Varint, &c.Bool, func(v uint64) bool { return v != 0 })
		case 2:
			return numbers(f, protobuf.Varint, &c.Int, func(v uint64) int32 { return int32(v) })
		case 3:
			return numbers(f, protobuf.Varint, &c.Int64, func(v uint64) int64 { return int64(v) })
		case 4:
			return numbers(f, protobuf.Varint, &c.Uint, func(v uint64) uint32 { return uint32(v) })
		case 5:
			return numbers(f, protobuf.Varint, &c.Uint64, func(v uint64) uint64 { return v })
		case 6:
			return numbers(f, protobuf.Fixed32, &c.FP32, func(v uint64) float32 { return math.Float32frombits(uint32(v)) })
		case 7:
			return numbers(f, protobuf.Fixed64, &c.FP64, math.Float64frombits)
		}
		if bytesField(f) == 8 {
			c.Bytes = append(c.Bytes, f.Content)
		}
		return nil
	})
}

// Parameters are named values: bool, int64, string, float64 or uint64; nil = a value that this version of the protocol does not have.
type Parameters map[string]any

// append appends the entries of the map, sorted by name.
func (p Parameters) append(m *protobuf.Message, field int) {
	for _, name := range p.names() {
		m.Message(field, func(m *protobuf.Message) {
			m.String(1, name)
			m.Message(2, func(m *protobuf.Message) {
				switch v := p[name].(type) {
				case bool:
					m.Bool(1, v)
				case int64:
					m.Varint(2, uint64(v))
				case string:
					m.String(3, v)
				case float64:
					m.Double(4, v)
				case uint64:
					m.Varint(5, v)
				}
			})
		})
	}
}

// parse adds an entry.
func (p *Parameters) parse(b []byte) error {
	var name string
	var value any
	err := parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			name, err = text(f)
		case 2:
			err = parse(f.Content, func(f protobuf.Field) error { return parameter(f, &value) })
		}
		return err
	})
	if *p == nil {
		*p = Parameters{}
	}
	(*p)[name] = value
	return err
}

// parameter reads a field of an InferParameter; the last value counts.
func parameter(f protobuf.Field, value *any) (err error) {
	switch {
	case f.ID == 1 && f.Kind == protobuf.Varint:
		*value = f.Number != 0
	case f.ID == 2 && f.Kind == protobuf.Varint:
		*value = int64(f.Number)
	case f.ID == 3 && f.Kind == protobuf.Bytes:
		*value, err = text(f)
	case f.ID == 4 && f.Kind == protobuf.Fixed64:
		*value = math.Float64frombits(f.Number)
	case f.ID == 5 && f.Kind == protobuf.Varint:
		*value = f.Number
	}
	return err
}
