package endpoint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/text/jinja"
	"aiperf/internal/workload/conversation"
)

// templateCodec sends bodies that the user's Jinja2 template produces (endpoints, section 9.16).
type templateCodec struct {
	*jsonCodec
	page     *jinja.Template
	what     string // name of the template in errors
	sentOnce bool   // the template may use values that differ for each request
	list     bool   // the template produces a list of payloads, as in GenAI-Perf, instead of one payload
}

// templateExtra is the extra that holds the template.
const templateExtra = "payload_template"

// maxTemplate is the maximum size of a template, in bytes.
const maxTemplate = 16 << 20

// namedTemplates are the built-in templates.
var namedTemplates = map[string]string{"nv-embedqa": `{"text": {{ texts|tojson }}}`}

func openTemplate(s Settings) (Codec, error) {
	source, err := consume(&s, templateExtra)
	if err != nil {
		return nil, err
	}
	if source == "" && !s.ReadOnly {
		return nil, errors.New(s.Spell.Text("{endpoint.type} template needs {endpoint.extra} payload_template: a file, a known name (nv-embedqa) or the text of a Jinja2 template ") +
			`such as {"text": {{ text|tojson }}} (if it contains commas, put it in a file or write it as one JSON object)`)
	}
	field, err := responseField(&s)
	if err != nil {
		return nil, err
	}
	if s.ReadOnly {
		t := freeType(field)
		return t.open(s)
	}
	list := switchedOn(&s, payloadList)
	where := s.Spell.As("endpoint.extra") + " " + templateExtra
	if known, ok := namedTemplates[source]; ok {
		source = known
	} else if info, err := os.Stat(source); err == nil && !info.IsDir() {
		where += " " + source
		raw, err := boundedfile.ReadAll(source, maxTemplate)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		source = string(raw)
	}
	page, err := (&jinja.Environment{AutoEscape: true}).Parse(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	t := freeType(field)
	inner, err := t.open(s)
	if err != nil {
		return nil, err
	}
	return &templateCodec{inner.(*jsonCodec), page, templateExtra, strings.Contains(source, "request_info"), list}, nil
}

// payloadList is the extra that announces a template with a list of payloads.
const payloadList = "payload_list"

// switchedOn removes a boolean extra from the list and returns its value.
func switchedOn(s *Settings, key string) (on bool) {
	s.Extras = slices.DeleteFunc(slices.Clone(s.Extras), func(m Member) bool {
		if m.Key == key {
			on = string(m.Value) == "true"
		}
		return m.Key == key
	})
	return on
}

// onlyElement returns the number of elements of a list, and the element if there is only one; n = -1: not a list.
func onlyElement(value []byte) (element []byte, n int) {
	s := jsontext.Scanner{Doc: value}
	if s.Kind() != '[' {
		return nil, -1
	}
	elements(&s, func() { element, n = s.Raw(), n+1 })
	return element, n
}

// templateRemarks reports rows with several texts, for which GenAI-Perf's templates sent several requests.
func templateRemarks(t *conversation.Turn) []string {
	if len(t.Contents()) < 2 {
		return nil
	}
	return []string{"the template's output is sent as one request, even if it is a list. For a template of GenAI-Perf, which returns a list of payloads, add the extra input " + payloadList +
		":true and put one text in each row"}
}

// Encode implements Codec.
func (c *templateCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	if t.RawPayload != nil {
		return Request{Body: record.Plain(t.RawPayload)}, nil
	}
	vars, err := c.vars(t, h)
	if err != nil {
		return Request{}, err
	}
	out, err := c.render(t, vars)
	return Request{Body: out, SentOnce: c.sentOnce}, err
}

// render returns the body that the template makes of its variables.
func (c *templateCodec) render(t *conversation.Turn, vars map[string]jinja.Value) (record.Body, error) {
	said, err := c.page.Render(vars)
	if err != nil {
		return record.Body{}, invalid(t, "%s: %v", c.what, err)
	}
	return c.finish(t, said)
}

// finish parses the template's output as JSON and sets the extras and the turn's own members.
func (c *templateCodec) finish(t *conversation.Turn, said string) (record.Body, error) {
	s := jsontext.Scanner{Doc: []byte(said)}
	value := jsontext.AppendCompact(nil, &s)
	if !s.Done() {
		hint := ""
		if strings.Contains(said, "&#34;") || strings.Contains(said, "&#39;") || strings.Contains(said, "&amp;") || !strings.Contains(said, `"`) {
			hint = "; quotes are escaped as HTML, so write values as {{ value|tojson }}"
		}
		return record.Body{}, invalid(t, "the output of %s is not JSON: %.120q%s", c.what, said, hint)
	}
	if c.list {
		only, n := onlyElement(value)
		switch {
		case n < 0:
			return record.Body{}, invalid(t, "the output of %[3]s must be a list because of %[2]s:true, but it is %.80[1]q", value, payloadList, c.what)
		case n != 1:
			return record.Body{}, invalid(t, "%s returns %d payloads with %s, but a request holds one; put one text in each row", c.what, n, payloadList)
		}
		value = only
	}
	s = jsontext.Scanner{Doc: value}
	if s.Kind() != '{' {
		if len(c.extras.members) > 0 || t.ExtraBody != nil {
			return record.Body{}, invalid(t, "the output of %s must be an object, so that extra inputs can be added to it; it is %.80q", c.what, value)
		}
		return record.Plain(value), nil
	}
	var b object
	b.merge(&s)
	c.addExtras(&b)
	if t.ExtraBody != nil {
		extra := jsontext.Scanner{Doc: t.ExtraBody}
		b.merge(&extra)
		if !extra.Done() {
			return record.Body{}, invalid(t, "extra body: %.80q is not a JSON object", t.ExtraBody)
		}
	}
	return b.ranges(), nil
}
