package arrow

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of tables and sizes of structs in Arrow's Message.fbs, Schema.fbs and File.fbs. A slot is four bytes plus two for every earlier field.
const (
	messageVersion, messageKind, messageHeader, messageBody = 4, 6, 8, 10

	schemaEndianness, schemaFields                                    = 4, 6
	fieldName, fieldKind, fieldType, fieldDictionary, fieldChildren   = 4, 8, 10, 12, 14
	encodingID, encodingIndex                                         = 4, 6
	batchRows, batchNodes, batchBuffers, batchCompression, batchViews = 4, 6, 8, 10, 12
	compressionCodec                                                  = 4
	dictionaryID, dictionaryData, dictionaryDelta                     = 4, 6, 8
	footerSchema, footerDictionaries, footerBatches                   = 6, 8, 10
	nodeSize, bufferSize, blockSize                                   = 16, 16, 24
)

// Kinds of messages: the union MessageHeader of Message.fbs.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

// minVersion is MetadataVersion V4 (Arrow 0.8.0). Older files have another layout.
const minVersion = 3

// versionUnions is MetadataVersion V5. From this version on, a union has no validity bits.
const versionUnions = 4

var errDamaged = errors.New("the Arrow file is damaged")

// damaged returns an error that names the wrong number in the file.
func damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, a...))
}

// recovered calls do and converts a panic to an error. The FlatBuffers library panics when an offset points outside of the bytes.
func recovered[T any](do func() (T, error)) (v T, err error) {
	defer func() {
		if recover() != nil {
			err = damaged("an offset points outside of its metadata")
		}
	}()
	return do()
}

// flat is a table of FlatBuffers. Its methods panic when an offset points outside of the bytes.
type flat struct{ flatbuffers.Table }

// root returns the root table of a message.
func root(b []byte) flat {
	return flat{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

// table returns the table in a slot, and false if there is none.
func (t flat) table(slot flatbuffers.VOffsetT) (flat, bool) {
	o := t.Offset(slot)
	if o == 0 {
		return flat{}, false
	}
	return flat{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(o))}}, true
}

// text returns the text in a slot, "" if there is none.
func (t flat) text(slot flatbuffers.VOffsetT) string {
	o := t.Offset(slot)
	if o == 0 {
		return ""
	}
	return string(t.ByteVector(t.Pos + flatbuffers.UOffsetT(o)))
}

// vector is a list of elements with a fixed size.
type vector struct {
	flat
	from flatbuffers.UOffsetT
	size int
	n    int
}

// vector returns the list in a slot, after checking that all its elements are within the bytes.
func (t flat) vector(slot flatbuffers.VOffsetT, size int) (vector, error) {
	o := t.Offset(slot)
	if o == 0 {
		return vector{}, nil
	}
	v := vector{flat: t, from: t.Vector(flatbuffers.UOffsetT(o)), size: size, n: t.VectorLen(flatbuffers.UOffsetT(o))}
	if room := len(t.Bytes) - int(v.from); v.n < 0 || v.n > room/size {
		return vector{}, damaged("a list of %d elements in %d bytes", v.n, max(0, room))
	}
	return v, nil
}

// at returns the position of an element.
func (v *vector) at(i int) flatbuffers.UOffsetT { return v.from + flatbuffers.UOffsetT(i*v.size) }

// element returns an element of a list of tables.
func (v *vector) element(i int) flat {
	return flat{flatbuffers.Table{Bytes: v.Bytes, Pos: v.Indirect(v.at(i))}}
}
