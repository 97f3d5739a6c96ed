package endpoint

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/plugin"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// useManifests makes the manifests of a directory the installed ones.
func useManifests(t testing.TB, dir string) {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv(plugin.PathVariable, abs)
}

// examples are the manifests of docs/howto/examples/endpoints.
const examples = "../../../docs/howto/examples/endpoints"

// manifest makes a text the only installed manifest.
func manifest(t testing.TB, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "plugins.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	useManifests(t, dir)
	return file
}

// sameAnswer compares what a built-in type and its manifest make of an answer.
func sameAnswer(t *testing.T, builtIn, declared string, set Settings, rec func() *record.Record) {
	t.Helper()
	want, wantFailure := Decode(codec(t, builtIn, set), rec(), DecodeOptions{})
	got, failure := Decode(codec(t, declared, set), rec(), DecodeOptions{})
	want.MoreChoices = false // a manifest selects the text that counts and does not look at others
	if diff := cmp.Diff(wantFailure, failure); diff != "" {
		t.Errorf("failure (- built in, + declared): %s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply (- built in, + declared): %s", diff)
	}
}

// TestDeclaredAnswersAreThoseOfBuiltInTypes: the manifests of the examples give the same replies as the built-in types of the same APIs, for recorded
// answers, streams, their exports, and whole bodies.
func TestDeclaredAnswersAreThoseOfBuiltInTypes(t *testing.T) {
	useManifests(t, examples)
	recorded := 0
	for _, c := range goldenCases(t) {
		if c.EndpointType == "huggingface_generate" {
			recorded++
			t.Run(c.Name, func(t *testing.T) {
				sameAnswer(t, "huggingface_generate", "my_tgi", c.settings(), func() *record.Record { return c.record(t) })
			})
		}
	}
	if recorded < 9 {
		t.Errorf("only %d recorded answers", recorded)
	}
	const head = `{"model":"m","created_at":"2026-01-01T00:00:00.5Z",`
	message := func(members string) string {
		return head + `"message":{"role":"assistant",` + members + `},"done":false}`
	}
	end := head + `"message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":26,"eval_count":298}`
	for name, docs := range map[string][]string{
		"text":                     {message(`"content":"The"`), message(`"content":" sky é\n"`), end},
		"reasoning":                {message(`"content":"","thinking":"hm"`), message(`"content":"x"`), end},
		"calls":                    {message(`"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":[1,2]}}}]`), end},
		"a failure":                {message(`"content":"a"`), `{"error":"out of memory"}`},
		"a failure with a code":    {message(`"content":"a"`), `{"error":{"code":503,"message":"busy"}}`},
		"nothing":                  {},
		"no content":               {end},
		"not JSON":                 {message(`"content":"a"`), `{"message":`, end},
		"a list":                   {`[1,2]`, message(`"content":"a"`), end},
		"the end has text":         {message(`"content":"a"`), strings.Replace(end, `"content":""`, `"content":"b"`, 1)},
		"the word error in a text": {message(`"content":"an \"error\": x"`), end},
	} {
		t.Run("ollama/"+name, func(t *testing.T) {
			for _, exported := range []bool{false, true} {
				sameAnswer(t, "ollama_chat", "my_ollama", Settings{Streaming: true}, func() *record.Record { return ollamaStream(exported, docs...) })
			}
			if len(docs) > 0 {
				sameAnswer(t, "ollama_chat", "my_ollama", Settings{}, func() *record.Record {
					return &record.Record{Messages: []record.Message{{At: 1, Body: true, Raw: []byte(docs[0])}}}
				})
			}
		})
	}
	for name, answer := range map[string][]string{
		"text": {`data: {"model_name":"m","text_output":"a"}`, `data: {"text_output":" b"}`}, "texts": {`data: {"text_output":["a","b"]}`},
		"failure": {`data: {"text_output":"a"}`, `data: {"error":"no slot"}`}, "nothing": {`data: {"text_output":""}`}, "usage": {`data: {"text_output":"a","usage":{"completion_tokens":3}}`},
	} {
		t.Run("triton/"+name, func(t *testing.T) {
			sameAnswer(t, "generate", "my_triton", Settings{Streaming: true}, func() *record.Record { return events(answer...) })
			sameAnswer(t, "generate", "my_triton", Settings{}, func() *record.Record {
				return &record.Record{Messages: []record.Message{{At: 1, Body: true, Raw: []byte(strings.TrimPrefix(answer[0], "data: "))}}}
			})
		})
	}
}

