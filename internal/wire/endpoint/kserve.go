package endpoint

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
	"aiperf/internal/workload/conversation"
)

// Backends of Triton whose tensors kserve knows in advance (endpoints, section 11.1).
const (
	backendTensorRT = "tensorrtllm"
	backendVLLM     = "vllm"
)

// Names of the tensors of Triton's text models, and of the extras that set other names.
const (
	textInput   = "text_input"
	textOutput  = "text_output"
	inputExtra  = "v2_input_name"
	outputExtra = "v2_output_name"
	// versionExtra selects the version of the model; without it the server chooses.
	versionExtra = "model_version"
)

// maxTokensUnasked is the output length for a TensorRT-LLM model if the request does not set one.
const maxTokensUnasked = 256

// kserveCodec implements the Open Inference Protocol, version 2. Bodies and answers are the protocol's JSON, also for gRPC: kserverpc.go translates.
// The server describes the tensors of a model before the run (Ask, Learn); without that description they are those of the backend.
type kserveCodec struct {
	jsonType
	set           Settings
	kind          *tensorKind       // nil = a text model of a Triton backend
	names         map[string]string // names of the kind's tensors, by the extras that change them
	version       string            // version of the model, "" = the server's choice
	input, output string            // tensors that the user named; "" = the usual names
	extras        object

	mu    sync.RWMutex
	known map[string]modelTensors
}

// modelTensors are the tensors that a server declares for a model.
type modelTensors struct {
	inputs  map[string]declared
	outputs []string
	text    string // name of the input for the prompt
}

type declared struct {
	datatype string
	shape    []int64
}

// numberAsText returns a list of extras in which a number under a key is a text: a flag like model_version:3 gives a number.
func numberAsText(extras []Member, key string) []Member {
	out := slices.Clone(extras)
	for i, m := range out {
		if s := (jsontext.Scanner{Doc: m.Value}); m.Key == key && digit(s.Kind()) {
			out[i].Value = jsontext.AppendString(nil, string(m.Value))
		}
	}
	return out
}

func openKServe(s Settings) (Codec, error) { return newTensorCodec(s, nil, nil) }

func newTensorCodec(s Settings, kind *tensorKind, names map[string]string) (Codec, error) {
	c := &kserveCodec{kind: kind, names: names, known: map[string]modelTensors{}}
	var err error
	s.Extras = numberAsText(s.Extras, versionExtra)
	if c.version, err = consume(&s, versionExtra); err != nil {
		return nil, err
	}
	if c.input, err = consume(&s, inputExtra); err != nil {
		return nil, err
	}
	if c.output, err = consume(&s, outputExtra); err != nil {
		return nil, err
	}
	for _, m := range s.Extras {
		if !c.extras.setRaw(m.Key, m.Value) {
			return nil, fmt.Errorf("%s %s: %q is not JSON", s.Spell.As("endpoint.extra"), m.Key, m.Value)
		}
	}
	if s.Backend == "" {
		s.Backend = backendTensorRT
	}
	c.set = s
	c.jsonType = jsonType{member: c.member, begin: beginTensors, after: c.after}
	return c, nil
}

// NewAnswer implements Codec.
func (c *kserveCodec) NewAnswer(remember bool) Answer { return c.newAnswer(remember) }

// Input implements Codec.
func (c *kserveCodec) Input(payload []byte) Input {
	found := false
	return readInput(func(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
		if string(key) != "inputs" {
			return false
		}
		elements(s, func() {
			t := readTensor(s)
			data := jsontext.Scanner{Doc: t.data}
			switch first := !found || c.kind != nil && c.kind.ranks; {
			case string(t.datatype.Raw) != "BYTES":
			case c.kind != nil && c.kind.pictures && t.name.String() == c.names[imageExtra]:
				elements(&data, func() { x.images++; data.Skip() })
			case first: // the first text is the prompt
				found = true
				x.prompt(&data)
			}
		})
		return true
	}, payload)
}

