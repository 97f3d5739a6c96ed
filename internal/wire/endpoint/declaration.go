package endpoint

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/measure/record"
	"aiperf/internal/text/jinja"
	"aiperf/internal/wire/framing"
)

// declaration is an endpoint type that a plug-in manifest describes without a program: a template for bodies, and where things are in an answer.
type declaration struct {
	kind Endpoint // abilities, from the metadata

	method    string // of requests; "" = POST
	keyHeader string // header for the API key; "" = the key is sent as a Bearer token
	body      *jinja.Template
	headers   []templateHeader
	extrasIn  string      // member of the body, an object, that receives extra inputs; "" = the body itself
	chat      bool        // the body uses "messages": the list of messages so far
	sentOnce  bool        // the body may differ for each request
	input     []*selector // texts of a body that count as input; none = those of the well-known members
	images    *selector   // images of a body

	response answerRules
	poll     *pollRules // nil = the first answer is the whole one
}

// templateHeader is a header whose value is a template.
type templateHeader struct {
	name  string
	value *jinja.Template
}

// answerRules say where things are in a document of an answer: an event of a stream, or a whole body.
type answerRules struct {
	framing   framing.Format
	end       [][]byte  // texts that only the last message contains
	text      *selector // nil = not in an answer; likewise the following
	reasoning *selector
	tools     *selector
	finish    *selector
	failure   *selector
	items     *selector // elements of an answer that is not text
	itemKind  record.Kind
	usage     *selector     // an object with the usual names
	counts    []usageNumber // single numbers of usage
}

// usageNumber is a token count in an answer.
type usageNumber struct {
	path string // place in a usage object with the usual names
	at   *selector
}

// pollRules say how an answer that takes long is fetched.
type pollRules struct {
	url      *selector // address or path of the job
	until    *selector // true for the last state of the job
	failed   *selector // true if the job has failed; nil = the error selects that
	download *selector // address of the result; nil = the last state holds it
	interval time.Duration
}

// endpointOf returns the endpoint type of a declarative plug-in. name is the one that the user gave.
func (d *declaration) endpointOf(e *plugin.Entry, name string) *Endpoint {
	one := d.kind
	one.Name, one.Summary = name, e.FirstLine()
	one.Replies, one.FollowsUp = d.chat, d.poll != nil
	one.Framing = declaredFormat{framing.OrSSE(d.response.framing), &d.response}
	one.Open = func(s Settings) (Codec, error) { return d.open(s) }
	if d.keyHeader != "" {
		one.Auth = func(key string, _ []record.Header) []record.Header {
			if key == "" {
				return []record.Header{}
			}
			return []record.Header{{Name: d.keyHeader, Value: key}}
		}
	}
	return &one
}

// declaredFormat is a framing whose end and failures a manifest describes.
type declaredFormat struct {
	framing.Format
	rules *answerRules
}

// Ends implements framing.Format.
func (f declaredFormat) Ends(raw []byte) (last, mark bool) {
	if last, mark = f.Format.Ends(raw); last || !slices.ContainsFunc(f.rules.end, func(text []byte) bool { return bytes.Contains(raw, text) }) {
		return last, mark
	}
	var e framing.Event
	f.Parse(&e, raw)
	return true, !f.rules.hasContent(e.Data())
}

// MayFail implements framing.Format.
func (f declaredFormat) MayFail(raw []byte, line bool) bool {
	return f.Format.MayFail(raw, line) || f.rules.failure != nil && f.rules.failure.mayMatch(raw)
}

// mayMatch reports whether an expression can select something in a text that contains a JSON document. It is cheap for paths: the text must contain
// their first name.
func (x *selector) mayMatch(raw []byte) bool {
	return x.first == nil || bytes.Contains(raw, x.first)
}

// firstName returns the first name of an expression that is a path, in quotes as in a document; nil = it is not a path.
func firstName(expression string) []byte {
	name := strings.TrimSpace(expression)
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	if name == "" || strings.ContainsFunc(expression, func(c rune) bool { return !strings.ContainsRune(".[]_0123456789", c) && !isLetter(c) }) {
		return nil
	}
	return []byte(`"` + name + `"`)
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
