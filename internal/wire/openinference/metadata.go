package openinference

import "aiperf/internal/base/protobuf"

// ModelRequest is a ModelMetadataRequest or a ModelReadyRequest.
type ModelRequest struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Marshal encodes a request.
func (r *ModelRequest) Marshal() []byte {
	var m protobuf.Message
	m.StringIfAny(1, r.Name)
	m.StringIfAny(2, r.Version)
	return m
}

// Unmarshal parses a request.
func (r *ModelRequest) Unmarshal(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			r.Name, err = text(f)
		case 2:
			r.Version, err = text(f)
		}
		return err
	})
}

// ReadyResponse is a ServerReadyResponse or a ModelReadyResponse.
type ReadyResponse struct{ Ready bool }

// Marshal encodes a response.
func (r *ReadyResponse) Marshal() []byte {
	var m protobuf.Message
	if r.Ready {
		m.Bool(1, true)
	}
	return m
}

// Metadata is a ModelMetadataResponse: the tensors of a model.
type Metadata struct {
	Name     string           `json:"name,omitempty"`
	Versions []string         `json:"versions,omitempty"`
	Platform string           `json:"platform,omitempty"`
	Inputs   []TensorMetadata `json:"inputs,omitempty"`
	Outputs  []TensorMetadata `json:"outputs,omitempty"`
}

// TensorMetadata describes a tensor.
type TensorMetadata struct {
	Name     string  `json:"name,omitempty"`
	Datatype string  `json:"datatype,omitempty"`
	Shape    []int64 `json:"shape,omitempty"`
}

// Marshal encodes a response.
func (d *Metadata) Marshal() []byte {
	var m protobuf.Message
	m.StringIfAny(1, d.Name)
	for _, v := range d.Versions {
		m.String(2, v)
	}
	m.StringIfAny(3, d.Platform)
	for _, t := range d.Inputs {
		m.Message(4, t.append)
	}
	for _, t := range d.Outputs {
		m.Message(5, t.append)
	}
	return m
}

func (t *TensorMetadata) append(m *protobuf.Message) {
	m.StringIfAny(1, t.Name)
	m.StringIfAny(2, t.Datatype)
	appendVarints(m, 3, t.Shape)
}

// Unmarshal parses a response.
func (d *Metadata) Unmarshal(b []byte) error {
	return parse(b, func(f protobuf.Field) (err error) {
		switch bytesField(f) {
		case 1:
			d.Name, err = text(f)
		case 2:
			var v string
			v, err = text(f)
			d.Versions = append(d.Versions, v)
		case 3:
			d.Platform, err = text(f)
		case 4:
			err = appendTensorMetadata(&d.Inputs, f.Content)
		case 5:
			err = appendTensorMetadata(&d.Outputs, f.Content)
		}
		return err
	})
}

func appendTensorMetadata(list *[]TensorMetadata, b []byte) error {
	var t TensorMetadata
	err := parse(b, func(f protobuf.Field) (err error) {
		if f.ID == 3 {
			return numbers(f, protobuf.Varint, &t.Shape, func(v uint64) int64 { return int64(v) })
		}
		switch bytesField(f) {
		case 1:
			t.Name, err = text(f)
		case 2:
			t.Datatype, err = text(f)
		}
		return err
	})
	*list = append(*list, t)
	return err
}
