package endpoint

import (
	"strings"
	"testing"

	"aiperf/internal/conversation"
	"aiperf/internal/golden"
	"aiperf/internal/jsontext"
	"aiperf/internal/record"
)

// echoType answers {"echo": TEXT} to {"say": TEXT}.
var echoType = jsonType{
	encode: func(b *body, t *conversation.Turn, h *History) error {
		b.setString("say", strings.Join(t.Contents(), " "))
		return alone(t, h, "echo")
	},
	input: func(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
		if string(key) == "say" {
			x.add(s.Text())
			return true
		}
		return false
	},
	member: func(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
		if string(key) == "echo" {
			d.chunk.delta.set, d.chunk.delta.content = true, s.Text()
			return true
		}
		return false
	},
}

// TestHowToAddAnEndpoint follows docs/howto/endpoint.md: what the page asks for stands here, its row letter by letter.
func TestHowToAddAnEndpoint(t *testing.T) {
	before := catalogue
	t.Cleanup(func() { catalogue = before })
	catalogue = append(catalogue[:len(catalogue):len(catalogue)], []Endpoint{
		{Name: "echo", Path: "/echo", Title: "LLM Metrics", Summary: "says it again", ProducesTokens: true, TokenizesInput: true, Open: echoType.open},
	}...)
	golden.Followed(t, "../../docs/howto/endpoint.md", "howto_test.go", 1)
	c := codec(t, "echo", Settings{Extras: []Member{{"loud", []byte("true")}}})
	r, err := c.Encode(&conversation.Turn{Parts: conversation.Texts("", "a", "b")}, &History{})
	if err != nil || string(r.Body.Bytes()) != `{"say":"a b","loud":true}` {
		t.Fatalf("%s %v", r.Body.Bytes(), err)
	}
	reply, failure := Decode(c, &record.Record{Payload: r.Body, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(`{"echo":"a b"}`)}}}, DecodeOptions{})
	if failure != nil || reply.Output != "a b" || len(reply.InputTexts) != 1 || reply.InputTexts[0] != "a b" {
		t.Errorf("%+v %v", reply, failure)
	}
}
