package endpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmespath/go-jmespath"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// extra is an extra whose value is a text.
func extra(key, value string) Member {
	raw, _ := json.Marshal(value)
	return Member{key, raw}
}

func TestTemplateBodies(t *testing.T) {
	n := 5
	file := filepath.Join(t.TempDir(), "page.j2")
	if err := os.WriteFile(file, []byte("{\"q\": {{ query|tojson }},\n \"p\": {{ passages|tojson }}, \"turns\": {{ turns|length }}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := func(source string, more ...Member) Settings {
		return Settings{Extras: append([]Member{extra("payload_template", source), extra("response_field", "a")}, more...)}
	}
	parts := append(conversation.Texts("text", "a<b", ""), picture("https://h/x"), picture("data:image/png;base64,AAAA"),
		conversation.Part{Kind: conversation.Audio, Blob: conversation.Authored(conversation.Audio, "wav,AAAA")})
	for _, c := range []bodyTest{
		{endpoint: "template", set: page(`{"t":{{ text|tojson }},"l":{{ texts|tojson }},"i":{{ images|tojson }},"a":{{ audio|tojson }},"v":{{ video|tojson }},"n":{{ texts_by_name|tojson }}}`),
			turn: conversation.Turn{Parts: parts},
			body: `{"t":"a<b","l":["a<b"],"i":["https://h/x","data:image/png;base64,AAAA"],"a":"wav,AAAA","v":null,"n":{"text":["a<b"]}}`},
		{endpoint: "template", set: page(`{"m":{{ model|tojson }},"n":{{ max_tokens|tojson }},"s":{{ stream|tojson }},"r":{{ turn.role|tojson }}}`, Member{"k", json.RawMessage("1")}),
			turn: conversation.Turn{MaxTokens: &n, Role: "user", ExtraBody: json.RawMessage(`{"m":"z"}`)}, body: `{"m":"z","n":5,"s":false,"r":"user","k":1}`},
		{endpoint: "template", set: page(file), turn: conversation.Turn{Parts: append(conversation.Texts("query", "q"), conversation.Texts("passages", "x", "y")...)},
			history: History{Past: []PastTurn{{Turn: &conversation.Turn{}}}}, body: `{"q":"q","p":["x","y"],"turns":2}`},
		{endpoint: "template", set: page(`[{% for t in texts %}{{ t|tojson }}{{ "," if not loop.last }}{% endfor %}]`), turn: conversation.Turn{Parts: conversation.Texts("", "a", "b")}, body: `["a","b"]`},
		{endpoint: "template", set: page(`[1]`, Member{"k", json.RawMessage("1")}), failure: "must be an object"},
		{endpoint: "template", set: page(`{"t":"{{ text }}`), turn: conversation.Turn{Origin: "f:1"}, failure: "f:1: the output of payload_template is not JSON"},
		{endpoint: "template", set: page(`{{ '"' ~ text ~ '"' }}`), turn: conversation.Turn{Parts: conversation.Texts("", "a")}, failure: "{{ value|tojson }}"},
		{endpoint: "template", set: page(`{{ text.nothing.at_all }}`), failure: "payload_template: "},
		{endpoint: "template", set: page(`{}`), turn: conversation.Turn{RawPayload: []byte(`{ }`)}, body: `{ }`},
		{endpoint: "raw", set: Settings{Extras: []Member{extra("k", "v")}}, turn: conversation.Turn{RawPayload: []byte(`{ "a":1 }`)}, body: `{ "a":1 }`},
		{endpoint: "raw", turn: conversation.Turn{Origin: "f:1", Parts: parts}, failure: "f:1: endpoint type raw sends complete bodies"},
	} {
		c.check(t)
	}
}

// TestTemplateIdentity: a template that speaks of the request is rendered for every request.
func TestTemplateIdentity(t *testing.T) {
	c := codec(t, "template", Settings{Extras: []Member{extra("payload_template", `{"id": {{ request_info.x_request_id|tojson }}}`)}})
	r, err := c.Encode(&conversation.Turn{}, &History{RequestID: "r1"})
	if err != nil || string(r.Body.Bytes()) != `{"id":"r1"}` || !r.SentOnce {
		t.Errorf("%s, once %v, %v", r.Body.Bytes(), r.SentOnce, err)
	}
}

func TestTemplatesThatCannotBeOpened(t *testing.T) {
	for _, c := range []struct {
		extras []Member
		want   string
	}{
		{nil, "needs endpoint.extra payload_template"},
		{[]Member{{"payload_template", json.RawMessage("5")}}, "payload_template: must be a text"},
		{[]Member{extra("payload_template", "{% if %}")}, "payload_template: "},
		{[]Member{extra("payload_template", "{}"), extra("response_field", "a[")}, "response_field"},
	} {
		e, _, _ := Lookup("template")
		if _, err := e.Open(Settings{Extras: c.extras}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.extras, err, c.want)
		}
	}
}

