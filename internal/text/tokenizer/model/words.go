package model

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WordPiece splits a word into the longest tokens from the left. Tokens after the first are looked up as continuations.
type WordPiece struct {
	vocab *Vocab
	cont  *Vocab // continuations without their prefix
	unk   int32
	max   int // maximum number of characters of a word that is split
	cache *cache
}

// NewWordPiece returns the model. Words of more than maxChars characters, and words that cannot be split, become unk.
func NewWordPiece(vocab *Vocab, unk, prefix string, maxChars int) (*WordPiece, error) {
	m := &WordPiece{vocab: vocab, cont: NewVocab(vocab.Len()/4, 0), unk: vocab.ID(unk), max: maxChars, cache: newCache()}
	if m.unk == None {
		return nil, fmt.Errorf("model.unk_token %q is not in model.vocab", unk)
	}
	for i := range vocab.Len() {
		text, id := vocab.Entry(i)
		if rest, ok := strings.CutPrefix(string(text), prefix); ok {
			m.cont.Add([]byte(rest), id)
		}
	}
	return m, nil
}

// Append appends the ids of piece to dst.
func (m *WordPiece) Append(dst []int32, piece string, _ *Scratch) []int32 {
	slot := m.cache.slot(piece)
	if slot != nil {
		if d, ok := m.cache.append(slot, dst, piece); ok {
			return d
		}
	}
	if len(piece) > m.max && utf8.RuneCountInString(piece) > m.max {
		return append(dst, m.unk)
	}
	n, tab := len(dst), m.vocab
	for begin := 0; begin < len(piece); {
		end, id := longest(tab, piece[begin:])
		if id == None {
			dst = append(dst[:n], m.unk)
			break
		}
		dst = append(dst, id)
		begin += end
		tab = m.cont
	}
	m.cache.put(slot, piece, dst[n:])
	return dst
}

// longest returns the end of the longest prefix of s that is in v, and its id.
func longest(v *Vocab, s string) (end int, id int32) {
	end = min(len(s), v.Longest())
	for end > 0 {
		if end == len(s) || utf8.RuneStart(s[end]) {
			if id = v.ID(s[:end]); id != None {
				return end, id
			}
		}
		end--
	}
	return 0, None
}

// WordLevel looks up whole pieces.
type WordLevel struct {
	vocab *Vocab
	unk   int32
}

// NewWordLevel returns the model. A piece that is not a token becomes unk.
func NewWordLevel(vocab *Vocab, unk string) (*WordLevel, error) {
	m := &WordLevel{vocab: vocab, unk: vocab.ID(unk)}
	if m.unk == None {
		return nil, fmt.Errorf("model.unk_token %q is not in model.vocab", unk)
	}
	return m, nil
}

// Append appends the id of piece to dst.
func (m *WordLevel) Append(dst []int32, piece string, _ *Scratch) []int32 {
	id := m.vocab.ID(piece)
	if id == None {
		id = m.unk
	}
	return append(dst, id)
}
