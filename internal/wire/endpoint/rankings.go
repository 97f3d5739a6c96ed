package endpoint

import (
	"fmt"
	"slices"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// The ranking types of three servers.
var (
	nimRankingsType    = jsonType{encode: encodeNIMRankings, input: rankingsInput, member: listMember("rankings")}
	cohereRankingsType = jsonType{encode: encodeCohereRankings, input: rankingsInput, member: listMember("results")}
	teiRankingsType    = jsonType{encode: encodeTEIRankings, input: rankingsInput, member: listMember("results"), array: rankingArray}
)

// ranking returns the query and the passages of a turn.
func ranking(t *conversation.Turn, h *History, name string) (query string, passages []string, err error) {
	if err := rejectHistory(t, h, name); err != nil {
		return "", nil, err
	}
	found := false
	for i := range t.Parts {
		switch p := &t.Parts[i]; p.Name {
		case "query", "queries":
			if !found {
				query, found = p.Text, true
			}
		case "passages":
			passages = append(passages, p.Text)
		}
	}
	if !found {
		return "", nil, invalid(t, "endpoint type %s needs a text named query (and texts named passages)", name)
	}
	return query, passages, nil
}

// rankingRemarks returns messages about the texts of a turn that a ranking request does not send, and about missing ones.
func rankingRemarks(t *conversation.Turn) (remarks []string) {
	queries, passages := 0, 0
	for i := range t.Parts {
		switch p := &t.Parts[i]; p.Name {
		case "query", "queries":
			queries++
		case "passages":
			passages++
		default:
			if text := fmt.Sprintf("the text named %q is skipped: a ranking request takes only query and passages", p.Name); !slices.Contains(remarks, text) {
				remarks = append(remarks, text)
			}
		}
	}
	if queries > 1 {
		remarks = append(remarks, "a ranking request takes one query: only the first is sent")
	}
	if passages == 0 {
		remarks = append(remarks, "no passages to rank: an empty list is sent")
	}
	return remarks
}

func encodeNIMRankings(b *body, t *conversation.Turn, h *History) error {
	query, passages, err := ranking(t, h, "nim_rankings")
	if err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
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
	b.buf = jsontext.AppendString(b.buf, s)
	b.buf = append(b.buf, '}')
}

func encodeCohereRankings(b *body, t *conversation.Turn, h *History) error {
	query, passages, err := ranking(t, h, "cohere_rankings")
	if err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	b.setString("query", query)
	a := len(b.buf)
	b.strings(passages)
	b.end("documents", a)
	return nil
}

func encodeTEIRankings(b *body, t *conversation.Turn, h *History) error {
	query, passages, err := ranking(t, h, "hf_tei_rankings")
	if err != nil {
		return err
	}
	b.setString("query", query)
	a := len(b.buf)
	b.strings(passages)
	b.end("texts", a)
	return nil
}

// listMember returns a function that counts the scores under the type's key.
func listMember(name string) func(*jsonAnswer, *jsontext.Scanner, []byte) bool {
	return func(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
		return string(key) == name && rankingArray(d, s)
	}
}

// rankingArray counts the scores of a list.
func rankingArray(d *jsonAnswer, s *jsontext.Scanner) bool {
	d.chunk.kind, d.chunk.items = record.Rankings, 0
	if !s.Open('[') {
		s.Skip()
		return true
	}
	for first := true; s.Next(']', first); first = false {
		if s.Kind() == '{' {
			d.chunk.items++
		}
		s.Skip()
	}
	return true
}
