package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// bodyCase is a recorded run: the conversations that were sent, and the bodies that went over the wire.
type bodyCase struct {
	Name, Endpoint    string
	Streaming, Legacy bool
	PerChunk          bool `json:"per_chunk"`
	Server, Force     bool
	Kind              struct {
		Kind     string
		FailText string `json:"fail_text"`
	}
	Extras        []struct{ Key, Value string }
	Conversations []struct {
		System string
		Mode   conversation.Mode
		Turns  []struct {
			Role                          string
			MaxTokens                     *int
			Texts, Images, Audios, Videos []media
			RawMessages                   []json.RawMessage
			RawTools                      json.RawMessage
			RawPayload                    *string
			ExtraBody                     json.RawMessage
		}
	}
	Want []string
}

func (c *bodyCase) conversations() []conversation.Conversation {
	var list []conversation.Conversation
	for _, v := range c.Conversations {
		conv := conversation.Conversation{System: v.System, Mode: v.Mode}
		for _, t := range v.Turns {
			turn := conversation.Turn{Role: t.Role, MaxTokens: t.MaxTokens, RawMessages: t.RawMessages, RawTools: t.RawTools, ExtraBody: t.ExtraBody}
			for _, e := range t.Texts {
				turn.Parts = append(turn.Parts, conversation.Texts(e.Name, e.Contents...)...)
			}
			for kind, list := range [][]media{conversation.Image: t.Images, conversation.Audio: t.Audios, conversation.Video: t.Videos} {
				for _, m := range list {
					turn.Parts = append(turn.Parts, m.parts(conversation.Kind(kind))...)
				}
			}
			if t.RawPayload != nil {
				turn.RawPayload = []byte(*t.RawPayload)
			}
			conv.Turns = append(conv.Turns, turn)
		}
		list = append(list, conv)
	}
	return list
}

// media is a list of media as the recordings write it down.
type media struct {
	Name            string
	Contents, UUIDs []string
}

func (m media) parts(kind conversation.Kind) []conversation.Part {
	parts := make([]conversation.Part, max(len(m.Contents), len(m.UUIDs)))
	for i := range parts {
		parts[i].Kind = kind
		if i < len(m.Contents) && m.Contents[i] != "" {
			parts[i].Blob = conversation.Authored(kind, m.Contents[i])
		}
		if i < len(m.UUIDs) {
			parts[i].ID = m.UUIDs[i]
		}
	}
	return parts
}

