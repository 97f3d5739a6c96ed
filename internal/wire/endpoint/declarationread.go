package endpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/suggest"
	"aiperf/internal/measure/record"
	"aiperf/internal/text/jinja"
	"aiperf/internal/wire/framing"
)

// definition reads the entry of a declarative endpoint and collects what is wrong with it.
type definition struct {
	entry    *plugin.Entry
	into     *declaration
	mistakes []string // each begins with file:line
}

// readDefinition returns the endpoint type that an entry describes, and what is wrong with it.
func readDefinition(e *plugin.Entry) (*declaration, []string) {
	d := &definition{entry: e, into: &declaration{kind: Endpoint{Title: "LLM Metrics", ProducesTokens: true}}}
	d.metadata()
	request, response := d.child(e.Definition, "request"), d.child(e.Definition, "response")
	if request == nil {
		d.wrong(e.Definition, "request", "is missing; it needs a body")
	} else {
		d.request(request)
	}
	if response == nil {
		d.wrong(e.Definition, "response", "is missing; it says where the text of an answer is")
	} else {
		d.response(response)
	}
	d.agree()
	return d.into, d.mistakes
}

// wrong records a mistake at a node of the manifest.
func (d *definition) wrong(at *yaml.Node, key, format string, args ...any) {
	line := d.entry.Line
	if at != nil && at.Line > line {
		line = at.Line
	}
	d.mistakes = append(d.mistakes, fmt.Sprintf("%s: %s: %s %s", d.entry.At(line), d.entry.ID(), key, fmt.Sprintf(format, args...)))
}

// child returns the value of a key of a mapping; nil = it is not there, or empty.
func (d *definition) child(of *yaml.Node, key string) *yaml.Node {
	if of == nil {
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if value := followed(of.Content[i+1]); of.Content[i].Value == key && value.Tag != "!!null" {
			return value
		}
	}
	return nil
}