// TestDeclaredBodiesAreThoseOfBuiltInTypes: so are the bodies, the paths and the texts that count as input.
func TestDeclaredBodiesAreThoseOfBuiltInTypes(t *testing.T) {
	useManifests(t, examples)
	n := 7
	one := conversation.Turn{Parts: conversation.Texts("", "How \"are\" <you>?\né"), MaxTokens: &n}
	later := History{System: "S", UserContext: "C", Past: []PastTurn{{Turn: &conversation.Turn{Parts: conversation.Texts("", "a")}, Reply: json.RawMessage(`{"role":"assistant","content":"x"}`)}}}
	for _, c := range []struct {
		builtIn, declared string
		history           History
		turn              conversation.Turn
	}{
		{"ollama_chat", "my_ollama", later, one}, {"ollama_chat", "my_ollama", History{}, conversation.Turn{Parts: one.Parts}},
		{"ollama_chat", "my_ollama", History{}, conversation.Turn{RawMessages: []json.RawMessage{json.RawMessage(`{"role":"user","content":"raw"}`)}}},
		{"huggingface_generate", "my_tgi", History{}, one}, {"huggingface_generate", "my_tgi", History{}, conversation.Turn{Parts: one.Parts}},
		{"generate", "my_triton", History{}, one}, {"generate", "my_triton", History{}, conversation.Turn{Model: "a/b", Parts: one.Parts}},
	} {
		for _, streaming := range []bool{false, true} {
			set := Settings{Model: "m", Streaming: streaming}
			a, b := codec(t, c.builtIn, set), codec(t, c.declared, set)
			want, err := a.Encode(&c.turn, &c.history)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Encode(&c.turn, &c.history)
			if err != nil {
				t.Fatal(c.declared, err)
			}
			var x, y any
			if json.Unmarshal(want.Body.Bytes(), &x) != nil || json.Unmarshal(got.Body.Bytes(), &y) != nil || !reflect.DeepEqual(x, y) || got.Path != want.Path {
				t.Errorf("%s: %s %s, but %s has %s %s", c.declared, got.Path, got.Body.Bytes(), c.builtIn, want.Path, want.Body.Bytes())
			}
			if x, y := a.Input(want.Body.Bytes()), b.Input(got.Body.Bytes()); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: input %+v, but %s has %+v", c.declared, y, c.builtIn, x)
			}
		}
	}
}

// TestDeclaredCohere: typed events and one answer give the same text, reasoning, calls and counts.
func TestDeclaredCohere(t *testing.T) {
	useManifests(t, examples)
	stream := events(
		"event: message-start\ndata: {\"type\":\"message-start\",\"id\":\"1\",\"delta\":{\"message\":{\"role\":\"assistant\",\"content\":[]}}}",
		`data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"hm"}}}}`,
		`data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"Hel"}}}}`,
		`data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"lo"}}}}`,
		`data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":1},"tokens":{"input_tokens":17,"output_tokens":4},"cached_tokens":2}}}`)
	body := &record.Record{Messages: []record.Message{{At: 1, Body: true, Raw: []byte(`{"id":"1","finish_reason":"COMPLETE","message":{"role":"assistant",` +
		`"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]},"usage":{"tokens":{"input_tokens":17,"output_tokens":4},"cached_tokens":2}}`)}}}
	for name, rec := range map[string]*record.Record{"stream": stream, "body": body} {
		r, failure := Decode(codec(t, "cohere-chat", Settings{Streaming: name == "stream"}), rec, DecodeOptions{})
		if failure != nil || r.Output != "Hello" || r.Reasoning != "hm" || r.FinishReason != "COMPLETE" || r.Usage == nil || r.Usage.Prompt != 17 || r.Usage.Completion != 4 || r.Usage.CacheRead != 2 {
			t.Errorf("%s: %+v %+v %v", name, r, r.Usage, failure)
		}
	}
	e, _, err := Lookup("cohere_chat")
	if err != nil {
		t.Fatal(err)
	}
	if last, mark := e.Framing.Ends(stream.Messages[4].Raw); !last || !mark {
		t.Errorf("the message-end is not the end: %v %v", last, mark)
	}
	if last, _ := e.Framing.Ends(stream.Messages[3].Raw); last {
		t.Error("a piece is the end")
	}
	failed := events(`data: {"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`, `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"overloaded"}}`)
	if !e.Framing.MayFail(failed.Messages[1].Raw, true) {
		t.Error("the reader of the stream does not look at a message with an error")
	}
	if r, failure := Decode(codec(t, "cohere_chat", Settings{Streaming: true}), failed, DecodeOptions{}); failure == nil || failure.Code != 502 || failure.Message != "overloaded" || r.Output != "a" {
		t.Errorf("%+v %+v", failure, r)
	}
}

