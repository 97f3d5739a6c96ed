package openinference

import "aiperf/internal/base/protobuf"

// Tensor is an input or an output.
type Tensor struct {
	Name, Datatype string
	Shape          []int64
	Parameters     Parameters
	Contents       *Contents // nil = the elements are raw
}

// Contents are the elements of a tensor, in the list for their datatype.
type Contents struct {
	Bool   []bool
	Int    []int32
	Int64  []int64
	Uint   []uint32
	Uint64 []uint64
	FP32   []float32
	FP64   []float64
	Bytes  [][]byte
}

// InferRequest is a ModelInferRequest.
type InferRequest struct {
	ModelName, ModelVersion, ID string
	Parameters                  Parameters
	Inputs                      []*Tensor
	Outputs                     []RequestedOutput
	RawInputs                   [][]byte
}

// RequestedOutput is an output that a request asks for.
type RequestedOutput struct {
	Name       string
	Parameters Parameters
}

// InferResponse is a ModelInferResponse.
type InferResponse struct {
	ModelName, ModelVersion, ID string
	Parameters                  Parameters
	Outputs                     []*Tensor
	RawOutputs                  [][]byte
}

// StreamResponse is a ModelStreamInferResponse: a response or an error.
type StreamResponse struct {
	ErrorMessage string
	Response     *InferResponse
	Unknown      bool // it has fields that this type does not have
}

// Marshal encodes a request.
func (r *InferRequest) Marshal() []byte {
	m := make(protobuf.Message, 0, r.size())
	m.StringIfAny(1, r.ModelName)
	m.StringIfAny(2, r.ModelVersion)
	m.StringIfAny(3, r.ID)
	r.Parameters.append(&m, 4)
	for _, t := range r.Inputs {
		m.Message(5, t.append)
	}
	for _, o := range r.Outputs {
		m.Message(6, o.append)
	}
	for _, raw := range r.RawInputs {
		m.Bytes(7, raw)
	}
	return m
}

// size estimates the size of a request, so that pictures in it are copied only once.
func (r *InferRequest) size() int {
	n := 256
	for _, t := range r.Inputs {
		n += t.size() + 16
	}
	return n
}

// Unmarshal parses a request.
func (r *InferRequest) Unmarshal(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			r.ModelName, err = text(f)
		case 2:
			r.ModelVersion, err = text(f)
		case 3:
			r.ID, err = text(f)
		case 4:
			err = r.Parameters.parse(f.Content)
		case 5:
			t := new(Tensor)
			err = t.parse(f.Content)
			r.Inputs = append(r.Inputs, t)
		case 6:
			var o RequestedOutput
			err = o.parse(f.Content)
			r.Outputs = append(r.Outputs, o)
		case 7:
			r.RawInputs = append(r.RawInputs, f.Content)
		}
		return err
	})
}

func (o *RequestedOutput) append(m *protobuf.Message) {
	m.StringIfAny(1, o.Name)
	o.Parameters.append(m, 2)
}

func (o *RequestedOutput) parse(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			o.Name, err = text(f)
		case 2:
			err = o.Parameters.parse(f.Content)
		}
		return err
	})
}

// Marshal encodes a response.
func (r *InferResponse) Marshal() []byte {
	var m protobuf.Message
	m.StringIfAny(1, r.ModelName)
	m.StringIfAny(2, r.ModelVersion)
	m.StringIfAny(3, r.ID)
	r.Parameters.append(&m, 4)
	for _, t := range r.Outputs {
		m.Message(5, t.append)
	}
	for _, raw := range r.RawOutputs {
		m.Bytes(6, raw)
	}
	return m
}

// Unmarshal parses a response.
func (r *InferResponse) Unmarshal(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			r.ModelName, err = text(f)
		case 2:
			r.ModelVersion, err = text(f)
		case 3:
			r.ID, err = text(f)
		case 4:
			err = r.Parameters.parse(f.Content)
		case 5:
			t := new(Tensor)
			err = t.parse(f.Content)
			r.Outputs = append(r.Outputs, t)
		case 6:
			r.RawOutputs = append(r.RawOutputs, f.Content)
		}
		return err
	})
}

// Marshal encodes a message of a stream.
func (r *StreamResponse) Marshal() []byte {
	var m protobuf.Message
	m.StringIfAny(1, r.ErrorMessage)
	if r.Response != nil {
		m.Bytes(2, r.Response.Marshal())
	}
	return m
}

// Unmarshal parses a message of a stream.
func (r *StreamResponse) Unmarshal(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			r.ErrorMessage, err = text(f)
		case 2:
			if r.Response == nil {
				r.Response = new(InferResponse)
			}
			err = r.Response.Unmarshal(f.Content)
		default:
			r.Unknown = true
		}
		return err
	})
}

// size returns an upper limit of the encoded size, without that of the parameters.
func (t *Tensor) size() int {
	n := 64 + len(t.Name) + len(t.Datatype) + 10*len(t.Shape)
	if c := t.Contents; c != nil {
		n += len(c.Bool) + 10*(len(c.Int)+len(c.Int64)+len(c.Uint)+len(c.Uint64)) + 4*len(c.FP32) + 8*len(c.FP64)
		for _, b := range c.Bytes {
			n += len(b) + 16
		}
	}
	return n
}

// append appends the fields of a tensor.
func (t *Tensor) append(m *protobuf.Message) {
	m.StringIfAny(1, t.Name)
	m.StringIfAny(2, t.Datatype)
	appendVarints(m, 3, t.Shape)
	t.Parameters.append(m, 4)
	if t.Contents != nil {
		m.Message(5, t.Contents.append)
	}
}

func (t *Tensor) parse(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		if f.ID == 3 {
			return numbers(f, protobuf.Varint, &t.Shape, func(v uint64) int64 { return int64(v) })
		}
		switch bytesField(f) {
		case 1:
			t.Name, err = text(f)
		case 2:
			t.Datatype, err = text(f)
		case 4:
			err = t.Parameters.parse(f.Content)
		case 5:
			if t.Contents == nil {
				t.Contents = new(Contents)
			}
			err = t.Contents.parse(f.Content)
		}
		return err
	})
}