// Encode implements Codec.
func (c *kserveCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	req := Request{Path: c.path(t), SentOnce: true}
	if t.RawPayload != nil {
		req.Body = record.Plain(t.RawPayload)
		return req, nil
	}
	if err := rejectHistory(t, h, c.name()); err != nil {
		return req, err
	}
	texts := t.Contents()
	if c.kind == nil && len(texts) != 1 {
		return req, invalid(t, "endpoint type kserve sends one prompt per request, but this turn has %d", len(texts))
	}
	var extras object
	extras.overlay(&c.extras)
	if t.ExtraBody != nil {
		s := jsontext.Scanner{Doc: t.ExtraBody}
		if extras.merge(&s); !s.Done() {
			return req, invalid(t, "extra body: %.80q is not a JSON object", t.ExtraBody)
		}
	}
	w := c.beginBody(t)
	w.out.buf = append(w.out.buf, '[')
	if c.kind != nil {
		if err := w.kindInputs(t, h); err != nil {
			return req, err
		}
	} else {
		w.texts(w.promptName(), texts)
		w.backend(c.set.Backend, t.MaxTokens, &extras)
	}
	w.extras(&extras)
	w.out.buf = append(w.out.buf, ']')
	req.Body = w.body(h.RequestID)
	return req, nil
}

// path returns the target of requests for a model: a path over HTTP, a method over gRPC.
func (c *kserveCodec) path(t *conversation.Turn) string {
	if c.set.GRPC {
		return c.method()
	}
	return c.modelPath(c.set.model(t)) + "/infer"
}

// modelPath returns the path of a model.
func (c *kserveCodec) modelPath(model string) string {
	path := "/v2/models/" + url.PathEscape(model)
	if c.version != "" {
		path += "/versions/" + url.PathEscape(c.version)
	}
	return path
}

// name returns the name of the endpoint type.
func (c *kserveCodec) name() string {
	if c.kind == nil {
		return "kserve"
	}
	return c.kind.name
}

// outputName returns the name of the tensor that holds the answer.
func (c *kserveCodec) outputName() string {
	switch {
	case c.output != "":
		return c.output
	case c.kind != nil:
		return c.kind.output
	}
	return textOutput
}

// method returns the gRPC method for requests: the streaming one, which servers of text models answer token by token, unless the user chose another.
func (c *kserveCodec) method() string {
	switch name := c.set.Method; {
	case name == "":
		return openinference.ModelStreamInfer
	case !strings.Contains(name, "/"):
		return openinference.ModelStreamInfer[:strings.LastIndexByte(openinference.ModelStreamInfer, '/')+1] + name
	default:
		return "/" + strings.TrimPrefix(name, "/")
	}
}

// beginBody begins the body of a turn's request.
func (c *kserveCodec) beginBody(t *conversation.Turn) *tensorBody {
	c.mu.RLock()
	defer c.mu.RUnlock()
	w := &tensorBody{codec: c, model: c.set.model(t)}
	if known, ok := c.known[w.model]; ok {
		w.described = &known
	}
	return w
}

// tensorBody is a body under construction.
type tensorBody struct {
	codec      *kserveCodec
	model      string
	described  *modelTensors // nil = the server has not described them
	out        object        // its buffer holds only the inputs until the body is complete
	parameters object
}

// tensor appends an input with n elements; data is their JSON.
func (w *tensorBody) tensor(name, datatype string, data []byte, n int) {
	w.open(name, datatype, n)
	w.out.buf = append(w.out.buf, data...)
	w.close()
}

// open begins an input of n elements; the caller appends them as JSON. datatype and shape are those that the server declared, if any.
func (w *tensorBody) open(name, datatype string, n int) {
	shape := []int64{1, int64(n)}
	if w.codec.set.Backend == backendVLLM && n == 1 {
		shape = shape[:1]
	}
	if w.described != nil {
		if d, ok := w.described.inputs[name]; ok {
			datatype, shape = d.datatype, d.sized(n)
		}
	}
	if len(w.out.buf) > len("[") {
		w.out.buf = append(w.out.buf, ',')
	}
	o := jsontext.Open(w.out.buf)
	o.Text("name", name)
	o.Key("shape")
	o.B = append(o.B, '[')
	for i, size := range shape {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = strconv.AppendInt(o.B, size, 10)
	}
	o.B = append(o.B, ']')
	o.Text("datatype", datatype)
	o.Key("data")
	o.B = append(o.B, '[')
	w.out.buf = o.B
}

