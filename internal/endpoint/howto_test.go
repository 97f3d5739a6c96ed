package endpoint

import (
	"os"
	"strings"
	"testing"

	"aiperf/internal/conversation"
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

// TestHowToAddAnEndpoint follows docs/howto/endpoint.md: the type above and the row below stand there letter by letter.
func TestHowToAddAnEndpoint(t *testing.T) {
	before := catalogue
	t.Cleanup(func() { catalogue = before })
	catalogue = append(catalogue[:len(catalogue):len(catalogue)], []Endpoint{
		{Name: "echo", Path: "/echo", Title: "LLM Metrics", Summary: "says it again", ProducesTokens: true, TokenizesInput: true, Open: echoType.open},
	}...)
	page, err := os.ReadFile("../../docs/howto/endpoint.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("howto_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")
	if len(blocks) != 3 {
		t.Fatalf("%d pieces of code, want 2", len(blocks)-1)
	}
	for _, b := range blocks[1:] {
		if code, _, _ := strings.Cut(b, "```"); !strings.Contains(string(here), strings.TrimSpace(code)) {
			t.Errorf("this test does not hold the page's\n%s", code)
		}
	}
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
