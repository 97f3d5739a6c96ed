package endpoint

import (
	"fmt"

	"aiperf/internal/conversation"
	"aiperf/internal/record"
)

// ranking is the query and the passages of a turn.
func ranking(in *Input, name string) (t *conversation.Turn, query string, passages []string, err error) {
	if t, err = in.onlyTurn(name); err != nil {
		return nil, "", nil, err
	}
	found := false
	for i := range t.Texts {
		switch m := &t.Texts[i]; m.Name {
		case "query", "queries":
			if !found && len(m.Contents) > 0 {
				query, found = m.Contents[0], true
			}
		case "passages":
			passages = append(passages, m.Contents...)
		}
	}
	if !found {
		return nil, "", nil, invalid(t, "endpoint type %s needs a text named query (and texts named passages)", name)
	}
	return t, query, passages, nil
}

// rankingRemarks tells what a ranking request leaves out of a turn, and what it lacks.
func rankingRemarks(t *conversation.Turn) (remarks []string) {
	queries, passages := 0, 0
	for i := range t.Texts {
		switch m := &t.Texts[i]; m.Name {
		case "query", "queries":
			queries += len(m.Contents)
		case "passages":
			passages += len(m.Contents)
		default:
			remarks = append(remarks, fmt.Sprintf("a text named %q is left out: a ranking request takes a query and passages", m.Name))
		}
	}
	if queries > 1 {
		remarks = append(remarks, "a ranking request takes one query: the first is sent, the others are left out")
	}
	if passages == 0 {
		remarks = append(remarks, "there are no passages to rank: the list goes out empty")
	}
	return remarks
}

func encodeNIMRankings(b *body, in *Input) error {
	t, query, passages, err := ranking(in, "nim_rankings")
	if err != nil {
		return err
	}
	b.setString("model", in.modelOf(t))
	a := len(b.buf)
	b.textObject(query)
	b.end("query", a)
	a = len(b.buf)
	b.buf = append(b.buf, '[')
	for i, p := range passages {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		b.textObject(p)
	}
	b.buf = append(b.buf, ']')
	b.end("passages", a)
	return nil
}

func (b *body) textObject(s string) {
	b.buf = append(b.buf, `{"text":`...)
	b.buf = appendString(b.buf, s)
	b.buf = append(b.buf, '}')
}

func encodeCohereRankings(b *body, in *Input) error {
	t, query, passages, err := ranking(in, "cohere_rankings")
	if err != nil {
		return err
	}
	b.setString("model", in.modelOf(t))
	b.setString("query", query)
	a := len(b.buf)
	b.strings(passages)
	b.end("documents", a)
	return nil
}

func encodeTEIRankings(b *body, in *Input) error {
	_, query, passages, err := ranking(in, "hf_tei_rankings")
	if err != nil {
		return err
	}
	b.setString("query", query)
	a := len(b.buf)
	b.strings(passages)
	b.end("texts", a)
	return nil
}

// listMember counts the scores under the type's own key.
func listMember(name string) func(*decoder, *scanner, []byte) bool {
	return func(d *decoder, s *scanner, key []byte) bool {
		return string(key) == name && rankingArray(d, s)
	}
}

// rankingArray counts the scores of a list.
func rankingArray(d *decoder, s *scanner) bool {
	d.chunk.kind, d.chunk.items = record.Rankings, 0
	if !s.open('[') {
		s.skip()
		return true
	}
	for first := true; s.next(']', first); first = false {
		if s.kind() == '{' {
			d.chunk.items++
		}
		s.skip()
	}
	return true
}
