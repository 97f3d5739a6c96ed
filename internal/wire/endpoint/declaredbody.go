package endpoint

import (
	"net/url"
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/text/jinja"
	"aiperf/internal/workload/conversation"
)

// declaredCodec is the codec of a declarative endpoint type in a run.
type declaredCodec struct {
	*templateCodec
	*declaration
	path string // path of requests if it contains the model; "" = the URL of the endpoint
}

// modelPlace is the part of a path that the model's name replaces.
const modelPlace = "{model}"

// open makes the codec of a run.
func (d *declaration) open(s Settings) (Codec, error) {
	t := d.answerType()
	inner, err := t.open(s)
	if err != nil {
		return nil, err
	}
	c := &declaredCodec{&templateCodec{jsonCodec: inner.(*jsonCodec), page: d.body, what: "request.body of the plug-in", sentOnce: d.sentOnce}, d, ""}
	if path := d.kind.URLPath(s.Streaming); strings.Contains(path, modelPlace) {
		c.path = path
	}
	return c, nil
}

// Encode implements Codec.
func (c *declaredCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	req := Request{Method: c.method, SentOnce: c.templateCodec.sentOnce}
	if c.path != "" {
		req.Path = strings.ReplaceAll(c.path, modelPlace, url.PathEscape(c.set.model(t)))
	}
	vars, err := c.variables(t, h)
	if err != nil {
		return Request{}, err
	}
	for i := range c.headers {
		value, err := c.headers[i].value.Render(vars)
		if err == nil && strings.ContainsAny(value, "\r\n") {
			return Request{}, invalid(t, "header %s of the plug-in: the value has a line end", c.headers[i].name)
		}
		if err != nil {
			return Request{}, invalid(t, "header %s of the plug-in: %v", c.headers[i].name, err)
		}
		req.Headers = append(req.Headers, record.Header{Name: c.headers[i].name, Value: value})
	}
	if t.RawPayload != nil {
		req.Body = record.Plain(t.RawPayload)
		return req, nil
	}
	req.Body, err = c.render(t, vars)
	return req, err
}

// variables returns those of the type template, and the chat so far.
func (c *declaredCodec) variables(t *conversation.Turn, h *History) (map[string]jinja.Value, error) {
	vars, err := c.vars(t, h)
	if err != nil {
		return nil, err
	}
	vars["prompt"] = h.text() + strings.Join(t.Contents(), " ")
	vars["system"], vars["request_id"], vars["messages"], vars["tools"] = orNone(h.System), h.RequestID, nil, nil
	if !c.chat {
		return vars, nil
	}
	b := bodies.Get().(*body)
	defer bodies.Put(b)
	b.reset()
	b.set, b.streamOptions = &c.set, false
	if err := b.messages(t, h); err != nil {
		return nil, err
	}
	if err := b.tools(t, h); err != nil {
		return nil, err
	}
	for _, name := range []string{"messages", "tools"} {
		i := b.find(name)
		if i < 0 {
			continue
		}
		if vars[name], err = jinja.FromJSON(b.value(i)); err != nil {
			return nil, invalid(t, "%s: %v", name, err)
		}
	}
	return vars, nil
}

// Input implements Codec.
func (c *declaredCodec) Input(payload []byte) Input {
	return selectedInput(c.jsonCodec.Input(payload), c.input, c.images, payload)
}

// selectedInput replaces parts of an input by what expressions select in the payload.
func selectedInput(in Input, texts []*selector, images *selector, payload []byte) Input {
	if len(texts) == 0 && images == nil {
		return in
	}
	tree := treeOf(payload)
	if len(texts) > 0 {
		in.Texts, in.Tokens = nil, 0
	}
	for _, x := range texts {
		in.addSelected(x.in(tree))
	}
	if images != nil {
		in.Images = 0
		switch v := images.in(tree).(type) {
		case []any:
			in.Images = len(v)
		case string:
			in.Images = 1
		case float64:
			in.Images = int(v)
		}
	}
	return in
}

// addSelected adds texts, and numbers of a list as token ids.
func (in *Input) addSelected(value any) {
	switch v := value.(type) {
	case string:
		in.Texts = append(in.Texts, v)
	case []any:
		for _, e := range v {
			if _, isNumber := e.(float64); isNumber {
				in.Tokens++
				continue
			}
			in.addSelected(e)
		}
	}
}

// NewAnswer implements Codec.
func (c *declaredCodec) NewAnswer(remember bool) Answer {
	a := c.newAnswer(remember)
	if c.poll == nil {
		return a
	}
	return &polledAnswer{rules: c.poll, response: &c.response, set: &c.set, final: a}
}