// close ends the input.
func (w *tensorBody) close() { w.out.buf = append(w.out.buf, ']', '}') }

// sized returns a declared shape for n elements. Every open size is 1, except that the last one is set to fit n.
func (d declared) sized(n int) []int64 {
	shape := slices.Clone(d.shape)
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] < 0 {
			shape[i], n = int64(n), 1
		}
	}
	return shape
}

// hasInput reports whether the model has an input with that name. It is true while the inputs are unknown.
func (w *tensorBody) hasInput(name string) bool {
	if w.described == nil {
		return w.codec.input == ""
	}
	_, ok := w.described.inputs[name]
	return ok
}

// promptName returns the name of the input for the prompt.
func (w *tensorBody) promptName() string {
	switch {
	case w.codec.input != "":
		return w.codec.input
	case w.described != nil && w.described.text != "":
		return w.described.text
	}
	return textInput
}

// backend appends the inputs that all models of a backend have, as far as this model has them.
func (w *tensorBody) backend(name string, maxTokens *int, extras *object) {
	set := func(input, datatype, value string) {
		if extras.find(input) < 0 && w.hasInput(input) {
			w.tensor(input, datatype, []byte(value), 1)
		}
	}
	if name == backendVLLM {
		set("exclude_input_in_output", "BOOL", "true")
		if w.codec.set.Streaming {
			set("stream", "BOOL", "true")
		}
		if maxTokens != nil {
			var sampling object
			sampling.setString("max_tokens", strconv.Itoa(*maxTokens))
			if least := extras.take("min_length"); least != nil {
				sampling.setString("min_tokens", string(least))
			}
			set("sampling_parameters", "BYTES", string(jsontext.AppendString(nil, string(sampling.append(nil)))))
		}
		return
	}
	n := maxTokensUnasked
	if maxTokens != nil {
		n = *maxTokens
	}
	set("max_tokens", "INT32", strconv.Itoa(n))
	set("exclude_input_in_output", "BOOL", "true")
	if w.codec.set.Streaming {
		set("stream", "BOOL", "true")
	}
}

// extras appends each extra as an input. An extra for which the model has no input becomes a parameter of the request.
func (w *tensorBody) extras(extras *object) {
	for i, m := range extras.members {
		v := extras.value(i)
		if (w.described != nil || w.codec.kind != nil) && (w.described == nil || !w.hasInput(m.key)) {
			w.parameters.setRaw(m.key, v)
			continue
		}
		n := 1
		if v[0] == '[' {
			s := jsontext.Scanner{Doc: v}
			n = 0
			elements(&s, func() { n++; s.Skip() })
			v = v[1 : len(v)-1]
		}
		w.tensor(m.key, datatypeOf(v), v, n)
	}
}

// datatypeOf returns the datatype of a value whose tensor is unknown.
func datatypeOf(v []byte) string {
	switch {
	case len(v) == 0, v[0] == '"':
		return "BYTES"
	case v[0] == 't', v[0] == 'f':
		return "BOOL"
	case bytes.ContainsAny(v, ".eE"):
		return "FP32"
	}
	return "INT32"
}

// body completes the body.
func (w *tensorBody) body(id string) record.Body {
	c, o := w.codec, &w.out
	inputs := member{"inputs", 0, len(o.buf)}
	text := func(key, value string) {
		if value != "" {
			o.setString(key, value)
		}
	}
	if c.set.GRPC {
		o.setString("model_name", w.model)
		text("model_version", c.version)
		if c.method() == openinference.ModelStreamInfer {
			w.parameters.setBool("triton_enable_empty_final_response", true)
		}
	}
	text("id", id)
	if len(w.parameters.members) > 0 {
		o.setObject("parameters", &w.parameters)
	}
	o.members = append(o.members, inputs)
	name := c.outputName()
	if w.described == nil && c.input == "" || w.described != nil && slices.Contains(w.described.outputs, name) {
		a := len(o.buf)
		o.buf = append(jsontext.AppendString(append(o.buf, `[{"name":`...), name), `}]`...)
		o.end("outputs", a)
	}
	return o.ranges()
}
