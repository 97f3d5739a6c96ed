package otlp

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of OTLP 1.9 are few and flat, so they are encoded by hand with the field numbers of the .proto files in
// https://github.com/open-telemetry/opentelemetry-proto. The OpenTelemetry SDK would add 1.7 MB and a tenth of the build time.

// attribute is a name with a value: string, bool, int64 or float64.
type attribute struct {
	key   string
	value any
}

// message appends fields of a protobuf message.
type message []byte

func (m *message) text(field protowire.Number, text string) {
	if text != "" {
		text = strings.ToValidUTF8(text, "\uFFFD")
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), text)
	}
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) varint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) fixed64(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) fixed32(field protowire.Number, v uint32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), v)
}

func (m *message) double(field protowire.Number, v float64) { m.fixed64(field, math.Float64bits(v)) }

// attributes appends attributes, each a KeyValue in a repeated field.
func (m *message) attributes(field protowire.Number, list []attribute) {
	for _, a := range list {
		var value, pair message
		switch v := a.value.(type) {
		case string:
			value.bytes(1, []byte(strings.ToValidUTF8(v, "\uFFFD"))) // an empty text is a valid value
		case bool:
			value.varint(2, protowire.EncodeBool(v))
		case int64:
			value.varint(3, uint64(v))
		case float64:
			value.double(4, v)
		}
		pair.text(1, a.key)
		pair.bytes(2, value)
		m.bytes(field, pair)
	}
}

// export returns a request of either signal: the resource, then one scope with its encoded metrics or spans.
func export(resource []attribute, version string, items [][]byte) []byte {
	var about, program, scoped, whole, request message
	about.attributes(1, resource)
	program.text(1, scope)
	program.text(2, version)
	scoped.bytes(1, program)
	for _, item := range items {
		scoped.bytes(2, item)
	}
	scoped.text(3, schemaURL)
	whole.bytes(1, about)
	whole.bytes(2, scoped)
	request.bytes(1, whole)
	return request
}

// rejected parses the answer to a request: how many items the collector rejected, and why.
func rejected(answer []byte) (n int64, why string) {
	walk(answer, func(field protowire.Number, content []byte, _ uint64) {
		if field == 1 {
			walk(content, func(field protowire.Number, content []byte, v uint64) {
				switch field {
				case 1:
					n = int64(v)
				case 2:
					why = string(content)
				}
			})
		}
	})
	return n, why
}

// walk calls take for each field of a message, with its bytes or its number. It ends at invalid data.
func walk(b []byte, take func(field protowire.Number, content []byte, v uint64)) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		switch kind {
		case protowire.BytesType:
			content, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return
			}
			take(field, content, 0)
			b = b[n:]
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return
			}
			take(field, nil, v)
			b = b[n:]
		default:
			n := protowire.ConsumeFieldValue(field, kind, b)
			if n < 0 {
				return
			}
			b = b[n:]
		}
	}
}