// TestDeclaredJob: a job is polled until it has ended; only its last state is content.
func TestDeclaredJob(t *testing.T) {
	useManifests(t, examples)
	body := func(text string) record.Message { return record.Message{At: 1, Body: true, Raw: []byte(text)} }
	state := func(status, more string) record.Message {
		return body(`{"id":"x","status":"` + status + `","urls":{"get":"http://h/v1/predictions/x"}` + more + `}`)
	}
	done := state("succeeded", `,"output":["Hel","lo"],"metrics":{"input_token_count":3,"output_token_count":2}`)
	set := Settings{Model: "m", PollInterval: defaultPoll} // a run always has a setting; the manifest comes first
	open := func() *Reading { return NewReading(codec(t, "replicate", set), false) }
	r, list := open(), []record.Message{state("starting", "")}
	f := r.Next(list)
	if f == nil || f.Method != http.MethodGet || f.Path != "http://h/v1/predictions/x" || f.After.Milliseconds() != 500 || f.Forget {
		t.Fatalf("%+v", f)
	}
	list = append(list, state("processing", ""))
	if f = r.Next(list); f == nil || !f.Forget {
		t.Fatalf("%+v", f)
	}
	list[1] = done
	if f = r.Next(list); f != nil {
		t.Fatalf("%+v", f)
	}
	if res := r.end(&record.Record{Messages: list}); res.Failure != nil || res.Reply.Output != "Hello" || len(res.Reply.Contents) != 1 || res.Reply.Contents[0].Message != 1 || res.Reply.Usage.Completion != 2 {
		t.Errorf("%+v %+v", res.Reply, res.Failure)
	}
	if r, list = open(), []record.Message{done}; r.Next(list) != nil || r.end(&record.Record{Messages: list}).Reply.Output != "Hello" {
		t.Error("a job that has ended at once is polled")
	}
	for last, want := range map[string]string{`"failed","error":"no GPU"`: "no GPU", `"failed","error":{"code":429,"message":"full"}`: "full", `"canceled"`: "the job has failed", `"starting"`: "The job did not end"} {
		r := open()
		list := []record.Message{state("starting", ""), body(`{"status":` + last + `}`)}
		if r.Next(list[:1]); strings.Contains(want, "not end") {
			list = list[:1]
		} else if f := r.Next(list); f != nil {
			t.Errorf("%s: polled again", last)
		}
		code := 500
		if want == "full" {
			code = 429
		}
		if res := r.end(&record.Record{Messages: list}); res.Failure == nil || !strings.Contains(res.Failure.Message, want) || res.Failure.Type != "JobError" || res.Failure.Code != code {
			t.Errorf("%s: %+v", last, res.Failure)
		}
	}
}

// TestFailedVideoJob: a failed job of a plug-in that makes videos has the error type and code of video_generation, as with the Python tool.
func TestFailedVideoJob(t *testing.T) {
	manifest(t, "endpoint:\n  x:\n    metadata: {endpoint_path: /x, supports_streaming: false, produces_tokens: false, tokenizes_input: true, metrics_title: null}\n    request: {body: '{\"a\": {{ prompt|tojson }}}'}\n    response: {videos: url, error: error, poll: {url: get, until: status == 'done'}}\n")
	r := NewReading(codec(t, "x", Settings{Model: "m"}), false)
	list := []record.Message{{At: 1, Body: true, Raw: []byte(`{"get":"/x/1","status":"new"}`)}, {At: 2, Body: true, Raw: []byte(`{"status":"bad","error":"no GPU"}`)}}
	r.Next(list[:1])
	r.Next(list)
	if f := r.end(&record.Record{Messages: list}).Failure; f == nil || f.Type != "VideoGenerationError" || f.Code != 500 || f.Message != "no GPU" {
		t.Errorf("%+v", f)
	}
}

