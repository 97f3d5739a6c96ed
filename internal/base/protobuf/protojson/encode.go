package protojson

import (
	"cmp"
	"encoding/binary"

	"aiperf/internal/base/protobuf"
	"aiperf/internal/base/sorting"
)

// append appends a message in the wire format.
func (m *message) append(b protobuf.Message) protobuf.Message {
	for _, f := range m.kind.onWire {
		v, has := m.values[f.id]
		if !has {
			continue
		}
		switch v := v.(type) {
		case []any:
			b = f.appendList(b, v)
		case mapping:
			for _, key := range v.keys() {
				entry := newMessage(f.message)
				entry.values[1], entry.values[2] = key, v[key]
				b.Bytes(f.id, entry.append(nil))
			}
		default:
			b = f.appendOne(b, v)
		}
	}
	return b
}

// appendList appends the values of a repeated field.
func (f *field) appendList(b protobuf.Message, list []any) protobuf.Message {
	if !f.packed {
		for _, v := range list {
			b = f.appendOne(b, v)
		}
		return b
	}
	var packed []byte
	for _, v := range list {
		switch n := f.toNumber(v); f.kind.wire() {
		case protobuf.Fixed64:
			packed = binary.LittleEndian.AppendUint64(packed, n)
		case protobuf.Fixed32:
			packed = binary.LittleEndian.AppendUint32(packed, uint32(n))
		default:
			packed = binary.AppendUvarint(packed, n)
		}
	}
	if len(packed) > 0 {
		b.Bytes(f.id, packed)
	}
	return b
}

// appendOne appends one value with its tag.
func (f *field) appendOne(b protobuf.Message, v any) protobuf.Message {
	switch v := v.(type) {
	case string:
		b.String(f.id, v)
	case []byte:
		b.Bytes(f.id, v)
	case *message:
		if f.kind == kindGroup {
			b.Tag(f.id, protobuf.StartGroup)
			b = v.append(b)
			b.Tag(f.id, protobuf.EndGroup)
		} else {
			b.Bytes(f.id, v.append(nil))
		}
	default:
		switch n := f.toNumber(v); f.kind.wire() {
		case protobuf.Fixed64:
			b.Fixed64(f.id, n)
		case protobuf.Fixed32:
			b.Fixed32(f.id, uint32(n))
		default:
			b.Varint(f.id, n)
		}
	}
	return b
}

// keys returns the keys in ascending order.
func (m mapping) keys() []any {
	keys := make([]any, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sorting.Sort(keys, func(a, b any) int {
		switch a := a.(type) {
		case string:
			return cmp.Compare(a, b.(string))
		case int64:
			return cmp.Compare(a, b.(int64))
		case uint64:
			return cmp.Compare(a, b.(uint64))
		}
		if a == b {
			return 0
		}
		if a == false {
			return -1
		}
		return 1
	})
	return keys
}
