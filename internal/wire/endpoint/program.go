package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// programType returns the endpoint type of a plug-in that is a program, and what is wrong with its entry. Metadata that aiperf does not know are options
// of the program.
func programType(e *plugin.Entry, name string) (*Endpoint, []string) {
	d := &definition{entry: e, into: &declaration{kind: Endpoint{Title: "LLM Metrics", ProducesTokens: true, Replies: true}}}
	d.metadata()
	one := d.into.kind
	one.Name, one.Summary, one.Framing = name, e.FirstLine(), framing.OrSSE(d.into.response.framing)
	one.Open = func(s Settings) (Codec, error) {
		return &programCodec{entry: e, set: s, input: d.into.input, extra: extraObject(s.Extras)}, nil
	}
	return &one, d.mistakes
}

// extraObject returns extras as a JSON object.
func extraObject(extras []Member) json.RawMessage {
	o := jsontext.Open(nil)
	for _, m := range extras {
		o.Raw(m.Key, m.Value)
	}
	return o.Close()
}

// programCodec is the codec of an endpoint type whose program makes the bodies and reads the answers. Bodies are made before their requests are due,
// answers are read in the pipeline.
type programCodec struct {
	entry   *plugin.Entry
	set     Settings
	input   []*selector
	extra   json.RawMessage
	running *program.Bound // nil = not started
}

// Start implements Running.
func (c *programCodec) Start(ctx context.Context, log func(line string)) (err error) {
	methods := []string{"format", "parse"}
	if c.set.ReadOnly {
		methods = methods[1:]
	}
	c.running, err = program.Under(ctx, log)(c.entry, methods...)
	return err
}

// Close implements Running.
func (c *programCodec) Close() error { return c.running.Close() }

// call calls a method of the program.
func (c *programCodec) call(method string, params, result any) error {
	if c.running == nil {
		return errors.New("plug-in " + c.entry.ID() + ": the program was not started")
	}
	return c.running.Call(method, params, result)
}

// programTurn is a turn as the protocol writes it.
type programTurn struct {
	Role        string            `json:"role,omitempty"`
	Texts       []string          `json:"texts,omitempty"`
	Images      []string          `json:"images,omitempty"`
	Audios      []string          `json:"audios,omitempty"`
	Videos      []string          `json:"videos,omitempty"`
	Model       string            `json:"model,omitempty"`
	MaxTokens   *int              `json:"max_tokens,omitempty"`
	Timestamp   *float64          `json:"timestamp,omitempty"`
	Delay       *float64          `json:"delay,omitempty"`
	Messages    []json.RawMessage `json:"messages,omitempty"`
	Tools       json.RawMessage   `json:"tools,omitempty"`
	Extra       json.RawMessage   `json:"extra,omitempty"`
	System      string            `json:"system_message,omitempty"`
	UserContext string            `json:"user_context_message,omitempty"`
}

func newProgramTurn(t *conversation.Turn) (p programTurn, err error) {
	p = programTurn{Role: t.Role, Model: t.Model, MaxTokens: t.MaxTokens, Timestamp: t.Timestamp, Delay: t.Delay, Messages: t.RawMessages, Tools: t.RawTools, Extra: t.ExtraBody}
	lists := map[conversation.Kind]*[]string{conversation.Text: &p.Texts, conversation.ToolResult: &p.Texts, conversation.Image: &p.Images, conversation.Audio: &p.Audios, conversation.Video: &p.Videos}
	for i := range t.Parts {
		part := &t.Parts[i]
		list, value := lists[part.Kind], part.Text
		if part.Blob != nil {
			if value, err = mediaString(t, part); err != nil {
				return p, err
			}
		}
		if list != nil && value != "" {
			*list = append(*list, value)
		}
	}
	return p, nil
}

// formatCall are the parameters of the method format.
type formatCall struct {
	Turn      programTurn     `json:"turn"`
	History   []programTurn   `json:"history"`
	Model     string          `json:"model"`
	Stream    bool            `json:"stream"`
	MaxTokens *int            `json:"max_tokens"`
	Extra     json.RawMessage `json:"extra"`
	RequestID string          `json:"request_id,omitempty"`
}

// formatted is the result of the method format.
type formatted struct {
	Body        json.RawMessage   `json:"body"`
	Headers     map[string]string `json:"headers"`
	Path        string            `json:"path"`
	ContentType string            `json:"content_type"`
}

// Encode implements Codec.
func (c *programCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	if t.RawPayload != nil {
		return Request{Body: record.Plain(t.RawPayload)}, nil
	}
	params := formatCall{History: []programTurn{}, Model: c.set.model(t), Stream: c.set.Streaming, MaxTokens: t.MaxTokens, Extra: c.extra, RequestID: h.RequestID}
	for i := range h.Past {
		past, err := newProgramTurn(h.Past[i].Turn)
		if err != nil {
			return Request{}, err
		}
		params.History = append(params.History, past)
		if reply, ok := h.Past[i].Reply.(programReply); ok {
			params.History = append(params.History, programTurn{Role: "assistant", Texts: []string{string(reply)}})
		}
	}
	var err error
	if params.Turn, err = newProgramTurn(t); err != nil {
		return Request{}, err
	}
	params.Turn.System, params.Turn.UserContext = h.System, h.UserContext
	var out formatted
	if err := c.call("format", params, &out); err != nil {
		return Request{}, &FormatError{Class: "PluginError", Origin: t.Origin, Message: err.Error()}
	}
	return c.request(t, &out)
}

// request checks what the program made.
func (c *programCodec) request(t *conversation.Turn, out *formatted) (Request, error) {
	fault := func(text string) error {
		return &FormatError{Class: "PluginError", Origin: t.Origin, Message: "plug-in " + c.entry.ID() + ": format: " + text}
	}
	if len(out.Body) == 0 || string(out.Body) == "null" {
		return Request{}, fault("the result has no body")
	}
	if out.Path != "" && !strings.HasPrefix(out.Path, "/") && !strings.HasPrefix(out.Path, "./") {
		return Request{}, fault(`the path must begin with "/" or "./", but it is ` + quote([]byte(out.Path)))
	}
	req := Request{Path: out.Path, ContentType: out.ContentType, SentOnce: true}
	for name := range out.Headers {
		if !headerName(name) || strings.ContainsAny(out.Headers[name], "\r\n") {
			return Request{}, fault("a header with the name " + quote([]byte(name)) + " and this value cannot be sent")
		}
		req.Headers = append(req.Headers, record.Header{Name: name, Value: out.Headers[name]})
	}
	sorting.Sort(req.Headers, func(a, b record.Header) int { return strings.Compare(a.Name, b.Name) })
	if text := ""; out.ContentType != "" && out.ContentType != "application/json" && json.Unmarshal(out.Body, &text) == nil {
		req.Body = record.Plain([]byte(text))
		return req, nil
	}
	s := jsontext.Scanner{Doc: out.Body}
	req.Body = record.Plain(jsontext.AppendCompact(nil, &s))
	return req, nil
}

// Input implements Codec.
func (c *programCodec) Input(payload []byte) Input {
	return selectedInput(readInput(freeInput, payload), c.input, nil, payload)
}

// NewAnswer implements Codec.
func (c *programCodec) NewAnswer(remember bool) Answer {
	return &programAnswer{codec: c, format: framing.OrSSE(c.set.Framing), remember: remember}
}

// programReply is the Memory of an answer that a program has read.
type programReply string