// TestDeclaredFramings: the same text comes through every framing, with the instants of its pieces, from the wire and from an export.
func TestDeclaredFramings(t *testing.T) {
	const head = "endpoint:\n  x:\n    metadata: {endpoint_path: /x, supports_streaming: true, produces_tokens: true, tokenizes_input: true, metrics_title: null}\n    request: {body: '{\"a\": {{ prompt|tojson }}}'}\n    response: "
	for name, c := range map[string]struct{ response, stream string }{
		"sse":         {"{text: t}", "data: {\"t\":\"Hel\"}\n\ndata: {\"t\":\"lo \"}\n\ndata: [DONE]\n\n"},
		"ndjson":      {"{framing: ndjson, text: t}", "{\"t\":\"Hel\"}\n{\"t\":\"lo \"}\n"},
		"json":        {"{framing: json, text: t}", "[{\"t\":\"Hel\"},\r\n{\"t\":\"lo \"}]"},
		"eventstream": {"{framing: eventstream, text: t}", eventMessageText("event", `{"t":"Hel"}`) + eventMessageText("event", `{"bytes":"eyJ0IjoibG8gIn0="}`)},
		"raw":         {"{framing: raw}", "Hello "},
	} {
		manifest(t, head+c.response+"\n")
		e, _, err := Lookup("x")
		if err != nil {
			t.Fatal(name, err)
		}
		wire, export := streamed(e.Framing, []byte(c.stream)), &record.Record{}
		for _, m := range wire.Messages {
			var fields []record.Field
			parsed := newEvent(e.Framing, m.Raw)
			for _, f := range parsed.Fields() {
				fields = append(fields, record.Field{Name: f.Name, Value: f.Value})
			}
			export.Messages = append(export.Messages, record.Message{At: m.At, Details: &record.Details{Fields: fields}})
		}
		for from, rec := range map[string]*record.Record{"wire": wire, "export": export} {
			r, failure := Decode(codec(t, "x", Settings{Streaming: true}), rec, DecodeOptions{})
			if failure != nil || r.Output != "Hello " || len(r.Contents) < 1 || name != "raw" && len(r.Contents) != 2 {
				t.Errorf("%s, %s: %+v %v", name, from, r, failure)
			}
		}
	}
}

// TestMistakesOfDeclarations: every mistake of an entry is named with its line, its key, and what is allowed.
func TestMistakesOfDeclarations(t *testing.T) {
	const good = `endpoint:
  x:
    metadata: {endpoint_path: /x, supports_streaming: true, produces_tokens: true, tokenizes_input: true, metrics_title: null}
    request: {body: '{}'}
    response: {text: t}
`
	for change, want := range map[string]string{
		"/x, -> x, ":                                                           `:3: endpoint:x: metadata.endpoint_path is "x", but must begin with "/"`,
		"supports_streaming: true -> a: 1":                                     `:3: endpoint:x: metadata.a is not a key; allowed are `,
		"supports_streaming -> suports_streaming":                              `did you mean "supports_streaming"?`,
		", tokenizes_input: true -> ":                                          ":3: endpoint:x: metadata lacks tokenizes_input",
		"produces_tokens: true -> produces_tokens: 3":                          ":3: endpoint:x: metadata.produces_tokens must be true or false",
		"'{}' -> '{{ a '":                                                      ":4: endpoint:x: request.body is not a Jinja template: ",
		"body: '{}' -> method: POST":                                           ":4: endpoint:x: request.body is missing",
		"body: '{}' -> body: '{}', method: GET":                                `:4: endpoint:x: request.method "GET" is not allowed; use POST, PUT or PATCH`,
		"body: '{}' -> body: '{}', headers: {'a b': c}":                        `:4: endpoint:x: request.headers "a b" is not the name of a header`,
		"body: '{}' -> body: '{}', body: '{}'":                                 ":4: endpoint:x: request.body is given twice",
		"text: t -> text: 'a['":                                                `:5: endpoint:x: response.text "a[" is not a JMESPath expression: `,
		"text: t -> framing: raw, text: t":                                     ":5: endpoint:x: response with framing raw has no expressions",
		"text: t -> framing: tcp, text: t":                                     `:5: endpoint:x: response.framing "tcp" is not allowed; use eventstream, json, ndjson, raw, sse`,
		"text: t -> framing: sse":                                              ":5: endpoint:x: response.text is missing",
		"text: t -> text: t, usage: {tokens: x}":                               ":5: endpoint:x: response.usage.tokens is not a key",
		"text: t -> text: t, poll: {until: a}":                                 ":5: endpoint:x: response.poll needs url",
		"text: t -> text: t, poll: {url: a, until: b, interval: 5}":            `response.poll.interval is "5", but a time such as 500ms or 2s is needed`,
		"text: t -> text: t, poll: {url: a, until: b}":                         "response.poll cannot be combined with supports_streaming: true",
		"text: t -> embeddings: t":                                             "metadata.produces_tokens must be false",
		"metrics_title: null -> metrics_title: null, requires_polling: true":   ":3: endpoint:x: metadata.requires_polling needs response.poll",
		"metrics_title: null -> metrics_title: null, produces_images: true":    ":3: endpoint:x: metadata.produces_images needs response.images",
		"metrics_title: null -> metrics_title: null, requires_form_data: true": ":3: endpoint:x: metadata.requires_form_data cannot be true",
		"    response: {text: t} -> ":                                          "endpoint:x: response is missing",
	} {
		from, to, _ := strings.Cut(change, " -> ")
		text := strings.Replace(good, from, to, 1)
		if text == good {
			t.Fatalf("%s: nothing changed", change)
		}
		file := manifest(t, text)
		_, _, err := Lookup("x")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file+":") {
			t.Errorf("%s: %v", change, err)
		}
		if err != nil && strings.Contains(want, "JMESPath") && strings.Contains(err.Error(), "missing") {
			t.Errorf("%s: an expression with a mistake is called missing: %v", change, err)
		}
	}
	manifest(t, good)
	if _, _, err := Lookup("X"); err != nil {
		t.Error(err)
	}
}