// followed returns what an alias stands for.
func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// each calls the reader of every key of a mapping. Keys without a reader, and keys that are given twice, are mistakes.
func (d *definition) each(of *yaml.Node, where string, readers map[string]func(key string, value *yaml.Node)) {
	if of.Kind != yaml.MappingNode {
		d.wrong(of, where, "must be a mapping with %s", strings.Join(slices.Sorted(maps.Keys(readers)), ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(of.Content); i += 2 {
		key, value := of.Content[i], followed(of.Content[i+1])
		full := where + "." + key.Value
		read, known := readers[key.Value]
		switch {
		case seen[key.Value]:
			d.wrong(key, full, "is given twice")
		case !known:
			d.wrong(key, full, "is not a key%s", d.allowed(key.Value, readers))
		case value.Tag != "!!null":
			read(full, value)
		}
		seen[key.Value] = true
	}
}

func (*definition) allowed(key string, readers map[string]func(string, *yaml.Node)) string {
	names := slices.Sorted(maps.Keys(readers))
	if near := suggest.Name(key, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; allowed are " + strings.Join(names, ", ")
}

// text reads a string; "" after a mistake.
func (d *definition) text(key string, value *yaml.Node) string {
	if value.Kind != yaml.ScalarNode || value.Value == "" {
		d.wrong(value, key, "must be a text")
		return ""
	}
	return value.Value
}

// texts reads a string or a list of strings.
func (d *definition) texts(key string, value *yaml.Node) (list []string) {
	nodes := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		nodes = value.Content
	}
	for _, n := range nodes {
		if text := d.text(key, followed(n)); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// template reads a Jinja template.
func (d *definition) template(key string, value *yaml.Node) *jinja.Template {
	page, err := templates().Parse(d.text(key, value))
	if err != nil {
		d.wrong(value, key, "is not a Jinja template: %v", err)
	}
	return page
}

// templates returns the environment of templates in manifests: that of chat templates, but a variable that is not there is an error.
func templates() *jinja.Environment {
	e := jinja.Chat()
	e.Strict = true
	return e
}

// selector reads a JMESPath expression.
func (d *definition) selector(key string, value *yaml.Node) *selector {
	text := d.text(key, value)
	if text == "" {
		return nil
	}
	x, err := newSelector(text)
	if err != nil {
		d.wrong(value, key, "%q is not a JMESPath expression: %v", text, err)
		return new(selector) // never evaluated; nil would read as a missing expression
	}
	return x
}

// selects returns a reader that stores an expression.
func (d *definition) selects(into **selector) func(string, *yaml.Node) {
	return func(key string, value *yaml.Node) { *into = d.selector(key, value) }
}

// request reads how requests are made.
func (d *definition) request(of *yaml.Node) {
	d.each(of, "request", map[string]func(string, *yaml.Node){
		"method": func(key string, value *yaml.Node) {
			d.into.method = d.text(key, value)
			if d.into.method != "" && !slices.Contains([]string{"POST", "PUT", "PATCH"}, d.into.method) {
				d.wrong(value, key, "%q is not allowed; use POST, PUT or PATCH", d.into.method)
			}
		},
		"headers": d.headers,
		"body": func(key string, value *yaml.Node) {
			d.into.body = d.template(key, value)
			d.into.chat = strings.Contains(value.Value, "messages")
			d.into.sentOnce = strings.Contains(value.Value, "request_i") // request_id, request_info
		},
		"api_key_header": func(key string, value *yaml.Node) {
			if d.into.keyHeader = d.text(key, value); !headerName(d.into.keyHeader) {
				d.wrong(value, key, "%q is not the name of a header", d.into.keyHeader)
			}
		},
		"input":  d.inputs,
		"images": d.selects(&d.into.images),
		"extra":  func(key string, value *yaml.Node) { d.into.extrasIn = d.text(key, value) },
	})
	if of.Kind == yaml.MappingNode && d.child(of, "body") == nil {
		d.wrong(of, "request.body", "is missing; it is a Jinja template whose output is JSON")
	}
}

// inputs reads the expressions of texts in a body that count as input.
func (d *definition) inputs(key string, value *yaml.Node) {
	for _, text := range d.texts(key, value) {
		x, err := newSelector(text)
		if err != nil {
			d.wrong(value, key, "%q is not a JMESPath expression: %v", text, err)
		}
		d.into.input = append(d.into.input, x)
	}
}

func (d *definition) headers(key string, value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		d.wrong(value, key, "must be a mapping of names to values")
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		name := value.Content[i].Value
		if !headerName(name) {
			d.wrong(value.Content[i], key, "%q is not the name of a header", name)
			continue
		}
		d.into.headers = append(d.into.headers, templateHeader{name, d.template(key+"."+name, followed(value.Content[i+1]))})
	}
}

// headerName reports whether a text is a token of HTTP.
func headerName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !isLetter(c) && !strings.ContainsRune("0123456789!#$%&'*+-.^_`|~", c)
	})
}

// framings are the names of framings in manifests.
var framings = map[string]framing.Format{"sse": framing.SSE, "ndjson": framing.NDJSON{}, "json": framing.Documents{}, "eventstream": framing.EventStream{}, "raw": framing.Text{}}

// framing reads the name of a framing.
func (d *definition) framing(key string, value *yaml.Node) {
	format, ok := framings[value.Value]
	if !ok {
		d.wrong(value, key, "%q is not allowed; use %s", value.Value, strings.Join(slices.Sorted(maps.Keys(framings)), ", "))
	}
	d.into.response.framing = format
}

// response reads where things are in an answer.
func (d *definition) response(of *yaml.Node) {
	r := &d.into.response
	items := func(kind record.Kind) func(string, *yaml.Node) {
		return func(key string, value *yaml.Node) {
			if r.items != nil {
				d.wrong(value, key, "cannot be combined with another kind of content")
			}
			r.items, r.itemKind, d.into.kind.Produces = d.selector(key, value), kind, kind
		}
	}
	d.each(of, "response", map[string]func(string, *yaml.Node){
		"framing": d.framing,
		"end": func(key string, value *yaml.Node) {
			for _, text := range d.texts(key, value) {
				r.end = append(r.end, []byte(text))
			}
		},
		"text": d.selects(&r.text), "reasoning": d.selects(&r.reasoning), "tool_calls": d.selects(&r.tools), "finish_reason": d.selects(&r.finish),
		"error": d.selects(&r.failure), "usage": d.usage, "poll": d.polling,
		"embeddings": items(record.Embeddings), "rankings": items(record.Rankings), "images": items(record.Images), "videos": items(record.Video), "items": items(record.Other),
	})
	if of.Kind != yaml.MappingNode {
		return
	}
	_, raw := r.framing.(framing.Text)
	switch {
	case raw && (r.text != nil || r.reasoning != nil || r.tools != nil || r.items != nil || len(r.end) > 0 || r.failure != nil || r.usage != nil || r.counts != nil):
		d.wrong(of, "response", "with framing raw has no expressions: the whole answer is text")
	case !raw && r.text == nil && r.reasoning == nil && r.tools == nil && r.items == nil && d.into.poll == nil:
		d.wrong(of, "response.text", "is missing; it is the JMESPath expression of the text in a message of an answer")
	}
}

// usageNames are the token counts that a manifest can name, and their places in a usage object.
var usageNames = []usageNumber{{path: "prompt_tokens"}, {path: "completion_tokens"}, {path: "total_tokens"},
	{path: promptDetails + ".cached_tokens"}, {path: completionDetails + ".reasoning_tokens"}}

// usage reads the expression of a usage object, or one expression for each number.
func (d *definition) usage(key string, value *yaml.Node) {
	r := &d.into.response
	if value.Kind == yaml.ScalarNode {
		r.usage = d.selector(key, value)
		return
	}
	readers := map[string]func(string, *yaml.Node){}
	for _, n := range usageNames {
		name := n.path[strings.LastIndexByte(n.path, '.')+1:]
		readers[name] = func(key string, value *yaml.Node) {
			r.counts = append(r.counts, usageNumber{n.path, d.selector(key, value)})
		}
	}
	d.each(value, key, readers)
}

// polling reads how an answer that takes long is fetched.
func (d *definition) polling(key string, value *yaml.Node) {
	p := &pollRules{}
	d.into.poll = p
	d.each(value, key, map[string]func(string, *yaml.Node){
		"url": d.selects(&p.url), "until": d.selects(&p.until), "failed": d.selects(&p.failed), "download": d.selects(&p.download),
		"interval": func(key string, value *yaml.Node) {
			var err error
			if p.interval, err = time.ParseDuration(value.Value); err != nil || p.interval <= 0 {
				d.wrong(value, key, "is %q, but a time such as 500ms or 2s is needed", value.Value)
			}
		},
	})
	if value.Kind == yaml.MappingNode && (p.url == nil || p.until == nil) {
		d.wrong(value, key, "needs url (where the job is polled) and until (true for its last state)")
	}
}

// agree checks what depends on several keys.
func (d *definition) agree() {
	k := &d.into.kind
	if d.into.poll != nil && k.Streams {
		d.wrong(nil, "response.poll", "cannot be combined with supports_streaming: true, because a job has no stream")
	}
	if k.Produces != record.Text && k.ProducesTokens {
		d.wrong(nil, "metadata.produces_tokens", "must be false, because the answers are not text")
	}
}
