package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/conversation"
	"aiperf/internal/golden"
	"aiperf/internal/record"
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
			Texts, Images, Audios, Videos []conversation.Media
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
			turn := conversation.Turn{Role: t.Role, MaxTokens: t.MaxTokens, Texts: t.Texts, Images: t.Images, Audios: t.Audios, Videos: t.Videos,
				RawMessages: t.RawMessages, RawTools: t.RawTools, ExtraBody: t.ExtraBody}
			if t.RawPayload != nil {
				turn.RawPayload = []byte(*t.RawPayload)
			}
			conv.Turns = append(conv.Turns, turn)
		}
		list = append(list, conv)
	}
	return list
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
	list := golden.Lines[bodyCase](t, "testdata/requests.jsonl.gz")
	for i := range list {
		t.Run(list[i].Name, func(t *testing.T) { list[i].check(t) })
	}
	if n := len(list); n != 33 {
		t.Errorf("%d cases, want 33", n)
	}
}

func (c *bodyCase) check(t *testing.T) {
	e, _, err := Lookup(c.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Model: "m", Streaming: c.Streaming && e.Streams,
		Options: Options{LegacyMaxTokens: c.Legacy, PerChunkUsage: c.PerChunk, ServerTokenCount: c.Server, ForceContentParts: c.Force}}
	for _, m := range c.Extras {
		in.Extras = append(in.Extras, Member{m.Key, json.RawMessage(m.Value)})
	}
	var got []string
	convs := c.conversations()
	for i := range convs {
		in.Conversation, in.Replies = &convs[i], nil
		for in.Turn = range convs[i].Turns {
			body, err := e.Encode(nil, &in)
			if err != nil {
				if in.Turn > 0 && !e.History {
					continue // the second turn of a type that sends one
				}
				t.Fatal(err)
			}
			got = append(got, string(body))
			if texts := convs[i].Turns[in.Turn].Texts; len(texts) > 0 {
				in.Replies = append(in.Replies, e.Capture(c.stub(texts[0].Contents[0], in.Streaming)))
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
	conv := func(turns ...conversation.Turn) *conversation.Conversation {
		return &conversation.Conversation{Turns: turns}
	}
	text := func(name, s string) []conversation.Media {
		return []conversation.Media{{Name: name, Contents: []string{s}}}
	}
	for _, tt := range []struct {
		endpoint, want string
		in             Input
	}{
		{"chat", "f.jsonl:3: audio", Input{Conversation: conv(conversation.Turn{Origin: "f.jsonl:3", Audios: text("", "AAAA")})}},
		{"chat", "2 image ids for 1 images", Input{Conversation: conv(conversation.Turn{Images: []conversation.Media{{Contents: []string{"u"}, UUIDs: []string{"a", "b"}}}})}},
		{"completions", "exactly one turn", Input{Turn: 1, Conversation: conv(conversation.Turn{}, conversation.Turn{})}},
		{"nim_rankings", "query", Input{Conversation: conv(conversation.Turn{Texts: text("passages", "p")})}},
		{"chat", "not JSON", Input{Conversation: conv(conversation.Turn{}), Extras: []Member{{"a", json.RawMessage("{")}}}},
		{"chat", "extra body", Input{Conversation: conv(conversation.Turn{ExtraBody: json.RawMessage("[]")})}},
		{"messages", "not built", Input{Conversation: conv(conversation.Turn{})}},
	} {
		e, _, err := Lookup(tt.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Encode(nil, &tt.in)
		var bad *FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.endpoint, err, tt.want)
		}
	}
}

// TestRankingRemarks: what a ranking request leaves out is not left out in silence.
func TestRankingRemarks(t *testing.T) {
	text := func(name string, contents ...string) conversation.Media {
		return conversation.Media{Name: name, Contents: contents}
	}
	for _, test := range []struct {
		texts []conversation.Media
		want  []string
	}{
		{[]conversation.Media{text("query", "q"), text("passages", "a", "b")}, nil},
		{[]conversation.Media{text("queries", "q", "r"), text("passages", "a")}, []string{"one query"}},
		{[]conversation.Media{text("query", "q"), text("", "x")}, []string{`a text named ""`, "no passages"}},
	} {
		e, _, _ := Lookup("cohere_rankings")
		got := e.Remarks(&conversation.Turn{Texts: test.texts})
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
	e, _, err := Lookup("completions")
	if err != nil {
		t.Fatal(err)
	}
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
		c := conversation.Conversation{System: test.system, UserContext: test.context,
			Turns: []conversation.Turn{{Texts: []conversation.Media{{Name: "text", Contents: test.prompts}}}}}
		got, err := e.Encode(nil, &Input{Conversation: &c, Model: "m"})
		if want := `{"prompt":` + test.want + `,"model":"m","stream":false}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestSystemMessages(t *testing.T) {
	user := conversation.Turn{Texts: []conversation.Media{{Contents: []string{"Hi"}}}}
	authored := conversation.Turn{Role: "system", Texts: []conversation.Media{{Contents: []string{"A"}}}}
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
		e, _, _ := Lookup("chat")
		conv := conversation.Conversation{System: "S", UserContext: "C", Turns: tt.turns}
		body, err := e.Encode(nil, &Input{Conversation: &conv, Turn: len(tt.turns) - 1, Model: "m"})
		want := fmt.Sprintf(`{"messages":[%s],"model":"m","stream":false}`, tt.want)
		if err != nil || string(body) != want {
			t.Errorf("%d: %v\n got %s\nwant %s", i, err, body, want)
		}
	}
}
