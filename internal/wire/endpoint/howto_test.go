package endpoint

import (
	"bytes"
	"strings"
	"testing"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// echoType answers {"echo": TEXT} to {"say": TEXT}.
var echoType = jsonType{
	encode: func(b *body, t *conversation.Turn, h *History) error {
		b.setString("say", strings.Join(t.Contents(), " "))
		return rejectHistory(t, h, "echo")
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

// TestHowToAddAnEndpoint follows docs/howto/endpoint.md: this test has what the page asks for, and its row verbatim.
func TestHowToAddAnEndpoint(t *testing.T) {
	before := catalogue
	t.Cleanup(func() { catalogue = before })
	catalogue = append(catalogue[:len(catalogue):len(catalogue)], []Endpoint{
		{Name: "echo", Path: "/echo", Title: "LLM Metrics", Summary: "says it again", ProducesTokens: true, TokenizesInput: true, Open: echoType.open},
	}...)
	testrecording.CheckPageRows(t, "../../../docs/howto/endpoint.md", "howto_test.go", 1)
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

// pieceLines is a stream of lines {"piece": TEXT}. The last one says why it ends.
var pieceLines = framing.NDJSON{Last: func(doc []byte) (last, mark bool) {
	last = bytes.Contains(doc, []byte(`"end":`))
	return last, last
}}

// pieceType answers {"say": TEXT} in pieces.
var pieceType = jsonType{
	encode: echoType.encode,
	input:  echoType.input,
	member: func(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
		switch string(key) {
		case "piece":
			d.chunk.delta.set, d.chunk.delta.content = true, s.Text()
		case "end":
			d.chunk.finish = s.Text()
		default:
			return false
		}
		return true
	},
}

// TestHowToAddAnEndpointOfLines follows docs/howto/ndjson.md: a stream that is cut anywhere becomes contents, each with the instant of its line.
func TestHowToAddAnEndpointOfLines(t *testing.T) {
	before := catalogue
	t.Cleanup(func() { catalogue = before })
	catalogue = append(catalogue[:len(catalogue):len(catalogue)], []Endpoint{
		{Name: "pieces", Path: "/pieces", Title: "LLM Metrics", Summary: "pieces of a text", Streams: true, ProducesTokens: true, Framing: pieceLines, Open: pieceType.open},
	}...)
	testrecording.CheckPageRows(t, "../../../docs/howto/ndjson.md", "howto_test.go", 1)
	e, _, err := Lookup("pieces")
	if err != nil {
		t.Fatal(err)
	}
	stream := []byte("{\"piece\":\"a\"}\r\n\n{\"piece\":\" b\"}\n{\"end\":\"stop\"}")
	rec, framer := &record.Record{Start: 1, End: 1 << 20}, e.Framing.Framer()
	for n := range len(stream) + 1 { // a byte with each read
		for s, ok := framer.Next(stream[:n]); ok; s, ok = framer.Next(stream[:n]) {
			rec.Messages = append(rec.Messages, record.Message{At: int64(n), Line: true, Raw: stream[s.Start:s.End]})
		}
	}
	s, ok := framer.Finish(stream)
	if !ok {
		t.Fatal("the last line is lost")
	}
	rec.Messages = append(rec.Messages, record.Message{At: int64(len(stream)), Line: true, Raw: stream[s.Start:s.End]})
	if last, mark := e.Framing.Ends(rec.Messages[2].Raw); !last || !mark {
		t.Errorf("%s is not the end", rec.Messages[2].Raw)
	}
	reply, failure := Decode(codec(t, "pieces", Settings{Streaming: true}), rec, DecodeOptions{})
	if failure != nil || reply.Output != "a b" || reply.FinishReason != "stop" || len(reply.Contents) != 2 || reply.Contents[0].At != 15 || reply.Contents[1].At != 31 {
		t.Errorf("%+v %v", reply, failure)
	}
}
