package protobuf

import (
	"encoding/binary"
	"errors"
	"iter"
)

// Field is a field of an encoded message. Number holds the value of a Varint, Fixed32 or Fixed64, Content that of Bytes or of a group.
type Field struct {
	ID      int
	Kind    Kind
	Number  uint64
	Content []byte
}

var errInvalid = errors.New("not a protobuf message")

// Limits of the format.
const (
	maxField  = 1<<29 - 1
	maxTag    = 1<<31 - 1 // the reference library allows numbers up to this one inside groups, which are skipped
	maxGroups = 10_000    // groups within each other, as the reference library allows
)

// Fields returns the fields of a message in their order. If the message is invalid, the last pair has an error.
func Fields(b []byte) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		for len(b) > 0 {
			f, rest, err := next(b, 0)
			if err == nil && (f.Kind == EndGroup || f.ID > maxField) {
				err = errInvalid
			}
			if err != nil {
				yield(Field{}, err)
				return
			}
			if !yield(f, nil) {
				return
			}
			b = rest
		}
	}
}

// next returns the first field and the bytes behind it. depth is the number of groups around it.
func next(b []byte, depth int) (f Field, rest []byte, err error) {
	tag, b, err := Uvarint(b)
	if err != nil || tag>>3 == 0 || tag>>3 > maxTag {
		return f, nil, errInvalid
	}
	f = Field{ID: int(tag >> 3), Kind: Kind(tag & 7)}
	switch f.Kind {
	case Varint:
		f.Number, b, err = Uvarint(b)
	case Fixed64:
		if len(b) < 8 {
			return f, nil, errInvalid
		}
		f.Number, b = binary.LittleEndian.Uint64(b), b[8:]
	case Fixed32:
		if len(b) < 4 {
			return f, nil, errInvalid
		}
		f.Number, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
	case Bytes:
		var n uint64
		if n, b, err = Uvarint(b); err == nil && n > uint64(len(b)) {
			err = errInvalid
		}
		if err == nil {
			f.Content, b = b[:n:n], b[n:]
		}
	case StartGroup:
		f.Content, b, err = group(b, f.ID, depth+1)
	case EndGroup:
	default:
		err = errInvalid
	}
	return f, b, err
}

// group returns the content of a group up to its end mark, and the bytes behind the mark.
func group(b []byte, id, depth int) (content, rest []byte, err error) {
	if depth > maxGroups {
		return nil, nil, errInvalid
	}
	for at := b; len(at) > 0; {
		f, behind, err := next(at, depth)
		if err != nil {
			return nil, nil, err
		}
		if f.Kind == EndGroup {
			if f.ID != id {
				return nil, nil, errInvalid
			}
			n := len(b) - len(at)
			return b[:n:n], behind, nil
		}
		at = behind
	}
	return nil, nil, errInvalid
}

// Uvarint returns a number of variable size and the bytes behind it.
func Uvarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errInvalid
	}
	return v, b[n:], nil
}

// Numbers calls take for each number of a repeated field, which holds one number, or many in packed form. kind is the wire type of one number. It
// reports whether the field has a fitting wire type.
func (f Field) Numbers(kind Kind, take func(uint64)) (fits bool, err error) {
	if f.Kind == kind {
		take(f.Number)
		return true, nil
	}
	if f.Kind != Bytes {
		return false, nil
	}
	for b := f.Content; len(b) > 0; {
		var v uint64
		switch {
		case kind == Varint:
			if v, b, err = Uvarint(b); err != nil {
				return true, err
			}
		case kind == Fixed64 && len(b) >= 8:
			v, b = binary.LittleEndian.Uint64(b), b[8:]
		case kind == Fixed32 && len(b) >= 4:
			v, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			return true, errInvalid
		}
		take(v)
	}
	return true, nil
}
