package endpoint

import (
	"aiperf/internal/conversation"
	"aiperf/internal/record"
)

// embeddingsType is OpenAI's embeddings.
var embeddingsType = jsonType{encode: encodeEmbeddings, input: embeddingsInput, member: embeddingsMember}

// encodeEmbeddings builds the body of an embeddings request; the input is always a list.
func encodeEmbeddings(b *body, t *conversation.Turn, h *History) error {
	if err := alone(t, h, "embeddings"); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	a := len(b.buf)
	b.strings(t.Contents())
	b.end("input", a)
	return nil
}

// embeddingsMember counts the vectors of an answer: lists that are not empty, or base64 text.
func embeddingsMember(d *jsonAnswer, s *scanner, key []byte) bool {
	if string(key) != "data" {
		return false
	}
	d.chunk.kind, d.chunk.items = record.Embeddings, 0
	if !s.open('[') {
		s.skip()
		return true
	}
	for first := true; s.next(']', first); first = false {
		if vector(s) {
			d.chunk.items++
		}
	}
	return true
}

// vector reads an element of the list and tells whether it holds a vector.
func vector(s *scanner) bool {
	if !s.open('{') {
		s.skip()
		return false
	}
	found := false
	for first := true; s.next('}', first); first = false {
		if string(s.key()) != "embedding" {
			s.skip()
			continue
		}
		switch s.kind() {
		case '"':
			found = !s.text().empty()
		case '[':
			found = !emptyList(s.raw())
		default:
			s.skip()
			found = false
		}
	}
	return found
}

func emptyList(raw []byte) bool {
	s := scanner{b: raw}
	return s.open('[') && s.kind() == ']'
}
