package endpoint

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/jsontext"
	"aiperf/internal/openinference"
	"aiperf/internal/record"
)

// Backends of Triton whose models kserve knows by heart (endpoints, section 11.1).
const (
	backendTensorRT = "tensorrtllm"
	backendVLLM     = "vllm"
)

// Names of the tensors that text models of Triton have, and of the extras that name others.
const (
	textInput   = "text_input"
	textOutput  = "text_output"
	inputExtra  = "v2_input_name"
	outputExtra = "v2_output_name"
	// versionExtra names the version of the model that is asked; without it the server chooses.
	versionExtra = "model_version"
)

// maxTokensUnasked is the output length that a TensorRT-LLM model is given when none is asked for.
const maxTokensUnasked = 256

// kserveCodec speaks the Open Inference Protocol, version 2. Bodies and answers are the protocol's JSON, over gRPC too: kserverpc.go
// translates. What tensors a model has, the server tells before the run (Ask, Learn); until then they are those of its backend.
type kserveCodec struct {
	jsonType
	set           Settings
	kind          *tensorKind       // nil = a text model of a Triton backend
	names         map[string]string // of the tensors of the kind, by the extras that change them
	version       string            // of the model, "" = the server's choice
	input, output string            // tensors that the user named; "" = by their usual names
	extras        object

	mu    sync.RWMutex
	known map[string]modelTensors
}

// modelTensors are the tensors that a server declares for a model.
type modelTensors struct {
	inputs  map[string]declared
	outputs []string
	text    string // the input that takes the prompt
}

type declared struct {
	datatype string
	shape    []int64
}

func openKServe(s Settings) (Codec, error) { return newTensorCodec(s, nil, nil) }

func newTensorCodec(s Settings, kind *tensorKind, names map[string]string) (Codec, error) {
	c := &kserveCodec{kind: kind, names: names, known: map[string]modelTensors{}}
	var err error
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
			case first: // the prompt is the first text
				found = true
				x.prompt(&data)
			}
		})
		return true
	}, payload)
}

// Encode implements Codec.
func (c *kserveCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	req := Request{Path: c.path(t), Once: true}
	if t.RawPayload != nil {
		req.Body = record.Plain(t.RawPayload)
		return req, nil
	}
	if err := alone(t, h, c.name()); err != nil {
		return req, err
	}
	texts := t.Contents()
	if c.kind == nil && len(texts) != 1 {
		return req, invalid(t, "endpoint type kserve sends one prompt, this turn has %d", len(texts))
	}
	var extras object
	extras.over(&c.extras)
	if t.ExtraBody != nil {
		s := jsontext.Scanner{Doc: t.ExtraBody}
		if extras.merge(&s); !s.Done() {
			return req, invalid(t, "extra body: %.80q is not a JSON object", t.ExtraBody)
		}
	}
	w := c.words(t)
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

// path is where the requests for a model go: a path over HTTP, a method over gRPC.
func (c *kserveCodec) path(t *conversation.Turn) string {
	if c.set.GRPC {
		return c.method()
	}
	return c.modelPath(c.set.model(t)) + "/infer"
}

// modelPath is the page of a model.
func (c *kserveCodec) modelPath(model string) string {
	path := "/v2/models/" + url.PathEscape(model)
	if c.version != "" {
		path += "/versions/" + url.PathEscape(c.version)
	}
	return path
}

// name is that of the endpoint type.
func (c *kserveCodec) name() string {
	if c.kind == nil {
		return "kserve"
	}
	return c.kind.name
}

// outputName is the tensor that the answer is looked for in.
func (c *kserveCodec) outputName() string {
	switch {
	case c.output != "":
		return c.output
	case c.kind != nil:
		return c.kind.output
	}
	return textOutput
}

// method is the call that carries requests: the stream that servers of text models answer token by token, unless the user wants another.
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

// words begins the body of a turn's request.
func (c *kserveCodec) words(t *conversation.Turn) *tensorWords {
	c.mu.RLock()
	defer c.mu.RUnlock()
	w := &tensorWords{codec: c, model: c.set.model(t)}
	if known, ok := c.known[w.model]; ok {
		w.known = &known
	}
	return w
}

// tensorWords is a body under construction.
type tensorWords struct {
	codec      *kserveCodec
	model      string
	known      *modelTensors // nil = the server has not told
	out        object        // its buffer holds the inputs alone, until the body is complete
	parameters object
}

// tensor appends an input. data are its elements as JSON, n of them.
func (w *tensorWords) tensor(name, datatype string, data []byte, n int) {
	w.open(name, datatype, n)
	w.out.buf = append(w.out.buf, data...)
	w.close()
}

// open begins an input of n elements, which follow as JSON; datatype and shape are the server's, if it has told.
func (w *tensorWords) open(name, datatype string, n int) {
	shape := []int64{1, int64(n)}
	if w.codec.set.Backend == backendVLLM && n == 1 {
		shape = shape[:1]
	}
	if w.known != nil {
		if d, ok := w.known.inputs[name]; ok {
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
func (w *tensorWords) close() { w.out.buf = append(w.out.buf, ']', '}') }

// sized is a declared shape for n elements: every size that the model leaves open is 1, the last one what n needs.
func (d declared) sized(n int) []int64 {
	shape := slices.Clone(d.shape)
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] < 0 {
			shape[i], n = int64(n), 1
		}
	}
	return shape
}

// takes tells whether the model has an input of that name, as far as it is known.
func (w *tensorWords) takes(name string) bool {
	if w.known == nil {
		return w.codec.input == ""
	}
	_, ok := w.known.inputs[name]
	return ok
}

// promptName is the input that takes the prompt.
func (w *tensorWords) promptName() string {
	switch {
	case w.codec.input != "":
		return w.codec.input
	case w.known != nil && w.known.text != "":
		return w.known.text
	}
	return textInput
}

// backend appends the inputs that all models of a backend have, if this one has them.
func (w *tensorWords) backend(name string, maxTokens *int, extras *object) {
	set := func(input, datatype, value string) {
		if extras.find(input) < 0 && w.takes(input) {
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

// extras appends each extra as an input; one that the model does not have is a parameter of the request.
func (w *tensorWords) extras(extras *object) {
	for i, m := range extras.members {
		v := extras.value(i)
		if (w.known != nil || w.codec.kind != nil) && (w.known == nil || !w.takes(m.key)) {
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

// datatypeOf is the datatype of a value whose tensor is not known.
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
func (w *tensorWords) body(id string) record.Body {
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
	if w.known == nil && c.input == "" || w.known != nil && slices.Contains(w.known.outputs, name) {
		a := len(o.buf)
		o.buf = append(jsontext.AppendString(append(o.buf, `[{"name":`...), name), `}]`...)
		o.end("outputs", a)
	}
	return o.ranges()
}
