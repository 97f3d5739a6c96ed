package openinference

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// AppendResponse appends the JSON form of a response, as a server would send it over HTTP. Raw elements are decoded by their datatype. Invalid UTF-8
// becomes the replacement character.
func AppendResponse(b []byte, r *InferResponse) ([]byte, error) {
	o := jsontext.Open(b)
	o.Text("model_name", r.ModelName)
	o.TextIfAny("model_version", r.ModelVersion)
	o.TextIfAny("id", r.ID)
	o.B = appendParameters(&o, r.Parameters)
	o.Key("outputs")
	o.B = append(o.B, '[')
	for i, t := range r.Outputs {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		var raw []byte
		if i < len(r.RawOutputs) {
			raw = r.RawOutputs[i]
		}
		var err error
		if o.B, err = appendTensor(o.B, t, raw); err != nil {
			return nil, fmt.Errorf("output %s: %w", t.Name, err)
		}
	}
	o.B = append(o.B, ']')
	return o.Close(), nil
}

// appendTensor appends one output.
func appendTensor(b []byte, t *Tensor, raw []byte) ([]byte, error) {
	o := jsontext.Open(b)
	o.Text("name", t.Name)
	o.Text("datatype", t.Datatype)
	o.Key("shape")
	o.B = list(o.B, t.Shape, func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) })
	o.B = appendParameters(&o, t.Parameters)
	o.Key("data")
	var err error
	if raw != nil {
		o.B, err = appendRaw(o.B, t.Datatype, raw)
	} else {
		o.B = appendContents(o.B, t.Contents)
	}
	return o.Close(), err
}

// appendParameters appends the parameters sorted by name, if there are any.
func appendParameters(o *jsontext.Object, values Parameters) []byte {
	if len(values) == 0 {
		return o.B
	}
	o.Key("parameters")
	p := jsontext.Open(o.B)
	for _, name := range values.names() {
		p.Key(name)
		switch v := values[name].(type) {
		case bool:
			p.B = strconv.AppendBool(p.B, v)
		case int64:
			p.B = strconv.AppendInt(p.B, v, 10)
		case string:
			p.B = jsontext.AppendString(p.B, v)
		case float64:
			p.B = appendFloat(p.B, v, 64)
		case uint64:
			p.B = strconv.AppendUint(p.B, v, 10)
		default:
			p.B = append(p.B, "null"...)
		}
	}
	return p.Close()
}

// names returns the names in ascending order.
func (p Parameters) names() []string { return slices.Sorted(maps.Keys(p)) }

// appendContents appends the elements of the list that is not empty.
func appendContents(b []byte, c *Contents) []byte {
	switch {
	case c == nil:
		return append(b, "[]"...)
	case len(c.Bool) > 0:
		return list(b, c.Bool, strconv.AppendBool)
	case len(c.Int) > 0:
		return list(b, c.Int, func(b []byte, n int32) []byte { return strconv.AppendInt(b, int64(n), 10) })
	case len(c.Int64) > 0:
		return list(b, c.Int64, func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) })
	case len(c.Uint) > 0:
		return list(b, c.Uint, func(b []byte, n uint32) []byte { return strconv.AppendUint(b, uint64(n), 10) })
	case len(c.Uint64) > 0:
		return list(b, c.Uint64, func(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) })
	case len(c.FP32) > 0:
		return list(b, c.FP32, func(b []byte, f float32) []byte { return appendFloat(b, float64(f), 32) })
	case len(c.FP64) > 0:
		return list(b, c.FP64, func(b []byte, f float64) []byte { return appendFloat(b, f, 64) })
	}
	return list(b, c.Bytes, func(b, s []byte) []byte { return jsontext.AppendString(b, string(s)) })
}

func list[E any](b []byte, elements []E, one func([]byte, E) []byte) []byte {
	b = append(b, '[')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, e)
	}
	return append(b, ']')
}

// appendFloat appends a number; numbers that JSON cannot represent become null.
func appendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits)
}

// rawElement decodes an element of a fixed size, little-endian.
type rawElement struct {
	size int
	read func(b, raw []byte) []byte
}

var le = binary.LittleEndian

var rawElements = map[string]rawElement{
	"BOOL":   {1, func(b, r []byte) []byte { return strconv.AppendBool(b, r[0] != 0) }},
	"INT8":   {1, func(b, r []byte) []byte { return strconv.AppendInt(b, int64(int8(r[0])), 10) }},
	"INT16":  {2, func(b, r []byte) []byte { return strconv.AppendInt(b, int64(int16(le.Uint16(r))), 10) }},
	"INT32":  {4, func(b, r []byte) []byte { return strconv.AppendInt(b, int64(int32(le.Uint32(r))), 10) }},
	"INT64":  {8, func(b, r []byte) []byte { return strconv.AppendInt(b, int64(le.Uint64(r)), 10) }},
	"UINT8":  {1, func(b, r []byte) []byte { return strconv.AppendUint(b, uint64(r[0]), 10) }},
	"UINT16": {2, func(b, r []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint16(r)), 10) }},
	"UINT32": {4, func(b, r []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint32(r)), 10) }},
	"UINT64": {8, func(b, r []byte) []byte { return strconv.AppendUint(b, le.Uint64(r), 10) }},
	"FP16":   {2, func(b, r []byte) []byte { return appendFloat(b, half(le.Uint16(r)), 32) }},
	"BF16": {2, func(b, r []byte) []byte {
		return appendFloat(b, float64(math.Float32frombits(uint32(le.Uint16(r))<<16)), 32)
	}},
	"FP32": {4, func(b, r []byte) []byte { return appendFloat(b, float64(math.Float32frombits(le.Uint32(r))), 32) }},
	"FP64": {8, func(b, r []byte) []byte { return appendFloat(b, math.Float64frombits(le.Uint64(r)), 64) }},
}

// half returns the value of an IEEE 754 binary16.
func half(h uint16) float64 {
	sign, exponent, fraction := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// appendRaw appends the elements of raw contents: elements of fixed size without separators, BYTES elements each after its length of four bytes.
func appendRaw(b []byte, datatype string, raw []byte) ([]byte, error) {
	var elements [][]byte
	kind, fixed := rawElements[datatype]
	switch {
	case datatype == "BYTES":
		for len(raw) > 0 {
			if len(raw) < 4 || uint64(le.Uint32(raw)) > uint64(len(raw)-4) {
				return nil, fmt.Errorf("an element of its raw contents is incomplete")
			}
			n := 4 + int(le.Uint32(raw))
			elements, raw = append(elements, raw[4:n]), raw[n:]
		}
		return list(b, elements, func(b, s []byte) []byte { return jsontext.AppendString(b, string(s)) }), nil
	case !fixed:
		return nil, fmt.Errorf("its datatype %q is unknown", datatype)
	case len(raw)%kind.size != 0:
		return nil, fmt.Errorf("the raw contents have %d bytes, which is not a multiple of the size of %s", len(raw), datatype)
	}
	for ; len(raw) > 0; raw = raw[kind.size:] {
		elements = append(elements, raw[:kind.size])
	}
	return list(b, elements, kind.read), nil
}
