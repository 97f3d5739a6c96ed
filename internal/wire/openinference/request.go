package openinference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// request is the JSON form of a ModelInferRequest.
type request struct {
	ModelName    string         `json:"model_name"`
	ModelVersion string         `json:"model_version"`
	ID           string         `json:"id"`
	Parameters   map[string]any `json:"parameters"`
	Inputs       []struct {
		Name       string         `json:"name"`
		Datatype   string         `json:"datatype"`
		Shape      []int64        `json:"shape"`
		Parameters map[string]any `json:"parameters"`
		Data       any            `json:"data"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string         `json:"name"`
		Parameters map[string]any `json:"parameters"`
	} `json:"outputs"`
}

// ParseRequest parses a request in its JSON form, with the model's name as the member model_name. The text may come in pieces. Every second piece is
// then the complete content, between the quotes, of an element of a BYTES tensor. It contains no escapes and is put into the message without a copy.
func ParseRequest(pieces ...[]byte) (*InferRequest, error) {
	text, held := standIns(pieces)
	out, err := parseRequest(text)
	if err != nil || len(held) == 0 {
		return out, err
	}
	for _, t := range out.Inputs {
		for i, element := range t.Contents.Bytes {
			if piece, ok := held[string(element)]; ok {
				t.Contents.Bytes[i] = piece
			}
		}
	}
	return out, nil
}

// standIns replaces every second piece by a short text that occurs nowhere else.
func standIns(pieces [][]byte) (text []byte, held map[string][]byte) {
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	mark := "piece"
	for i := 0; i < len(pieces); i += 2 {
		for bytes.Contains(pieces[i], []byte(mark)) {
			mark += "-"
		}
	}
	held = map[string][]byte{}
	for i, piece := range pieces {
		if i%2 == 1 {
			name := mark + strconv.Itoa(i)
			held[name], piece = piece, []byte(name)
		}
		text = append(text, piece...)
	}
	return text, held
}

func parseRequest(body []byte) (*InferRequest, error) {
	var in request
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("inference request: %w", err)
	}
	out := &InferRequest{ModelName: in.ModelName, ModelVersion: in.ModelVersion, ID: in.ID}
	var err error
	if out.Parameters, err = parameters(in.Parameters); err != nil {
		return nil, err
	}
	for _, t := range in.Inputs {
		tensor := &Tensor{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape}
		if tensor.Parameters, err = parameters(t.Parameters); err != nil {
			return nil, err
		}
		if tensor.Contents, err = contents(t.Datatype, t.Data); err != nil {
			return nil, fmt.Errorf("input %s: %w", t.Name, err)
		}
		out.Inputs = append(out.Inputs, tensor)
	}
	for _, t := range in.Outputs {
		output := RequestedOutput{Name: t.Name}
		if output.Parameters, err = parameters(t.Parameters); err != nil {
			return nil, err
		}
		out.Outputs = append(out.Outputs, output)
	}
	return out, nil
}

// parameters converts values to the protocol's types. A whole number is int64, any other number a double; lists and objects are their JSON text.
func parameters(values map[string]any) (Parameters, error) {
	if len(values) == 0 {
		return nil, nil
	}
	out := make(Parameters, len(values))
	for name, v := range values {
		switch v := v.(type) {
		case bool, string:
			out[name] = v
		case json.Number:
			if n, err := v.Int64(); err == nil {
				out[name] = n
			} else if f, err := v.Float64(); err == nil {
				out[name] = f
			} else {
				return nil, fmt.Errorf("parameter %s: %s is out of range", name, v)
			}
		default:
			text, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", name, err)
			}
			out[name] = string(text)
		}
	}
	return out, nil
}

// contents stores the elements of a tensor, nested or flat, in the field for their datatype.
func contents(datatype string, data any) (*Contents, error) {
	c := new(Contents)
	add, ok := adders[datatype]
	if !ok {
		return nil, fmt.Errorf("datatype %q cannot be sent; allowed are BOOL, INT8 to INT64, UINT8 to UINT64, FP32, FP64 and BYTES", datatype)
	}
	return c, each(data, func(v any) error {
		if !add(c, v) {
			return fmt.Errorf("%v is not of the datatype %s", v, datatype)
		}
		return nil
	})
}

// each calls visit for the elements of nested lists, in order.
func each(data any, visit func(any) error) error {
	list, ok := data.([]any)
	if !ok {
		return visit(data)
	}
	for _, v := range list {
		if err := each(v, visit); err != nil {
			return err
		}
	}
	return nil
}

// adders append an element of a datatype; false = the element does not have this datatype.
var adders = map[string]func(c *Contents, v any) bool{
	"BOOL": func(c *Contents, v any) bool {
		b, ok := v.(bool)
		c.Bool = append(c.Bool, b)
		return ok
	},
	"BYTES": func(c *Contents, v any) bool {
		s, ok := v.(string)
		c.Bytes = append(c.Bytes, []byte(s))
		return ok
	},
	"INT8": addInt(8), "INT16": addInt(16), "INT32": addInt(32),
	"INT64": func(c *Contents, v any) bool {
		n, ok := integer(v, 64)
		c.Int64 = append(c.Int64, n)
		return ok
	},
	"UINT8": addUint(8), "UINT16": addUint(16), "UINT32": addUint(32),
	"UINT64": func(c *Contents, v any) bool {
		n, ok := natural(v, 64)
		c.Uint64 = append(c.Uint64, n)
		return ok
	},
	"FP32": func(c *Contents, v any) bool {
		f, ok := float(v)
		c.FP32 = append(c.FP32, float32(f))
		return ok && math.Abs(f) <= math.MaxFloat32
	},
	"FP64": func(c *Contents, v any) bool {
		f, ok := float(v)
		c.FP64 = append(c.FP64, f)
		return ok
	},
}

func addInt(bits int) func(*Contents, any) bool {
	return func(c *Contents, v any) bool {
		n, ok := integer(v, bits)
		c.Int = append(c.Int, int32(n))
		return ok
	}
}

func addUint(bits int) func(*Contents, any) bool {
	return func(c *Contents, v any) bool {
		n, ok := natural(v, bits)
		c.Uint = append(c.Uint, uint32(n))
		return ok
	}
}

func integer(v any, bits int) (int64, bool) {
	text, ok := v.(json.Number)
	n, err := strconv.ParseInt(string(text), 10, bits)
	return n, ok && err == nil
}

func natural(v any, bits int) (uint64, bool) {
	text, ok := v.(json.Number)
	n, err := strconv.ParseUint(string(text), 10, bits)
	return n, ok && err == nil
}

func float(v any) (float64, bool) {
	text, ok := v.(json.Number)
	f, err := strconv.ParseFloat(string(text), 64)
	return f, ok && err == nil
}
