package endpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
)

// tensorText is a tensor in JSON with unparsed data.
type tensorText struct {
	name, datatype jsontext.Text
	data           []byte
}

// readTensor reads a tensor of a request or of an answer.
func readTensor(s *jsontext.Scanner) (t tensorText) {
	members(s, func(key string) {
		switch key {
		case "name":
			t.name = s.Text()
		case "datatype":
			t.datatype = s.Text()
		case "data":
			t.data = s.Raw()
		default:
			s.Skip()
		}
	})
	return t
}

// tensorDoc holds the outputs of the current document.
type tensorDoc struct{ outputs []tensorText }

// find returns the index of the output with a name; -1 = none.
func (doc *tensorDoc) find(name string) int {
	return slices.IndexFunc(doc.outputs, func(t tensorText) bool { return t.name.String() == name })
}

func beginTensors(d *jsonAnswer) {
	doc := stateOf[tensorDoc](d)
	doc.outputs = doc.outputs[:0]
}

// member reads the outputs of an answer, or the text of an answer in Triton's own format.
func (c *kserveCodec) member(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "outputs" {
		return false
	}
	doc := d.state.(*tensorDoc)
	elements(s, func() { doc.outputs = append(doc.outputs, readTensor(s)) })
	return true
}

// after converts the output with the text to content: the first element of the tensor that the user named, of text_output, or of the only text
// tensor. An answer with elements but without texts is content as well.
func (c *kserveCodec) after(d *jsonAnswer) {
	if c.kind != nil && c.kind.produces != record.Text {
		c.kindAnswer(d)
		return
	}
	doc := d.state.(*tensorDoc)
	at := doc.find(c.outputName())
	if at < 0 {
		at = slices.IndexFunc(doc.outputs, func(t tensorText) bool { return string(t.datatype.Raw) == "BYTES" })
	}
	if at >= 0 && string(doc.outputs[at].datatype.Raw) == "BYTES" {
		p := &d.chunk.delta
		p.reset()
		p.set = true
		first := true
		textElements(&jsontext.Scanner{Doc: doc.outputs[at].data}, func(text jsontext.Text) {
			if first {
				p.content = text
			} else if !text.Empty() { // an answer of several choices
				d.chunk.more = true
			}
			first = false
		})
		return
	}
	for _, t := range doc.outputs {
		if s := (jsontext.Scanner{Doc: t.data}); s.Open('[') && s.Kind() != ']' {
			d.chunk.kind, d.chunk.items = record.Other, 1
		}
	}
}

// textElements calls visit for each text of nested lists.
func textElements(s *jsontext.Scanner, visit func(jsontext.Text)) {
	if s.Kind() == '"' {
		visit(s.Text())
		return
	}
	elements(s, func() { textElements(s, visit) })
}

// Needs implements Learner.
func (c *kserveCodec) Needs() bool { return false }

// Ask implements Learner.
func (c *kserveCodec) Ask(model string) *Request {
	if c.set.GRPC {
		o := jsontext.Open(nil)
		o.Text("name", model)
		o.TextIfAny("version", c.version)
		return &Request{Path: openinference.ModelMetadata, Body: record.Plain(o.Close())}
	}
	return &Request{Method: "GET", Path: c.modelPath(model)}
}

// sentTensors describes which tensors are sent if the server does not describe its model.
func (c *kserveCodec) sentTensors() string {
	if c.kind != nil {
		return "endpoint type " + c.kind.name
	}
	return "the backend " + c.set.Backend
}

// Learn implements Learner.
func (c *kserveCodec) Learn(model string, answer []byte) (remarks []string, err error) {
	var told struct {
		Inputs, Outputs []struct {
			Name, Datatype string
			Shape          []int64
		}
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return nil, fmt.Errorf("the description of model %s: %w", model, err)
	}
	if len(told.Inputs) == 0 {
		return []string{fmt.Sprintf("the server does not describe the tensors of model %s; aiperf sends those of %s", model, c.sentTensors())}, nil
	}
	known := modelTensors{inputs: map[string]declared{}}
	var names []string
	for _, t := range told.Inputs {
		known.inputs[t.Name] = declared{t.Datatype, t.Shape}
		names = append(names, t.Name)
		if t.Datatype == "BYTES" && (known.text == "" || t.Name == textInput) {
			known.text = t.Name
		}
	}
	for _, t := range told.Outputs {
		known.outputs = append(known.outputs, t.Name)
	}
	if c.input == "" && known.text == "" && (c.kind == nil || !c.kind.ranks) {
		return nil, fmt.Errorf("model %s has no text input; its inputs are %s. Choose the one for the prompt with %s %s:NAME", model, strings.Join(names, ", "), c.set.Spell.As("endpoint.extra"), inputExtra)
	}
	if _, ok := known.inputs[c.input]; c.input != "" && !ok {
		return nil, fmt.Errorf("model %s has no input %s; its inputs are %s", model, c.input, strings.Join(names, ", "))
	}
	for _, m := range c.extras.members {
		if _, ok := known.inputs[m.key]; !ok && c.kind == nil && (m.key != "min_length" || c.set.Backend != backendVLLM) {
			remarks = append(remarks, fmt.Sprintf("model %s has no input %s; it is sent as a request parameter", model, m.key))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[model] = known
	return remarks, nil
}