// stub answers a request as the recording's server did: "re: " and the first 24 characters of the last text.
func (c *bodyCase) stub(last string, streaming bool) *record.Record {
	if c.Kind.FailText != "" && strings.Contains(last, c.Kind.FailText) {
		return &record.Record{Error: &record.Error{Code: 500}}
	}
	if r := []rune(last); len(r) > 24 {
		last = string(r[:24])
	}
	text, _ := json.Marshal("re: " + last)
	var parts []string
	reasons, calls := strings.Contains(c.Kind.Kind, "reasoning"), strings.Contains(c.Kind.Kind, "tools")
	if !streaming {
		m := `"role":"assistant","content":` + string(text)
		if reasons {
			m += `,"reasoning_content":"think more"`
		}
		if calls {
			m += `,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"calc","arguments":"{\"a\":1}"}}]`
		}
		return &record.Record{Messages: []record.Message{{Body: true, Raw: []byte(`{"object":"chat.completion","choices":[{"message":{` + m + `}}]}`)}}}
	}
	if reasons {
		parts = append(parts, `"reasoning_content":"think "`, `"reasoning_content":"more"`)
	}
	parts = append(parts, `"content":`+string(text))
	if calls {
		parts = append(parts, `"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"ca","arguments":""}}]`,
			`"tool_calls":[{"index":0,"function":{"name":"lc","arguments":"{\"a\":"}}]`, `"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]`)
	}
	rec := &record.Record{}
	for _, p := range parts {
		rec.Messages = append(rec.Messages, record.Message{Raw: []byte(`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + p + `}}]}`)})
	}
	return rec
}

func TestGoldenBodies(t *testing.T) {
	for file, want := range map[string]int{"requests": 33, "requests_text": 14} {
		list := testrecording.Lines[bodyCase](t, "testdata/"+file+".jsonl.gz")
		for i := range list {
			t.Run(list[i].Name, func(t *testing.T) { list[i].check(t) })
		}
		if n := len(list); n != want {
			t.Errorf("%s: %d cases, want %d", file, n, want)
		}
	}
}

func (c *bodyCase) check(t *testing.T) {
	e, _, err := Lookup(c.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	set := Settings{Model: "m", Streaming: c.Streaming && e.Streams, LegacyMaxTokens: c.Legacy, PerChunkUsage: c.PerChunk, ServerTokenCount: c.Server, ForceContentParts: c.Force}
	for _, m := range c.Extras {
		set.Extras = append(set.Extras, Member{m.Key, json.RawMessage(m.Value)})
	}
	spoken := codec(t, c.Endpoint, set)
	var got []string
	convs := c.conversations()
	for i := range convs {
		var replies []Memory
		for k := range convs[i].Turns {
			turn := &convs[i].Turns[k]
			r, err := spoken.Encode(turn, Before(&convs[i], k, replies))
			if err != nil {
				if k > 0 && !e.Replies {
					continue // the second turn of a type that sends one
				}
				t.Fatal(err)
			}
			got = append(got, string(r.Body.Bytes()))
			if texts := turn.Contents(); len(texts) > 0 {
				rec := c.stub(texts[0], set.Streaming)
				replies = append(replies, NewReading(spoken, true).Memory(rec))
			}
		}
	}
	if len(got) < len(c.Want) {
		t.Fatalf("%d bodies, want %d", len(got), len(c.Want))
	}
	for i, want := range c.Want {
		if got[i] != want {
			t.Errorf("request %d\n got %.700s\nwant %.700s", i, got[i], want)
		}
	}
}

func TestBodiesThatCannotBeBuilt(t *testing.T) {
	for _, tt := range []struct {
		endpoint, want string
		turn           conversation.Turn
		past           []PastTurn
	}{
		{"chat", "f.jsonl:3: audio", conversation.Turn{Origin: "f.jsonl:3",
			Parts: []conversation.Part{{Kind: conversation.Audio, Blob: conversation.Authored(conversation.Audio, "AAAA")}}}, nil},
		{"completions", "only one turn per conversation", conversation.Turn{}, []PastTurn{{Turn: &conversation.Turn{}}}},
		{"nim_rankings", "query", conversation.Turn{Parts: conversation.Texts("passages", "p")}, nil},
		{"chat", "extra body", conversation.Turn{ExtraBody: json.RawMessage("[]")}, nil},
		{"chat", "tools", conversation.Turn{RawTools: json.RawMessage("[")}, nil},
	} {
		_, err := codec(t, tt.endpoint, Settings{}).Encode(&tt.turn, &History{Past: tt.past})
		var bad *FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.endpoint, err, tt.want)
		}
	}
	e, _, _ := Lookup("chat")
	if _, err := e.Open(Settings{Extras: []Member{{"a", json.RawMessage("{")}}}); err == nil || !strings.Contains(err.Error(), "endpoint.extra a") {
		t.Error(err)
	}
}

// TestRankingRemarks: content that a ranking request omits gives a remark.
func TestRankingRemarks(t *testing.T) {
	text := conversation.Texts
	for _, test := range []struct {
		texts [][]conversation.Part
		want  []string
	}{
		{[][]conversation.Part{text("query", "q"), text("passages", "a", "b")}, nil},
		{[][]conversation.Part{text("queries", "q", "r"), text("passages", "a")}, []string{"one query"}},
		{[][]conversation.Part{text("query", "q"), text("", "x", "y")}, []string{`the text named ""`, "no passages"}},
	} {
		e, _, _ := Lookup("cohere_rankings")
		got := e.RemarksOn(&conversation.Turn{Parts: slices.Concat(test.texts...)})
		if len(got) != len(test.want) {
			t.Errorf("%v: %q", test.texts, got)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%v: %q, want %q", test.texts, got[i], want)
			}
		}
	}
}

// TestContextInFrontOfPrompts: a type without messages sends the generated texts in front of every prompt, a blank line behind each.
func TestContextInFrontOfPrompts(t *testing.T) {
	c := codec(t, "completions", Settings{Model: "m"})
	tests := []struct {
		system, context string
		prompts         []string
		want            string
	}{
		{"S", "C", []string{"p"}, `"S\n\nC\n\np"`},
		{"S", "", []string{"p", "q"}, `["S\n\np","S\n\nq"]`},
		{"", "C", []string{"p"}, `"C\n\np"`},
		{"", "", []string{"p"}, `"p"`},
	}
	for _, test := range tests {
		got, err := c.Encode(&conversation.Turn{Parts: conversation.Texts("text", test.prompts...)}, &History{System: test.system, UserContext: test.context})
		if want := `{"prompt":` + test.want + `,"model":"m","stream":false}`; err != nil || string(got.Body.Bytes()) != want {
			t.Errorf("got %s, %v, want %s", got.Body, err, want)
		}
	}
}

func TestSystemMessages(t *testing.T) {
	user := conversation.Turn{Parts: conversation.Texts("", "Hi")}
	authored := conversation.Turn{Role: "system", Parts: conversation.Texts("", "A")}
	ready := func(list ...string) (t conversation.Turn) {
		for _, m := range list {
			t.RawMessages = append(t.RawMessages, json.RawMessage(m))
		}
		return t
	}
	const hi, ctx = `{"role":"user","content":"Hi"}`, `{"role":"user","content":"C"}`
	for i, tt := range []struct {
		turns []conversation.Turn
		want  string
	}{
		{[]conversation.Turn{user}, `{"role":"system","content":"S"},` + ctx + `,` + hi},
		{[]conversation.Turn{authored, user}, `{"role":"system","content":"S\n\nA"},` + ctx + `,` + hi},
		{[]conversation.Turn{ready(`{"role":"system", "content":"A"}`, hi)}, `{"role":"system","content":"S\n\nA"},` + ctx + `,` + hi},
		{[]conversation.Turn{ready(`{"role":"system","content":[{"type":"text","text":"A"}]}`, hi)},
			`{"role":"system","content":[{"type":"text","text":"S"},{"type":"text","text":"A"}]},` + ctx + `,` + hi},
		{[]conversation.Turn{ready(hi)}, `{"role":"system","content":"S"},` + ctx + `,` + hi},
	} {
		conv := conversation.Conversation{System: "S", UserContext: "C", Turns: tt.turns}
		last := len(tt.turns) - 1
		r, err := codec(t, "chat", Settings{Model: "m"}).Encode(&conv.Turns[last], Before(&conv, last, nil))
		body := r.Body.Bytes()
		want := fmt.Sprintf(`{"messages":[%s],"model":"m","stream":false}`, tt.want)
		if err != nil || string(body) != want {
			t.Errorf("%d: %v\n got %s\nwant %s", i, err, body, want)
		}
	}
}
