package otlp

import "aiperf/internal/base/protobuf"

// The messages of OTLP 1.9 are few and flat, so they are encoded by hand with the field numbers of the .proto files in
// https://github.com/open-telemetry/opentelemetry-proto. The OpenTelemetry SDK would add 1.7 MB and a tenth of the build time.

// attribute is a name with a value: string, bool, int64 or float64.
type attribute struct {
	key   string
	value any
}

// appendAttributes appends attributes, each a KeyValue in a repeated field.
func appendAttributes(m *protobuf.Message, field int, list []attribute) {
	for _, a := range list {
		var value, pair protobuf.Message
		switch v := a.value.(type) {
		case string:
			value.String(1, v) // an empty text is a valid value
		case bool:
			value.Bool(2, v)
		case int64:
			value.Varint(3, uint64(v))
		case float64:
			value.Double(4, v)
		}
		pair.StringIfAny(1, a.key)
		pair.Bytes(2, value)
		m.Bytes(field, pair)
	}
}

// export returns a request of either signal: the resource, then one scope with its encoded metrics or spans.
func export(resource []attribute, version string, items [][]byte) []byte {
	var about, program, scoped, whole, request protobuf.Message
	appendAttributes(&about, 1, resource)
	program.StringIfAny(1, scope)
	program.StringIfAny(2, version)
	scoped.Bytes(1, program)
	for _, item := range items {
		scoped.Bytes(2, item)
	}
	scoped.StringIfAny(3, schemaURL)
	whole.Bytes(1, about)
	whole.Bytes(2, scoped)
	request.Bytes(1, whole)
	return request
}

// rejected parses the answer to a request: how many items the collector rejected, and why. It ignores what is invalid.
func rejected(answer []byte) (n int64, why string) {
	for outer, err := range protobuf.Fields(answer) {
		if err != nil || outer.ID != 1 {
			continue
		}
		for f, err := range protobuf.Fields(outer.Content) {
			switch {
			case err != nil:
			case f.ID == 1:
				n = int64(f.Number)
			case f.ID == 2:
				why = string(f.Content)
			}
		}
	}
	return n, why
}
