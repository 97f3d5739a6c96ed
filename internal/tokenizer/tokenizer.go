// Package tokenizer turns text into token ids and back, with the same ids as the reference libraries, for the tokenizer files that
// models are published with. One tokenizer (o200k_base) is inside the binary.
package tokenizer

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"aiperf/internal/budget"
	"aiperf/internal/tokenizer/pipeline"
	"aiperf/internal/tokenizer/utf"
)

// Tokenizer is one loaded tokenizer. It is immutable and safe for concurrent use.
type Tokenizer struct {
	name string
	pipe *pipeline.Pipeline
	meta meta
	err  atomic.Pointer[error] // the first text that was too heavy
}

// meta is what a tokenizer file says beside the way from text to ids.
type meta struct {
	vocabSize int               // ids of the model, added tokens included where the format counts them
	bos, eos  int32             // -1 = none
	before    []int32           // special tokens that an encode with special tokens puts in front
	after     []int32           // and behind
	special   map[int32]bool    // ids of special tokens
	texts     map[string]string // bos_token … -> text, for templates
	templates []template        // chat templates
	parsed    sync.Map          // source -> *jinja.Template
}

// Name is what the tokenizer was asked for by: an encoding name, a repository, a path.
func (t *Tokenizer) Name() string { return t.name }

// Append adds the ids of text to dst. No special tokens are added; the texts of special tokens inside text become their ids. Bytes
// that are not UTF-8 count as U+FFFD, one for each maximal invalid part.
func (t *Tokenizer) Append(dst []int32, text string) []int32 {
	if t.Err() != nil {
		return dst
	}
	dst, err := t.pipe.Append(pipeline.Limits(len(text)), dst, text)
	t.settle(err, text)
	return dst
}

// Err tells that some text was too heavy for the patterns or the rules of the tokenizer. Then neither its ids nor those of any later text are
// complete. Whoever encodes many texts looks once, behind them.
func (t *Tokenizer) Err() error {
	if p := t.err.Load(); p != nil {
		return *p
	}
	return nil
}

// probe encodes runs of the commonest characters, so that rules that never end are found before they are needed.
func (t *Tokenizer) probe() error {
	for _, unit := range []string{"a", " ", "1", "\n", "A", "ab", "a ", ".", "é", "漢"} {
		t.Count(strings.Repeat(unit, 500) + "!")
	}
	return t.Err()
}

// settle keeps the error of a text.
func (t *Tokenizer) settle(err error, text string) {
	if err == nil {
		return
	}
	worded := fmt.Errorf("tokenizer %q: a text of %d bytes %w: the patterns or normalizers of its file are not fit for use", t.name, len(text), err)
	t.err.CompareAndSwap(nil, &worded)
}

// CountWithin is Count within limits. An error says that they were too narrow; it leaves Err as it is.
func (t *Tokenizer) CountWithin(l budget.Limits, text string) (int, error) {
	n, err := t.pipe.Count(l, text)
	if err != nil {
		return -1, fmt.Errorf("a text of %d bytes %w", len(text), err)
	}
	return n, nil
}

// AppendSpecial is Append with the special tokens that the tokenizer puts around a text.
func (t *Tokenizer) AppendSpecial(dst []int32, text string) []int32 {
	dst = append(dst, t.meta.before...)
	return append(t.Append(dst, text), t.meta.after...)
}

// Count is the number of ids that Append would add. It allocates nothing once it is warm.
func (t *Tokenizer) Count(text string) int {
	if t.Err() != nil {
		return 0
	}
	n, err := t.pipe.Count(pipeline.Limits(len(text)), text)
	t.settle(err, text)
	return n
}

// Decode is the text of ids, special tokens included. Ids that are not in the vocabulary add nothing; bytes that are not UTF-8 come
// out as U+FFFD.
func (t *Tokenizer) Decode(ids []int32) string { return utf.Valid(t.pipe.Decode(ids)) }

// VocabSize is the size of the vocabulary: one above the highest id for rank files, the number of the model's tokens otherwise.
func (t *Tokenizer) VocabSize() int { return t.meta.vocabSize }

// BOS is the token that begins a sequence, if the tokenizer has one.
func (t *Tokenizer) BOS() (id int32, ok bool) { return t.meta.bos, t.meta.bos >= 0 }

// EOS is the token that ends a sequence, if the tokenizer has one.
func (t *Tokenizer) EOS() (id int32, ok bool) { return t.meta.eos, t.meta.eos >= 0 }

// NumSpecialAdded is the number of tokens that an encode with special tokens would add to one text.
func (t *Tokenizer) NumSpecialAdded() int { return len(t.meta.before) + len(t.meta.after) }

// IsSpecial tells whether id is a special token.
func (t *Tokenizer) IsSpecial(id int32) bool { return t.meta.special[id] }

// Known tells whether id stands for a token at all; rank lists have gaps below their highest id.
func (t *Tokenizer) Known(id int32) bool { return t.pipe.Decoder.Known(id) }
