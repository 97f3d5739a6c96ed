package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// solidoType implements SOLIDO's retrieval-augmented generation (endpoints, section 9.10). It sends only the latest turn of a conversation.
var solidoType = jsonType{encode: encodeSolido, input: solidoInput, member: solidoMember}

func encodeSolido(b *body, t *conversation.Turn, _ *History) error {
	a := len(b.buf)
	b.strings(t.Contents())
	b.end("query", a)
	a = len(b.buf)
	b.buf = append(b.buf, `{"family":"Solido","tool":"SDE"}`...)
	b.end("filters", a)
	b.setString("inference_model", b.set.model(t))
	return nil
}

// solidoInput counts nothing: a list of queries is not one of the input formats of the contract (section 12).
func solidoInput(*inputTexts, *jsontext.Scanner, []byte) bool { return false }

// solidoMember reads the text of an answer and ignores its sources.
func solidoMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "content" {
		return false
	}
	d.chunk.delta.reset()
	d.chunk.delta.set, d.chunk.delta.content = true, s.Text()
	return true
}
