package endpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// letters is a tokenizer whose tokens are bytes.
func letters(ids []int32, _, text string) ([]int32, error) {
	for _, c := range []byte(text) {
		ids = append(ids, int32(c))
	}
	return ids, nil
}

func TestTokenBodies(t *testing.T) {
	five := 5
	ids := conversation.Turn{TokenIDs: []int32{7, 8}, MaxTokens: &five}
	text := conversation.Turn{Parts: conversation.Texts("", "a", "b")}
	for name, c := range map[string]struct {
		kind    string
		extras  []Member
		turn    conversation.Turn
		history History
		want    string
	}{
		"ids": {"sglang_generate", nil, ids, History{RequestID: "r"},
			`{"rid":"r","input_ids":[7,8],"sampling_params":{"ignore_eos":true,"max_new_tokens":5},"stream":true}`},
		"text": {"sglang_generate", nil, text, History{},
			`{"rid":"","input_ids":[97,98],"sampling_params":{"ignore_eos":true},"stream":true}`},
		"history": {"sglang_generate", nil, ids, History{RequestID: "r", Past: []PastTurn{{Turn: &text, Reply: []int32{1, 2}}, {Turn: &text}}},
			`{"rid":"r","input_ids":[97,98,1,2,97,98,7,8],"sampling_params":{"ignore_eos":true,"max_new_tokens":5},"stream":true}`},
		"layers": {"sglang_generate",
			[]Member{{"x", []byte("1")}, {"sampling_params", []byte(`{"ignore_eos":false,"max_new_tokens":9,"top_k":1}`)}, {"nvext", []byte(`{"agent_hints":{"strict_priority":3}}`)}},
			conversation.Turn{TokenIDs: []int32{7}, MaxTokens: &five, ExtraBody: []byte(`{"sampling_params":{"top_k":2,"seed":4},"y":2}`)}, History{},
			`{"rid":"","input_ids":[7],"sampling_params":{"ignore_eos":false,"max_new_tokens":5,"top_k":2,"seed":4},"priority":3,"stream":true,"x":1,"y":2}`},
		"own priority": {"sglang_generate", []Member{{"nvext", []byte(`{"agent_hints":{"strict_priority":3}}`)}},
			conversation.Turn{TokenIDs: []int32{7}, ExtraBody: []byte(`{"nvext":{"agent_hints":{"strict_priority":0}}}`)}, History{},
			`{"rid":"","input_ids":[7],"sampling_params":{"ignore_eos":true},"priority":0,"stream":true}`},
		"vllm": {"vllm_generate", nil, ids, History{RequestID: "r"},
			`{"model":"m","token_ids":[7,8],"sampling_params":{"max_tokens":5},"stream":false,"request_id":"r"}`},
		"verbatim":    {"vllm_generate", nil, conversation.Turn{RawPayload: []byte(`{ "a":1}`)}, History{}, `{ "a":1}`},
		"completions": {"completions", nil, conversation.Turn{TokenIDs: []int32{7, 8}}, History{}, `{"prompt":[7,8],"model":"m","stream":false}`},
	} {
		codec := codec(t, c.kind, Settings{Model: "m", Streaming: c.kind == "sglang_generate", Extras: c.extras, Tokens: letters})
		r, err := codec.Encode(&c.turn, &c.history)
		if err != nil || string(r.Body.Bytes()) != c.want {
			t.Errorf("%s: %s %v\nwant %s", name, r.Body.Bytes(), err, c.want)
			continue
		}
		if in := codec.Input(r.Body.Bytes()); c.turn.RawPayload == nil && (in.Tokens == 0 || len(in.Texts) > 0) {
			t.Errorf("%s: input %+v", name, in)
		}
	}
}