// TestFreeAnswers: which parts of an answer of any shape are content.
func TestFreeAnswers(t *testing.T) {
	for _, c := range []struct {
		field, body, output string
		kind                record.Kind
		content             bool
	}{
		{"", `{"content":null,"response":["a","b"]}`, "ab", record.Text, true},
		{"", `{"data":[{"object":"embedding","embedding":[1]}],"text":"x"}`, "", record.Embeddings, true},
		{"", `{"data":[{"embedding":[1]}],"text":"x"}`, "x", record.Text, true},
		{"", `{"embedding":[],"rankings":[{"index":0}],"text":"x"}`, "", record.Rankings, true},
		{"", `"quoted"`, "quoted", record.Text, true},
		{"", `42`, "42", record.Text, true},
		{"", `null`, "", 0, false},
		{"", `[[0.1],[0.2]]`, "", record.Embeddings, true},
		{"", `{"choices":[{"delta":{"content":"d"}},{"text":"z"}]}`, "d", record.Text, true},
		{"a[0].b", `{"a":[{"b":"é"}],"text":"x"}`, "é", record.Text, true},
		{"a[*].b | [0]", `{"a":[{"b":"1"},{"b":"2"}]}`, "1", record.Text, true},
		{"a", `{"a":["x"],"text":"x"}`, "", 0, false},
		{"a", `{"a":[[1,2],[3]]}`, "", record.Embeddings, true},
		{"a", `{"a":[{"score":1}]}`, "", record.Rankings, true},
		{"length(a)", `{"a":[1]}`, "", 0, false},
		{"sort(a)", `{"a":5}`, "", 0, false},
		{"a", `no JSON`, "no JSON", record.Text, true},
	} {
		set := Settings{Extras: []Member{extra("response_field", c.field)}}
		reply, failure := Decode(codec(t, "raw", set), &record.Record{Messages: []record.Message{{Body: true, Raw: []byte(c.body)}}}, DecodeOptions{NoInput: true})
		if (failure == nil) != c.content || reply.Output != c.output || c.content && reply.Contents[0].Kind != c.kind {
			t.Errorf("%s of %s: %q, %+v, %v", c.field, c.body, reply.Output, reply.Contents, failure)
		}
	}
}

// FuzzSelected: no expression over no document panics, and what is taken of a value is content of its kind.
func FuzzSelected(f *testing.F) {
	f.Add("a.b", `{"a":{"b":"x"}}`)
	f.Add("a[*].b | [0]", `{"a":[{"b":[0.1]}]}`)
	f.Add("sort_by(@, &a)[-1]", `[{"a":1},{"a":"x"}]`)
	f.Add("a[1:3:-1]", `{"a":[1,2,3]}`)
	f.Fuzz(func(t *testing.T, expression, doc string) {
		field, err := jmespath.Compile(expression)
		if err != nil || !json.Valid([]byte(doc)) {
			return
		}
		value := searched(field, treeOf([]byte(doc)))
		var c chunk
		c.setContent(value)
		if s, ok := value.(string); ok != c.delta.set || ok && c.delta.content.String() != s && strings.ToValidUTF8(s, "") == s {
			t.Errorf("%q of %q: %v gave %q", expression, doc, value, c.delta.content)
		}
		if _, list := value.([]any); c.items > 0 && !list {
			t.Errorf("%q of %q: %d items of %v", expression, doc, c.items, value)
		}
	})
}

// TestPayloadList: a list of one payload is that payload where the user says so; any other list is refused then.
func TestPayloadList(t *testing.T) {
	list := codec(t, "template", Settings{Extras: []Member{extra("payload_template", `[{% for x in texts %}{"text": {{ x|tojson }}}{% if not loop.last %},{% endif %}{% endfor %}]`),
		{Key: payloadList, Value: []byte("true")}, extra("k", "v")}})
	req, err := list.Encode(&conversation.Turn{Parts: conversation.Texts("", "a")}, &History{})
	if err != nil || string(req.Body.Bytes()) != `{"text":"a","k":"v"}` {
		t.Errorf("%s %v", req.Body.Bytes(), err)
	}
	_, err = list.Encode(&conversation.Turn{Parts: conversation.Texts("", "a", "b")}, &History{})
	contains(t, "two texts", err, "returns 2 payloads")
	object := codec(t, "template", Settings{Extras: []Member{extra("payload_template", `{"text": {{ text|tojson }}}`), {Key: payloadList, Value: []byte("true")}}})
	_, err = object.Encode(&conversation.Turn{Parts: conversation.Texts("", "a")}, &History{})
	contains(t, "no list", err, "must be a list because of payload_list:true")
	if told := templateRemarks(&conversation.Turn{Parts: conversation.Texts("", "a", "b")}); len(told) != 1 {
		t.Errorf("%q", told)
	}
}

// TestMissedField: the failure of an answer in which response_field selects no content says what it selects. The server's own error counts more.
func TestMissedField(t *testing.T) {
	c := codec(t, "raw", Settings{Extras: []Member{extra("response_field", "a.b")}})
	for body, want := range map[string]string{
		`{"text":"x"}`:         "; response_field a.b selects nothing in the answer",
		`{"a":{"b":7}}`:        "; response_field a.b selects a number, not a text",
		`{"a":{"b":true}}`:     "; response_field a.b selects true or false, not a text",
		`{"a":{"b":{"c":""}}}`: "; response_field a.b selects an object, not a text",
		`{"a":{"b":[]}}`:       "; response_field a.b selects an empty list",
		`{"a":{"b":["x"]}}`:    "; response_field a.b selects a list that is neither of numbers nor of objects",
		`{"a":{"b":""}}`:       "; response_field a.b selects an empty text",
		`{"error":"busy"}`:     `; the server said: "busy"`,
	} {
		rec := &record.Record{End: 9, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(body)}}}
		_, failure := Decode(c, rec, DecodeOptions{})
		if failure == nil || failure.Message != "Invalid inference result: No responses with actual content were received"+want {
			t.Errorf("%s: %+v", body, failure)
		}
	}
}
