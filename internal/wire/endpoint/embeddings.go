package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// embeddingsType implements OpenAI's embeddings.
var embeddingsType = jsonType{encode: encodeEmbeddings, input: embeddingsInput, member: embeddingsMember}

// encodeEmbeddings builds the body of an embeddings request; the input is always a list.
func encodeEmbeddings(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "embeddings"); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	a := len(b.buf)
	b.strings(t.Contents())
	b.end("input", a)
	return nil
}

// embeddingsMember counts the vectors of an answer: lists that are not empty, or base64 text.
func embeddingsMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "data" {
		return false
	}
	d.chunk.kind, d.chunk.items = record.Embeddings, 0
	if !s.Open('[') {
		s.Skip()
		return true
	}
	for first := true; s.Next(']', first); first = false {
		if vector(s) {
			d.chunk.items++
		}
	}
	return true
}

// vector reads an element of the list and reports whether it holds a vector.
func vector(s *jsontext.Scanner) bool {
	if !s.Open('{') {
		s.Skip()
		return false
	}
	found := false
	for first := true; s.Next('}', first); first = false {
		if string(s.Key()) != "embedding" {
			s.Skip()
			continue
		}
		switch s.Kind() {
		case '"':
			found = !s.Text().Empty()
		case '[':
			found = !emptyList(s.Raw())
		default:
			s.Skip()
			found = false
		}
	}
	return found
}

func emptyList(raw []byte) bool {
	s := jsontext.Scanner{Doc: raw}
	return s.Open('[') && s.Kind() == ']'
}
