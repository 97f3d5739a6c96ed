package model

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WordPiece cuts a word into the longest tokens from the left; those behind the first are looked up as continuations.
type WordPiece struct {
	vocab *Vocab
	cont  *Vocab // continuations without their prefix
	unk   int32
	max   int // characters of the longest word that is cut
	cache *cache
}

// NewWordPiece builds the model. Words of more than maxChars characters, and words that cannot be cut, become unk.
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

// Append adds the ids of piece to dst.
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

// longest finds the longest beginning of s that is in v.
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

// WordLevel looks whole pieces up.
type WordLevel struct {
	vocab *Vocab
	unk   int32
}

// NewWordLevel builds the model; a piece that is no token becomes unk.
func NewWordLevel(vocab *Vocab, unk string) (*WordLevel, error) {
	m := &WordLevel{vocab: vocab, unk: vocab.ID(unk)}
	if m.unk == None {
		return nil, fmt.Errorf("model.unk_token %q is not in model.vocab", unk)
	}
	return m, nil
}

// Append adds the id of piece to dst.
func (m *WordLevel) Append(dst []int32, piece string, _ *Scratch) []int32 {
	id := m.vocab.ID(piece)
	if id == None {
		id = m.unk
	}
	return append(dst, id)
}
