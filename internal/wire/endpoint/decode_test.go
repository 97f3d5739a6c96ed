package endpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/measure/record"
)

// codec opens a type as a run does.
func codec(t testing.TB, name string, set Settings) Codec {
	t.Helper()
	e, _, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Codec(set)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chatCodec(t testing.TB) Codec { return codec(t, "chat", Settings{}) }

// capture is what an answer leaves for later turns, as text.
func capture(c Codec, rec *record.Record) string {
	m, _ := NewReading(c, true).Memory(rec).(json.RawMessage)
	return string(m)
}

// events makes a record of a stream; message i arrives at instant i+1.
func events(data ...string) *record.Record {
	rec := &record.Record{}
	for i, d := range data {
		rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Raw: []byte(d)})
	}
	return rec
}

func delta(members string) string {
	return `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + members + `}}]}`
}

func TestUsage(t *testing.T) {
	for raw, want := range map[string]record.Usage{
		`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`:                                                                                                                                      {Prompt: 9, Completion: 2, Total: 11},
		`{"prompt_tokens":"9","completion_tokens":"x"}`:                                                                                                                                                    {Prompt: 9},
		`{"prompt_tokens":-4,"completion_tokens":2.0}`:                                                                                                                                                     {Completion: 2},
		`{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":2}`:                                                                                                                   {Prompt: 10, CacheRead: 3, CacheWrite: 2},
		`{"inputTokens":5,"outputTokens":1,"cacheReadInputTokens":3}`:                                                                                                                                      {Prompt: 8, Completion: 1, CacheRead: 3},
		`{"prompt_tokens":5,"input_tokens":5,"cache_read_input_tokens":3}`:                                                                                                                                 {Prompt: 5, CacheRead: 3},
		`{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6,"thoughtsTokenCount":7,"totalTokenCount":18,"cachedContentTokenCount":1}}`:                                                        {Prompt: 5, Completion: 13, Reasoning: 7, Total: 18, CacheRead: 1},
		`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}`:                                                                                {Prompt: 32, Completion: 103, Reasoning: 94, Total: 135},
		`{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}`:                                                                              {Prompt: 32, Completion: 103, Reasoning: 94, Total: 135},
		`{"promptTokenCount":5,"toolUsePromptTokenCount":2,"candidatesTokenCount":6,"thoughtsTokenCount":7,"totalTokenCount":20}`:                                                                          {Prompt: 5, ToolUsePrompt: 2, Completion: 13, Reasoning: 7, Total: 20},
		`{"meta":{"tokens":{"input_tokens":5,"output_tokens":6},"cached_tokens":2}}`:                                                                                                                       {Prompt: 5, Completion: 6, CacheRead: 2},
		`{"prompt_tokens":1,"tokens":{"prompt_tokens":9,"output_tokens":2}}`:                                                                                                                               {Prompt: 1, Completion: 2},
		`{"completion_tokens_details":{"reasoning_tokens":4,"audio_tokens":5,"accepted_prediction_tokens":6,"rejected_prediction_tokens":7},"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":2}}`: {Reasoning: 4, CompletionAudio: 5, AcceptedPrediction: 6, RejectedPrediction: 7, CacheRead: 1, PromptAudio: 2},
		`{"prompt_cache_hit_tokens":1,"prompt_cache_miss_tokens":2,"toolUsePromptTokenCount":3,"prompt_audio_seconds":1.5}`:                                                                                {CacheRead: 1, CacheMiss: 2, ToolUsePrompt: 3, PromptAudioSeconds: 1.5},
		`{"prompt_tokens":0,"prompt_audio_seconds":"3"}`:                                                                                                                                                   {Prompt: 0},
	} {
		got := *parseUsage([]byte(raw))
		fillAbsent(&want, raw)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

// fillAbsent writes -1 where the wanted count is not given; a prompt count of 0 remains where the object has it.
func fillAbsent(u *record.Usage, raw string) {
	for _, p := range []*int64{&u.Completion, &u.Total, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheMiss, &u.PromptAudio,
		&u.CompletionAudio, &u.ToolUsePrompt, &u.AcceptedPrediction, &u.RejectedPrediction} {
		if *p == 0 {
			*p = -1
		}
	}
	if u.Prompt == 0 && !strings.Contains(raw, `"prompt_tokens":0`) {
		u.Prompt = -1
	}
	if u.PromptAudioSeconds == 0 {
		u.PromptAudioSeconds = -1
	}
}

func TestTheLastUsageCountsAndTheFirstChunkHasItsOwn(t *testing.T) {
	withUsage := func(text, usage string) string {
		return `data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"` + text + `"}}],"usage":` + usage + `}`
	}
	r, err := Decode(chatCodec(t), events(delta(`"role":"assistant","content":""`), withUsage("a", `{"completion_tokens":3}`),
		withUsage("b", `{"completion_tokens":5}`), withUsage("c", "null"), withUsage("d", "{}"), "data: [DONE]"), DecodeOptions{})
	if err != nil || r.PerChunkTokens != 3 || r.Usage.Completion != 5 || r.Usage.Prompt != -1 || r.Output != "abcd" {
		t.Errorf("%v %+v %+v", err, r, r.Usage)
	}
}

func TestEventsFromAnExportReadAsFromTheWire(t *testing.T) {
	fields := func(list ...record.Field) record.Message {
		return record.Message{At: 1, Details: &record.Details{Fields: list}}
	}
	chunk := strings.TrimPrefix(delta(`"content":"a"`), "data: ")
	rec := &record.Record{Messages: []record.Message{fields(record.Field{Name: "comment", Value: "ping"}),
		fields(record.Field{Name: "data", Value: chunk}), fields(record.Field{Name: "data", Value: "[DONE]"})}}
	if r, err := Decode(chatCodec(t), rec, DecodeOptions{}); err != nil || r.Output != "a" || r.Contents[0].Message != 1 {
		t.Errorf("%v %+v", err, r)
	}
	rec.Messages = append(rec.Messages, fields(record.Field{Name: "event", Value: "error"}, record.Field{Name: "comment", Value: "boom"}))
	r, err := Decode(chatCodec(t), rec, DecodeOptions{})
	if err == nil || err.Type != "SSEResponseError" || err.Message != "boom" || err.Code != 502 || r.Output != "a" {
		t.Errorf("%+v %+v", err, r)
	}
}

// TestUnreadableMessages: messages that are not JSON are counted, wherever they are; [DONE], comments and empty data are none.
func TestUnreadableMessages(t *testing.T) {
	whole := delta(`"content":"a"`)
	for _, c := range []struct {
		messages []string
		want     int
	}{
		{[]string{whole, "data: [DONE]"}, 0},
		{[]string{": ping", "data:", whole, "event: end"}, 0},
		{[]string{whole, whole[:len(whole)-9], whole}, 1},             // a damaged message
		{[]string{whole, whole, whole[:20]}, 1},                       // a stream that ends inside a message
		{[]string{"data: ready", whole, "data: a\ndata: b"}, 2},       // texts, of one line and of two
		{[]string{whole + "\n" + whole, "data: [DONE] "}, 0},          // two documents of one event
		{[]string{strings.Replace(whole, `"a"`, "NaN", 1), whole}, 1}, // no JSON value
	} {
		r, err := Decode(chatCodec(t), events(c.messages...), DecodeOptions{})
		if err != nil || r.Unreadable != c.want {
			t.Errorf("%q: %d unreadable, %v; want %d", c.messages, r.Unreadable, err, c.want)
		}
	}
}

func TestErrorsOfARecord(t *testing.T) {
	ok := delta(`"content":"a"`)
	cut := events(ok)
	cut.Error = &record.Error{Type: "ClientPayloadError"}
	backwards := events(ok)
	backwards.Start, backwards.End = 5, 5
	body := func(s string) *record.Record {
		return &record.Record{Messages: []record.Message{{Body: true, Raw: []byte(s)}}}
	}
	for name, tt := range map[string]struct {
		rec                 *record.Record
		kind, message, text string
	}{
		"transport":      {cut, "ClientPayloadError", "", "a"},
		"nothing":        {events(), invalidResult, "No responses were received", ""},
		"no content":     {events("data: {}"), invalidResult, "actual content", ""},
		"instants":       {backwards, invalidResult, "before it started", "a"},
		"text below":     {events(ok, `data: {"error":null,"choices":[{"delta":{"content":"\"error\""}}]}`), "", "", `a"error"`},
		"no error":       {events(ok, `data: {"error":{}}`, `data: {"error":0}`), "", "", "a"},
		"error":          {events(ok, `data: {"error":{"message":"boom","code":429}}`, ok), "SSEResponseError", "boom", "a"},
		"type":           {events(`data: {"type":"error","message":"boom"}`), "SSEResponseError", "boom", ""},
		"unframed":       {body(ok), invalidResult, "Content-Type", ""},
		"html":           {body("<html>"), invalidResult, "not JSON", ""},
		"two documents":  {body(`{"choices":[]} {}`), invalidResult, "not JSON", ""},
		"error document": {body(`{"error":"boom"}`), invalidResult, "boom", ""},
	} {
		r, err := Decode(chatCodec(t), tt.rec, DecodeOptions{})
		if (err == nil) != (tt.kind == "") || err != nil && (err.Type != tt.kind || !strings.Contains(err.Message, tt.message)) || r.Output != tt.text {
			t.Errorf("%s: %+v, text %q", name, err, r.Output)
		}
	}
}

func TestCapture(t *testing.T) {
	call := func(m string) string { return delta(`"tool_calls":[{"index":0,` + m + `}]`) }
	failed := events(delta(`"content":"a"`))
	failed.Error = &record.Error{}
	for name, tt := range map[string]struct {
		rec  *record.Record
		want string
	}{
		"text":           {events(delta(`"content":"a"`), delta(`"content":"b"`)), `{"role":"assistant","content":"ab"}`},
		"reasoning":      {events(delta(`"reasoning_content":"r"`), delta(`"content":"b"`)), `{"role":"assistant","content":"b"}`},
		"only reasoning": {events(delta(`"reasoning":"r"`)), `{"role":"assistant","content":"r"}`},
		"tools": {events(delta(`"reasoning":"r"`), call(`"id":"c1","type":"function","function":{"name":"f","arguments":""}`), call(`"function":{"arguments":"{\"a\""}`), call(`"function":{"arguments":":1}"}`),
			delta(`"tool_calls":[{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}}]`)),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]}`},
		"old call":    {events(delta(`"function_call":{"name":"f","arguments":"{}"}`)), `{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		"nothing":     {events(delta(``)), ""},
		"failed":      {failed, ""},
		"error event": {events(delta(`"content":"a"`), `data: {"error":"x"}`), ""},
	} {
		if got := capture(chatCodec(t), tt.rec); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestInputTexts(t *testing.T) {
	for _, tt := range []struct {
		endpoint, payload, want string
		tokens, images          int
	}{
		{"chat", `{"messages":[{"role":"system","content":"s"},{"role":"user","name":"n","content":[{"type":"text","text":"a\u00e9"},{"type":"image_url","image_url":{"url":"u"}}]},` +
			`{"role":"assistant","content":null,"reasoning_content":"no","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}],` +
			`"tools":[{"type":"function","function":{"name":"calc","description":"adds","parameters":{"type": "object"}}}]}`, `s|aé|f|{}|calc|adds|{"type":"object"}`, 0, 1},
		{"chat", `{"messages":[{"role":"assistant","tool_calls":[{"type":"custom","custom":{"name":"f","input":"x"}}]}],` +
			`"tools":[{"type":"custom","custom":{"name":"f","description":"runs"}}]}`, "f|x|f|runs", 0, 0},
		{"responses", `{"input":[{"type":"custom_tool_call","name":"f","input":"x"},{"type":"custom_tool_call_output","output":"9"}],"tools":[{"type":"custom","name":"f"}]}`, "f|x|9|f", 0, 0},
		{"chat", `{"prompt":"abc"}`, "abc", 0, 0},
		{"completions", `{"prompt":["a","b"]}`, "a|b", 0, 0},
		{"completions", `{"prompt":[1,2,3]}`, "", 3, 0},
		{"completions", `{"prompt":[[1,2],[3]]}`, "", 3, 0},
		{"embeddings", `{"input":["a","b"]}`, "a|b", 0, 0},
		{"responses", `{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"}]},{"role":"user","content":"b"},` +
			`{"type":"function_call","name":"f","arguments":"{}"},{"type":"function_call_output","output":"9"}],"instructions":"i","tools":[{"name":"t"}]}`, "a|b|f|{}|9|i|t", 0, 1},
		{"responses", `{"input":"x"}`, "x", 0, 0},
		{"nim_rankings", `{"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}]}`, "q|a|b", 0, 0},
		{"cohere_rankings", `{"query":"q","documents":["a"]}`, "q|a", 0, 0},
		{"hf_tei_rankings", `{"query":"q","texts":["a"]}`, "q|a", 0, 0},
		{"chat", `not JSON`, "", 0, 0},
		{"chat", `{"messages":[{"content":"a"}]`, "", 0, 0},
	} {
		c := codec(t, tt.endpoint, Settings{})
		rec := &record.Record{Payload: record.Plain([]byte(tt.payload))}
		r, _ := Decode(c, rec, DecodeOptions{})
		if got := strings.Join(r.InputTexts, "|"); got != tt.want || r.InputTokens != tt.tokens || r.Images != tt.images {
			t.Errorf("%s: %q, %d tokens, %d images", tt.payload, got, r.InputTokens, r.Images)
		}
		if r, _ = Decode(c, rec, DecodeOptions{NoInput: true}); len(r.InputTexts)+r.InputTokens > 0 {
			t.Error("input was read against the options")
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{"chat": "chat", "CHAT": "chat", "cohere-rankings": "cohere_rankings", "Rankings": "nim_rankings", "vision": "chat"} {
		e, notice, err := Lookup(name)
		if err != nil || e.Name != want || (notice != "") != (name == "Rankings" || name == "vision") {
			t.Errorf("%s: %v %q %v", name, e, notice, err)
		}
	}
	for name, want := range map[string]string{"chatt": "template", "tensorrtllm_engine": "TensorRT"} {
		if _, _, err := Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names := map[string]bool{}
	for _, e := range All() {
		if names[e.Name] {
			t.Errorf("%s is there twice", e.Name)
		}
		names[e.Name] = true
		if e.Title == "" || e.Summary == "" {
			t.Errorf("%s does not describe itself", e.Name)
		}
	}
}
