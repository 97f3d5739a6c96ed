// Package tokenizer converts text to token ids and back. It reads the tokenizer files that models are published with, and returns the same ids as the
// reference libraries. One tokenizer (o200k_base) is built into the binary.
package tokenizer

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/pipeline"
	"aiperf/internal/text/tokenizer/utf8repair"
)

// Tokenizer is one loaded tokenizer. It is immutable and safe for concurrent use.
type Tokenizer struct {
	name string
	pipe *pipeline.Pipeline
	meta meta
	err  atomic.Pointer[error] // error of the first text that exceeded the limits
}

// meta holds the properties of a tokenizer file besides the conversion to ids.
type meta struct {
	vocabSize int               // number of ids, including added tokens if the format counts them
	bos, eos  int32             // -1 = none
	before    []int32           // special tokens that an encode with special tokens adds before a text
	after     []int32           // and after it
	special   map[int32]bool    // ids of special tokens
	texts     map[string]string // texts of bos_token … for templates
	templates []template        // chat templates
	parsed    sync.Map          // source -> *jinja.Template
}

// Name returns the name by which the tokenizer was requested: an encoding, a repository, a path.
func (t *Tokenizer) Name() string { return t.name }

// Append appends the ids of text to dst. It adds no special tokens, but converts their texts inside text to their ids. Invalid UTF-8 counts as
// U+FFFD, one for each maximal invalid part.
func (t *Tokenizer) Append(dst []int32, text string) []int32 {
	if t.Err() != nil {
		return dst
	}
	dst, err := t.pipe.Append(pipeline.Limits(len(text)), dst, text)
	t.storeError(err, text)
	return dst
}

// Err returns an error if some text exceeded the limits of the tokenizer's patterns or rules. Then the ids of this text and of all later texts are
// incomplete. Code that encodes many texts checks it once, at the end.
func (t *Tokenizer) Err() error {
	if p := t.err.Load(); p != nil {
		return *p
	}
	return nil
}

// probe encodes runs of the most common characters, to detect endless rules before they are needed.
func (t *Tokenizer) probe() error {
	for _, unit := range []string{"a", " ", "1", "\n", "A", "ab", "a ", ".", "é", "漢"} {
		t.Count(strings.Repeat(unit, 500) + "!")
	}
	return t.Err()
}

// storeError stores the error of a text.
func (t *Tokenizer) storeError(err error, text string) {
	if err == nil {
		return
	}
	worded := fmt.Errorf("tokenizer %q: a text of %d bytes %w, so the patterns or normalizers of its file cannot be used", t.name, len(text), err)
	t.err.CompareAndSwap(nil, &worded)
}

// CountWithin is Count with limits. An error means that a limit was exceeded; it does not affect Err.
func (t *Tokenizer) CountWithin(l budget.Limits, text string) (int, error) {
	n, err := t.pipe.Count(l, text)
	if err != nil {
		return -1, fmt.Errorf("a text of %d bytes %w", len(text), err)
	}
	return n, nil
}

// AppendSpecial is Append with the special tokens that the tokenizer adds around a text.
func (t *Tokenizer) AppendSpecial(dst []int32, text string) []int32 {
	dst = append(dst, t.meta.before...)
	return append(t.Append(dst, text), t.meta.after...)
}

// Count returns the number of ids that Append would add. It does not allocate memory after the first calls.
func (t *Tokenizer) Count(text string) int {
	if t.Err() != nil {
		return 0
	}
	n, err := t.pipe.Count(pipeline.Limits(len(text)), text)
	t.storeError(err, text)
	return n
}

// Decode returns the text of ids, including special tokens. It ignores ids that are not in the vocabulary, and replaces invalid UTF-8 by U+FFFD.
func (t *Tokenizer) Decode(ids []int32) string { return utf8repair.Valid(t.pipe.Decode(ids)) }

// VocabSize returns the size of the vocabulary: the highest id plus one for rank files, otherwise the number of the model's tokens.
func (t *Tokenizer) VocabSize() int { return t.meta.vocabSize }

// BOS returns the token that starts a sequence, if the tokenizer has one.
func (t *Tokenizer) BOS() (id int32, ok bool) { return t.meta.bos, t.meta.bos >= 0 }

// EOS returns the token that ends a sequence, if the tokenizer has one.
func (t *Tokenizer) EOS() (id int32, ok bool) { return t.meta.eos, t.meta.eos >= 0 }

// NumSpecialAdded returns the number of tokens that an encode with special tokens adds to one text.
func (t *Tokenizer) NumSpecialAdded() int { return len(t.meta.before) + len(t.meta.after) }

// IsSpecial reports whether id is a special token.
func (t *Tokenizer) IsSpecial(id int32) bool { return t.meta.special[id] }

// Known reports whether id is a token. Rank lists have gaps below their highest id.
func (t *Tokenizer) Known(id int32) bool { return t.pipe.Decoder.Known(id) }