func contains(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

func TestTokenBodiesRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		turn    conversation.Turn
		history History
		tokens  func([]int32, string, string) ([]int32, error)
		want    string
	}{
		"system":       {conversation.Turn{TokenIDs: []int32{1}}, History{System: "s"}, letters, "so a system message"},
		"nothing":      {conversation.Turn{}, History{}, letters, "needs token ids or a text"},
		"no tokenizer": {conversation.Turn{Parts: conversation.Texts("", "a")}, History{}, nil, "needs a tokenizer"},
		"broken": {conversation.Turn{Parts: conversation.Texts("", "a")}, History{},
			func([]int32, string, string) ([]int32, error) { return nil, errors.New("no file") }, "no file"},
		"extra":    {conversation.Turn{TokenIDs: []int32{1}, ExtraBody: []byte(`[]`)}, History{}, letters, "is not a JSON object"},
		"sampling": {conversation.Turn{TokenIDs: []int32{1}, ExtraBody: []byte(`{"sampling_params":3}`)}, History{}, letters, "sampling_params: must be a JSON object"},
	} {
		_, err := codec(t, "sglang_generate", Settings{Streaming: true, Tokens: c.tokens}).Encode(&c.turn, &c.history)
		contains(t, name, err, c.want)
	}
	e, _, _ := Lookup("sglang_generate")
	_, err := e.Open(Settings{Extras: []Member{{"sampling_params", []byte("4")}}})
	contains(t, "extras", err, "sampling_params: must be a JSON object, got 4")
}

// TestTokenAnswers: tokens are counted by their ids, whether a server sends the new ones or all of them again; a count alone stands for as
// many.
func TestTokenAnswers(t *testing.T) {
	event := func(text string) record.Message { return record.Message{Line: true, Raw: []byte("data: " + text)} }
	for name, c := range map[string]struct {
		kind     string
		messages []record.Message
		tokens   int
		contents int
		memory   []int32
		finish   string
		prompt   int64
	}{
		"increments": {"sglang_generate", []record.Message{event(`{"output_ids":[1],"meta_info":{"prompt_tokens":4,"completion_tokens":1}}`),
			event(`{"output_ids":[1,2],"meta_info":{"prompt_tokens":4,"completion_tokens":3,"finish_reason":{"type":"length","length":3}}}`), event(`[DONE]`)},
			3, 2, []int32{1, 1, 2}, "length", 4},
		"again": {"sglang_generate", []record.Message{event(`{"output_ids":[5,6],"meta_info":{"completion_tokens":2,"prompt_tokens":4}}`),
			event(`{"output_ids":[5,6,7],"meta_info":{"completion_tokens":3,"prompt_tokens":4}}`),
			event(`{"output_ids":[5,6,7],"meta_info":{"completion_tokens":3,"prompt_tokens":4,"finish_reason":"stop"}}`)},
			3, 2, []int32{5, 6, 7}, "stop", 4},
		"counts": {"sglang_generate", []record.Message{event(`{"text":"a","meta_info":{"completion_tokens":2}}`), event(`{"text":"ab","meta_info":{"completion_tokens":5}}`)},
			5, 2, nil, "", -1},
		"no counts": {"sglang_generate", []record.Message{event(`{"output_ids":[1]}`), event(`{"output_ids":[1]}`), event(`{"output_ids":[]}`)}, 2, 2, []int32{1, 1}, "", 0},
		"vllm": {"vllm_generate", []record.Message{{Body: true, Raw: []byte(`{"request_id":"r","choices":[{"index":0,"token_ids":[3,4,-1,"x",1e99],"finish_reason":"length"}]}`)}},
			2, 1, []int32{3, 4}, "length", 0},
	} {
		rec := &record.Record{Messages: c.messages}
		reading := NewReading(codec(t, c.kind, Settings{Streaming: true}), true)
		reply, failure := reading.Finish(rec)
		if failure != nil {
			t.Errorf("%s: %v", name, failure)
			continue
		}
		memory, _ := reading.Memory(rec).([]int32)
		got := fmt.Sprint(reply.OutputTokens, len(reply.Contents), reply.FinishReason, memory)
		if want := fmt.Sprint(c.tokens, c.contents, c.finish, c.memory); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if c.prompt != 0 && (reply.Usage == nil || reply.Usage.Prompt != c.prompt) {
			t.Errorf("%s: usage %+v", name, reply.Usage)
		}
		if !slices.Equal(memory, c.memory) {
			t.Errorf("%s: remembers %v", name, memory)
		}
	}
}
