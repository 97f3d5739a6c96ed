package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// TestResponsesBodies holds bodies against those that were recorded of the Python tool.
func TestResponsesBodies(t *testing.T) {
	n := 5
	image, audio := "data:image/png;base64,iVBORw0KGgo=", "mp3,AAAA"
	for i, c := range []struct {
		set  Settings
		turn conversation.Turn
		h    History
		want string
	}{
		{turn: conversation.Turn{Parts: conversation.Texts("", "Name three rivers.")},
			want: `{"input":[{"role":"user","content":"Name three rivers.","type":"message"}],"model":"m","stream":false}`},
		{turn: conversation.Turn{Parts: conversation.Texts("", `Two <b>&é "q" 日本`), MaxTokens: &n, ExtraBody: json.RawMessage(`{"k":1,"temperature":0.2}`)},
			want: `{"input":[{"role":"user","content":"Two <b>&é \"q\" 日本","type":"message"}],"model":"m","stream":false,"max_output_tokens":5,"k":1,"temperature":0.2}`},
		{turn: conversation.Turn{Parts: []conversation.Part{{Text: "t"}, {Kind: conversation.Image, Blob: conversation.Authored(conversation.Image, image)},
			{Kind: conversation.Audio, Blob: conversation.Authored(conversation.Audio, audio)}}},
			want: `{"input":[{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"` + image +
				`"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}],"type":"message"}],"model":"m","stream":false}`},
		{set: Settings{Streaming: true}, h: History{System: "S", UserContext: "C"}, turn: conversation.Turn{Parts: conversation.Texts("", "x"), RawTools: json.RawMessage(`[{"type":"function"}]`)},
			want: `{"input":[{"type":"message","role":"user","content":"C"},{"role":"user","content":"x","type":"message"}],"model":"m","stream":true,"instructions":"S","tools":[{"type":"function"}]}`},
		{turn: conversation.Turn{RawMessages: []json.RawMessage{[]byte(`{"type": "function_call_output", "call_id":"c"}`)}},
			want: `{"input":[{"type":"function_call_output","call_id":"c"}],"model":"m","stream":false}`},
	} {
		c.set.Model = "m"
		r, err := codec(t, "responses", c.set).Encode(&c.turn, &c.h)
		if err != nil || string(r.Body.Bytes()) != c.want {
			t.Errorf("%d: %v\n got %s\nwant %s", i, err, r.Body.Bytes(), c.want)
		}
	}
	film := conversation.Turn{Origin: "f:1", Parts: []conversation.Part{{Kind: conversation.Video}}}
	_, err := codec(t, "responses", Settings{}).Encode(&film, &History{})
	var bad *FormatError
	if !errors.As(err, &bad) || err.Error() != "f:1: endpoint type responses cannot carry video; chat can" {
		t.Error(err)
	}
	e, _, _ := Lookup("responses")
	store := Settings{Extras: []Member{{"store", json.RawMessage("true")}}}
	if _, err := e.Open(store); err == nil || !strings.Contains(err.Error(), "endpoint.use_server_token_count") {
		t.Error(err)
	}
}

// TestResponsesHistory: with the server's store a turn names the answer before it and holds only what is new; an answer that failed breaks
// the chain, a request that failed on its way does not; without a store the items of the answers are repeated as they came.
func TestResponsesHistory(t *testing.T) {
	reply := func(id, status string) *record.Record {
		return events(`data: {"type":"response.created","response":{"id":"`+id+`"}}`,
			`data: {"type":"response.output_item.done","item":{"id":"rs","type":"reasoning","summary":[]}}`,
			`data: {"type":"response.output_item.done","item":{"id":"m`+id+`","type":"message", "content":[]}}`,
			`data: {"type":"response.output_text.delta","delta":"x"}`,
			`data: {"type":"response.completed","response":{"id":"`+id+`","status":"`+status+`","output":[{"id":"m`+id+`","type":"message","content":[1]},{"id":"f","type":"function_call"}]}}`)
	}
	broken := reply("r2", "completed")
	broken.Error = &record.Error{Code: 500}
	failing := events(`data: {"type":"response.created","response":{"id":"r2"}}`, `data: {"type":"response.failed","response":{"id":"r2","status":"failed","error":{"message":"boom"}}}`)
	user := func(i int) string { return fmt.Sprintf(`{"role":"user","content":"u%d","type":"message"}`, i) }
	const r1 = `{"id":"mr1","type":"message","content":[1]},{"id":"f","type":"function_call"}`
	const r2 = `{"id":"mr2","type":"message","content":[1]},{"id":"f","type":"function_call"}`
	for name, c := range map[string]struct {
		second *record.Record
		store  bool
		want   string // input of the third turn, and what follows
	}{
		"chained":          {reply("r2", "completed"), true, `[` + user(2) + `] r2`},
		"failed status":    {reply("r2", "failed"), true, `[` + user(0) + `,` + r1 + `,` + user(1) + `,` + r2 + `,` + user(2) + `] `},
		"failed event":     {failing, true, `[` + user(0) + `,` + r1 + `,` + user(1) + `,` + user(2) + `] `},
		"failed transport": {broken, true, `[` + user(2) + `] r1`},
		"no store":         {reply("r2", "completed"), false, `[` + user(0) + `,` + r1 + `,` + user(1) + `,` + r2 + `,` + user(2) + `] `},
	} {
		set := Settings{Streaming: true, ServerTokenCount: true}
		if c.store {
			set.Extras = []Member{{"store", json.RawMessage("true")}}
		}
		spoken := codec(t, "responses", set)
		conv := conversation.Conversation{}
		for i := range 3 {
			conv.Turns = append(conv.Turns, conversation.Turn{Parts: conversation.Texts("", fmt.Sprintf("u%d", i))})
		}
		replies := []Memory{NewReading(spoken, true).Memory(reply("r1", "completed")), NewReading(spoken, true).Memory(c.second)}
		r, err := spoken.Encode(&conv.Turns[2], Before(&conv, 2, replies))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Input    json.RawMessage
			Previous string          `json:"previous_response_id"`
			Options  json.RawMessage `json:"stream_options"`
		}
		if err := json.Unmarshal(r.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if s := string(got.Input) + " " + got.Previous; s != c.want || string(got.Options) != `{"include_usage":true}` {
			t.Errorf("%s:\n got %s\nwant %s\n%s", name, s, c.want, got.Options)
		}
	}
}
