package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// answerType returns the type that reads answers by the rules of a manifest.
func (d *declaration) answerType() jsonType {
	r := &d.response
	t := jsonType{input: freeInput, extrasIn: d.extrasIn, after: r.read, fails: declaredFailure,
		member: func(*jsonAnswer, *jsontext.Scanner, []byte) bool { return false },
		array:  func(_ *jsonAnswer, s *jsontext.Scanner) bool { s.Skip(); return true }}
	if _, t.verbatim = r.framing.(framing.Text); t.verbatim {
		t.decodePlain = looseAnswer
	}
	if d.chat {
		t.newMemory = func() memoryBuilder { return new(chatMemory) }
	}
	return t
}

// declaredDoc is what was read of an answer besides its texts.
type declaredDoc struct {
	usage   map[string]float64 // the latest numbers
	failure *record.Error      // of the current document
}

// read interprets a document.
func (r *answerRules) read(d *jsonAnswer) {
	if d.verbatim {
		return
	}
	state, c, p := stateOf[declaredDoc](d), &d.chunk, &d.chunk.delta
	tree := treeOf(d.scan.Doc)
	state.failure = r.failureIn(tree)
	p.reset()
	p.set = true
	if text, ok := r.text.textIn(tree); ok {
		p.content = jsontext.Text{Raw: []byte(text), Set: true}
	}
	if text, ok := r.reasoning.textIn(tree); ok {
		p.reasoning = jsontext.Text{Raw: []byte(text), Set: true}
	}
	p.selectedCalls(r.tools.in(tree))
	if text, ok := r.finish.textIn(tree); ok {
		c.finish = jsontext.Text{Raw: []byte(text), Set: true}
	}
	if list := r.itemsIn(tree); list > 0 {
		c.kind, c.items = r.itemKind, list
	}
	r.readUsage(c, state, tree)
}

// itemsIn returns the number of elements of an answer that is not text.
func (r *answerRules) itemsIn(tree any) int {
	switch v := r.items.in(tree).(type) {
	case nil:
		return 0
	case []any:
		if len(v) > 0 && allNumbers(v) {
			return 1 // one vector
		}
		return len(v)
	case string:
		if v == "" {
			return 0
		}
	}
	return 1
}

// readUsage reads the token counts of a document. Numbers of earlier documents stay until they are replaced.
func (r *answerRules) readUsage(c *chunk, state *declaredDoc, tree any) {
	if value, ok := r.usage.in(tree).(map[string]any); ok && len(value) > 0 {
		if raw, err := json.Marshal(value); err == nil {
			c.usage = raw
		}
	}
	some := false
	for _, n := range r.counts {
		if v, ok := n.at.in(tree).(float64); ok {
			if state.usage == nil {
				state.usage = map[string]float64{}
			}
			state.usage[n.path], some = v, true
		}
	}
	if some {
		c.usage = usageObject(r.counts, state.usage)
	}
}

// usageObject writes numbers as a usage object with the usual names.
func usageObject(counts []usageNumber, values map[string]float64) []byte {
	o, inner := jsontext.Open(nil), map[string]jsontext.Object{}
	for _, n := range counts {
		v, ok := values[n.path]
		if !ok {
			continue
		}
		outer, name, nested := strings.Cut(n.path, ".")
		if !nested {
			o.Raw(n.path, strconv.AppendFloat(nil, v, 'f', -1, 64))
			continue
		}
		i, ok := inner[outer]
		if !ok {
			i = jsontext.Open(nil)
		}
		i.Raw(name, strconv.AppendFloat(nil, v, 'f', -1, 64))
		inner[outer] = i
	}
	for _, outer := range []string{promptDetails, completionDetails} {
		if i, ok := inner[outer]; ok {
			o.Raw(outer, i.Close())
		}
	}
	return o.Close()
}

// Objects with details in a usage object.
const (
	promptDetails     = "prompt_tokens_details"
	completionDetails = "completion_tokens_details"
)

// failureIn returns the failure that a document of a stream reports; nil = none.
func (r *answerRules) failureIn(tree any) *record.Error {
	return r.failureOf(tree, record.Error{Code: defaultCode, Type: framing.OrSSE(r.framing).Failure()})
}

// jobFailureIn returns the failure that a state of a job reports; nil = none.
func (r *answerRules) jobFailureIn(tree any) *record.Error { return r.failureOf(tree, r.jobError("")) }

// jobError returns the error of a failed job. The Python tool has the code 500 for every endpoint that polls, and the same type for videos.
func (r *answerRules) jobError(message string) record.Error {
	e := record.Error{Code: 500, Type: "JobError", Message: message}
	if r.itemKind == record.Video {
		e.Type = videoErrorType
	}
	return e
}

// failureOf returns the failure that a document reports; nil = none. as has its type, and the code if the document names none.
func (r *answerRules) failureOf(tree any, as record.Error) *record.Error {
	if !r.failure.holds(tree) {
		return nil
	}
	raw, err := json.Marshal(r.failure.in(tree))
	if err != nil {
		return nil
	}
	as.Message = string(raw)
	if v, err := fastjson.ParseBytes(raw); err == nil && v.Type() != fastjson.TypeTrue {
		f := describe(v, as.Code)
		as.Code, as.Message = f.code, f.message
	}
	return &as
}

// declaredFailure returns the failure that the current document reports.
func declaredFailure(d *jsonAnswer) *record.Error {
	if state, ok := d.state.(*declaredDoc); ok {
		return state.failure
	}
	return nil
}

// hasContent reports whether a document holds content.
func (r *answerRules) hasContent(doc []byte) bool {
	tree := treeOf(doc)
	text, _ := r.text.textIn(tree)
	reasoning, _ := r.reasoning.textIn(tree)
	return text != "" || reasoning != "" || r.tools.holds(tree) || r.itemsIn(tree) > 0
}

// selectedCalls reads tool calls as OpenAI writes them, or with name and arguments (or input) at their top level.
func (p *part) selectedCalls(value any) {
	list, ok := value.([]any)
	if !ok {
		if value == nil {
			return
		}
		list = []any{value}
	}
	for i, e := range list {
		members, ok := e.(map[string]any)
		if !ok {
			continue
		}
		c := call{index: i, id: textMember(members, "id"), kind: textMember(members, "type")}
		if at, ok := members["index"].(float64); ok {
			c.index = int(at)
		}
		if inner, ok := members["function"].(map[string]any); ok {
			members = inner
		}
		c.name, c.arguments = textMember(members, "name"), textMember(members, "arguments", "parameters", "args", "input")
		p.tools = append(p.tools, c)
	}
}

// textMember returns the first member that is there: a string as it is, another value as JSON.
func textMember(members map[string]any, names ...string) jsontext.Text {
	for _, name := range names {
		switch v := members[name].(type) {
		case nil:
		case string:
			return jsontext.Text{Raw: []byte(v), Set: true}
		default:
			if raw, err := json.Marshal(v); err == nil {
				return jsontext.Text{Raw: raw, Set: true}
			}
		}
	}
	return jsontext.Text{}
}