// TestPluginBesideBuiltIn: a plug-in wins over the built-in type of its name at equal priority, and loses below it.
func TestPluginBesideBuiltIn(t *testing.T) {
	const text = "endpoint:\n  chat:\n    priority: 0\n    metadata: {endpoint_path: /mine, supports_streaming: true, produces_tokens: true, tokenizes_input: true, metrics_title: Mine}\n    request: {body: '{}'}\n    response: {text: t}\n"
	for priority, path := range map[string]string{"0": "/mine", "5": "/mine", "-1": "/v1/chat/completions"} {
		manifest(t, strings.Replace(text, "priority: 0", "priority: "+priority, 1))
		if e, _, err := Lookup("chat"); err != nil || e.Path != path {
			t.Errorf("priority %s: %+v %v", priority, e, err)
		}
	}
	manifest(t, strings.Replace(text, "priority: 0", "priority: -1", 1))
	if e, _, err := Lookup("mine:chat"); err != nil || e.Path != "/mine" || e.Name != "mine:chat" {
		t.Errorf("by its package: %+v %v", e, err)
	}
	manifest(t, "endpoint:\n  snake:\n    class: a:B\n")
	if _, _, err := Lookup("snake"); err == nil || !strings.Contains(err.Error(), "needs the Python tool") {
		t.Errorf("a Python class: %v", err)
	}
}

// TestDeclaredHeadersAndInput: headers are templates, the API key goes where the manifest says, and expressions choose what counts as input.
func TestDeclaredHeadersAndInput(t *testing.T) {
	manifest(t, `endpoint:
  x:
    metadata: {endpoint_path: /x, supports_streaming: false, produces_tokens: true, tokenizes_input: true, metrics_title: null}
    request:
      method: PUT
      api_key_header: X-Key
      headers: {X-Model: "{{ model }}", X-Request: "{{ request_id }}"}
      body: '{"q": {"parts": [{{ prompt|tojson }}, "b"], "pictures": ["p", "q"], "ids": [4, 5]}, "n": {{ max_tokens|tojson }}}'
      input: ["q.parts", "q.ids"]
      images: q.pictures
    response: {text: t}
`)
	e, _, err := Lookup("x")
	if err != nil {
		t.Fatal(err)
	}
	if list := e.Auth("secret", nil); len(list) != 1 || list[0] != (record.Header{Name: "X-Key", Value: "secret"}) {
		t.Errorf("key: %v", list)
	}
	c := codec(t, "x", Settings{Model: "m", Extras: []Member{{"extra", json.RawMessage("1")}}})
	req, err := c.Encode(&conversation.Turn{Parts: conversation.Texts("", "a"), ExtraBody: json.RawMessage(`{"own":2}`)}, &History{RequestID: "r1"})
	if err != nil || req.Method != http.MethodPut || len(req.Headers) != 2 || req.Headers[0].Value != "m" || req.Headers[1].Value != "r1" ||
		string(req.Body.Bytes()) != `{"q":{"parts":["a","b"],"pictures":["p","q"],"ids":[4,5]},"n":null,"extra":1,"own":2}` {
		t.Fatalf("%+v %s %v", req, req.Body.Bytes(), err)
	}
	if in := c.Input(req.Body.Bytes()); !reflect.DeepEqual(in, Input{Texts: []string{"a", "b"}, Tokens: 2, Images: 2}) {
		t.Errorf("%+v", in)
	}
	manifest(t, "endpoint:\n  x:\n    metadata: {endpoint_path: /x, supports_streaming: false, produces_tokens: true, tokenizes_input: true, metrics_title: null}\n    request: {body: '{\"a\": {{ missing }}}'}\n    response: {text: t}\n")
	if _, err := codec(t, "x", Settings{}).Encode(&conversation.Turn{Origin: "f:1"}, &History{}); err == nil || !strings.Contains(err.Error(), "f:1: request.body of the plug-in: ") || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a variable that is not there: %v", err)
	}
}
