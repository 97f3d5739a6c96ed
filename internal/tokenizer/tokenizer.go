// Package tokenizer turns text into token ids and back, with the same ids as the reference libraries, for the tokenizer files that
// models are published with. One tokenizer (o200k_base) is inside the binary.
package tokenizer

import (
	"sync"

	"aiperf/internal/tokenizer/pipeline"
	"aiperf/internal/tokenizer/utf"
)

// Tokenizer is one loaded tokenizer. It is immutable and safe for concurrent use.
type Tokenizer struct {
	name string
	pipe *pipeline.Pipeline
	meta meta
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
func (t *Tokenizer) Append(dst []int32, text string) []int32 { return t.pipe.Append(dst, text) }

// AppendSpecial is Append with the special tokens that the tokenizer puts around a text.
func (t *Tokenizer) AppendSpecial(dst []int32, text string) []int32 {
	dst = append(dst, t.meta.before...)
	return append(t.pipe.Append(dst, text), t.meta.after...)
}

// Count is the number of ids that Append would add. It allocates nothing once it is warm.
func (t *Tokenizer) Count(text string) int { return t.pipe.Count(text) }

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
