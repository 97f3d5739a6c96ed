package endpoint

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// bodyTest is one turn of a type and what it must become.
type bodyTest struct {
	endpoint string
	set      Settings
	turn     conversation.Turn
	history  History
	body     string // "" = it must fail
	path     string
	failure  string
}

func (c *bodyTest) check(t *testing.T) {
	t.Helper()
	if c.set.Model == "" {
		c.set.Model = "m"
	}
	r, err := codec(t, c.endpoint, c.set).Encode(&c.turn, &c.history)
	if c.failure != "" {
		var bad *FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: %v, want %q", c.endpoint, err, c.failure)
		}
		return
	}
	if err != nil || string(r.Body.Bytes()) != c.body || r.Path != c.path {
		t.Errorf("%s: %v\n got %s %s\nwant %s %s", c.endpoint, err, r.Path, r.Body.Bytes(), c.path, c.body)
	}
}

// picture is a turn's image by its address.
func picture(address string) conversation.Part {
	return conversation.Part{Kind: conversation.Image, Blob: conversation.Authored(conversation.Image, address)}
}

func TestBodiesOfTextTypes(t *testing.T) {
	n, large := 5, "data:image/png;base64,"+strings.Repeat("AAAA", shareFrom)
	said := func(texts ...string) []conversation.Part { return conversation.Texts("", texts...) }
	k := Settings{Extras: []Member{{"k", json.RawMessage("1")}}}
	for _, c := range []bodyTest{
		{endpoint: "chat_embeddings", turn: conversation.Turn{Parts: said("a"), MaxTokens: &n}, history: History{System: "S"},
			body: `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"}],"model":"m","stream":false,"max_completion_tokens":5}`},
		{endpoint: "nim_embeddings", set: k, turn: conversation.Turn{Parts: said("a", "", "b")}, body: `{"model":"m","input":["a","b"],"k":1}`},
		{endpoint: "nim_embeddings", turn: conversation.Turn{Parts: []conversation.Part{picture("https://h/a.png"), picture(large)}},
			body: `{"model":"m","input":["https://h/a.png","` + large + `"]}`},
		{endpoint: "nim_embeddings", turn: conversation.Turn{Parts: append(said(`"x"`, "y"), picture(large), picture("http://h/b"))},
			body: `{"model":"m","input":["\"x\" ` + large + `","y http://h/b"]}`},
		{endpoint: "nim_embeddings", turn: conversation.Turn{Origin: "f:2", Parts: append(said("x", "y"), picture(large))}, failure: "f:2: endpoint type nim_embeddings pairs texts with images, but the turn has 2 texts and 1 images"},
		{endpoint: "nvclip", turn: conversation.Turn{Parts: append(said("x", "y"), picture(large))}, body: `{"model":"m","input":["x","y","` + large + `"]}`},
		{endpoint: "nvclip", turn: conversation.Turn{Parts: []conversation.Part{picture("http://h/b")}}, body: `{"model":"m","input":["http://h/b"]}`},
		{endpoint: "huggingface_generate", set: k, turn: conversation.Turn{Parts: said("a", "b"), MaxTokens: &n, ExtraBody: json.RawMessage(`{"z":2}`)},
			body: `{"inputs":"a b","parameters":{"max_new_tokens":5,"k":1},"z":2}`},
		{endpoint: "huggingface_generate", set: Settings{Extras: []Member{{"max_new_tokens", json.RawMessage("9")}}}, turn: conversation.Turn{Parts: said("a"), MaxTokens: &n},
			body: `{"inputs":"a","parameters":{"max_new_tokens":9}}`},
		{endpoint: "huggingface_generate", history: History{Past: []PastTurn{{}}}, failure: "only one turn per conversation"},
		{endpoint: "solido_rag", set: k, history: History{Past: []PastTurn{{}}}, turn: conversation.Turn{Parts: said("a", "b"), MaxTokens: &n},
			body: `{"query":["a","b"],"filters":{"family":"Solido","tool":"SDE"},"inference_model":"m","k":1}`},
		{endpoint: "generate", set: Settings{Model: "a/b c"}, turn: conversation.Turn{Parts: said("x")}, body: `{"text_input":"x"}`, path: "/v2/models/a%2Fb%20c/generate"},
		{endpoint: "generate", set: Settings{Streaming: true}, turn: conversation.Turn{Parts: said("x", "y"), MaxTokens: &n, Model: "q"},
			body: `{"text_input":["x","y"],"max_tokens":5,"stream":true}`, path: "/v2/models/q/generate_stream"},
		{endpoint: "generate", turn: conversation.Turn{RawPayload: []byte(`{ "text_input": 1}`)}, body: `{ "text_input": 1}`, path: "/v2/models/m/generate"},
	} {
		c.check(t)
	}
}

// TestInputsOfTextTypes: what of a payload counts as input.
func TestInputsOfTextTypes(t *testing.T) {
	for _, c := range []struct {
		endpoint, payload, texts string
		images                   int
	}{
		{"chat_embeddings", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}]}`, "a", 1},
		{"nim_embeddings", `{"model":"m","input":["a","b"]}`, "a|b", 0},
		{"nvclip", `{"model":"m","input":["a","data:image/png;base64,AA","https://h/x"]}`, "a", 2},
		{"huggingface_generate", `{"inputs":"a b","parameters":{"inputs":"x"}}`, "a b", 0},
		{"generate", `{"text_input":["a","b"]}`, "a|b", 0},
	} {
		in := codec(t, c.endpoint, Settings{}).Input([]byte(c.payload))
		if got := strings.Join(in.Texts, "|"); got != c.texts || in.Images != c.images {
			t.Errorf("%s: %q and %d images, want %q and %d", c.endpoint, got, in.Images, c.texts, c.images)
		}
	}
}

// TestAnswersOfGenerate: the output of Triton's generate extension, whole and in events.
func TestAnswersOfGenerate(t *testing.T) {
	whole := &record.Record{Messages: []record.Message{{Body: true, Raw: []byte(`{"model_name":"m","text_output":["a","b"]}`)}}}
	broken := events(`data: {"text_output":"a"}`, `data: {"error":"in request: boom"}`)
	for _, c := range []struct {
		rec    *record.Record
		want   string
		events int
		fails  string
	}{
		{whole, "ab", 1, ""},
		{events(`data: {"text_output":"a"}`, `data: {"text_output":""}`, `data: {"text_output":" b"}`), "a b", 2, ""},
		{broken, "a", 1, "in request: boom"},
	} {
		reply, failure := Decode(codec(t, "generate", Settings{}), c.rec, DecodeOptions{NoInput: true})
		if reply.Output != c.want || len(reply.Contents) != c.events || (failure != nil) != (c.fails != "") || failure != nil && failure.Message != c.fails {
			t.Errorf("%q in %d contents, %v, want %q in %d", reply.Output, len(reply.Contents), failure, c.want, c.events)
		}
	}
}
