// Package hf reads tokenizer.json, the tokenizer file of the Hugging Face ecosystem. Anything unknown is an error that names the part. Nothing is
// approximated.
package hf

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/pipeline"
)

// Options are settings from outside the file; nil = use the file's.
type Options struct {
	PrefixSpace *bool // add_prefix_space of ByteLevel and Metaspace
	Bert        BertFlags
	Tokens      []addedtokens.Token // tokens to append if the file does not have them
}

// File is a loaded tokenizer.json.
type File struct {
	Pipeline *pipeline.Pipeline
	Vocab    *model.Vocab // vocabulary of the model, without added tokens
	Raw      bool         // Vocab contains bytes instead of the byte alphabet
	Added    []addedtokens.Token
	Wrap     Wrap

	byText       map[string]int32 // ids of the added tokens
	displayTexts map[int32]string // their decoded texts: like the reference, the normalised text
}

// ID returns the id of a token by its text, added tokens first; model.None if there is none.
func (f *File) ID(text string) int32 {
	if id, ok := f.byText[text]; ok {
		return id
	}
	if f.Raw {
		b, ok := appendBytes(nil, []byte(text))
		if !ok {
			return f.Vocab.Foreign(text)
		}
		return f.Vocab.ID(string(b))
	}
	return f.Vocab.ID(text)
}

// addedPart is one entry of added_tokens.
type addedPart struct {
	ID         int32
	Content    string
	SingleWord bool `json:"single_word"`
	LStrip     bool
	RStrip     bool
	Normalized *bool
	Special    bool
}

func (p addedPart) token() addedtokens.Token {
	normalized := !p.Special
	override(&normalized, p.Normalized)
	return addedtokens.Token{
		ID: p.ID, Content: p.Content, SingleWord: p.SingleWord, LStrip: p.LStrip, RStrip: p.RStrip, Normalized: normalized,
		Special: p.Special,
	}
}

// sections holds the parts of the file, as text.
type sections struct {
	added, normalizer, pretokenizer, post, decoder []byte
	model                                          *modelFile
}

// Parse reads a tokenizer.json.
func Parse(text []byte, o Options) (*File, error) {
	var s sections
	parts := map[string]*[]byte{
		"added_tokens": &s.added, "normalizer": &s.normalizer, "pre_tokenizer": &s.pretokenizer, "post_processor": &s.post,
		"decoder": &s.decoder,
	}
	l := &lexer{b: text}
	err := l.object(func(key string) (err error) {
		if key == "model" && l.peek() != 'n' {
			s.model, err = readModel(l)
			return err
		}
		v, err := l.skip()
		if p := parts[key]; p != nil {
			*p = v
		}
		return err
	})
	if err == nil && l.peek() != 0 {
		err = l.fail("the end")
	}
	if err != nil {
		return nil, err
	}
	if s.model == nil {
		return nil, fmt.Errorf("model is missing, so this is not a tokenizer.json")
	}
	return s.build(o)
}

func (s *sections) build(o Options) (*File, error) {
	st := &stages{prefixSpace: o.PrefixSpace}
	if err := st.read(s.pretokenizer, "pre_tokenizer", 0); err != nil {
		return nil, err
	}
	m := s.model
	raw := st.bytes && st.bytesAt == len(st.list) && m.Type == "BPE" && orDefault(m.Prefix, "") == "" && orDefault(m.Suffix, "") == ""
	if st.bytes && !raw {
		st.alphabet()
	}
	f := &File{Raw: raw, Pipeline: &pipeline.Pipeline{Stages: st.list}}
	n, err := newNormalizer(s.normalizer, "normalizer", &o.Bert, 0)
	if err != nil {
		return nil, err
	}
	if n != nil {
		f.Pipeline.Normalizer = n
	}
	if f.Pipeline.Model, f.Vocab, err = m.build(raw); err != nil {
		return nil, err
	}
	if err := f.Wrap.read(s.post, "post_processor", 0); err != nil {
		return nil, err
	}
	if err := f.readAdded(s.added, n, o.Tokens); err != nil {
		return nil, err
	}
	return f, f.readDecoder(s.decoder)
}

// readAdded builds the matchers of added tokens.
func (f *File) readAdded(raw json.RawMessage, n normalizer.Normalizer, more []addedtokens.Token) error {
	var parts []addedPart
	if !isNull(raw) {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return fmt.Errorf("added_tokens: %w", err)
		}
	}
	next := f.Vocab.MaxID() + 1
	have := map[string]bool{}
	defer func() { // until then, ID searches the vocabulary only
		f.byText = make(map[string]int32, len(f.Added))
		for _, t := range f.Added {
			f.byText[t.Content] = t.ID
		}
	}()
	for i, p := range parts {
		if p.ID < 0 || p.ID > maxID {
			return fmt.Errorf("added_tokens[%d] (%q): id %d must be from 0 to %d", i, p.Content, p.ID, maxID)
		}
		t := p.token()
		if id := f.ID(p.Content); id != model.None {
			t.ID = id // the reference prefers the vocabulary's id
		}
		f.Added = append(f.Added, t)
		have[p.Content] = true
		next = max(next, p.ID+1)
	}
	for _, t := range more {
		if have[t.Content] || t.Content == "" {
			continue
		}
		have[t.Content] = true
		if t.ID == model.None {
			if t.ID = f.ID(t.Content); t.ID == model.None {
				t.ID = next
				next++
			}
		}
		f.Added = append(f.Added, t)
	}
	var asIs, normalized []addedtokens.Token
	f.displayTexts = make(map[int32]string, len(f.Added))
	for _, t := range f.Added {
		if !t.Normalized {
			asIs = append(asIs, t)
		} else {
			if n != nil {
				left := budget.New(pipeline.Limits(len(t.Content)))
				if t.Content = n.Normalize(left, t.Content); left.Err() != nil {
					return fmt.Errorf("normalizer: the added token with id %d %w", t.ID, left.Err())
				}
			}
			normalized = append(normalized, t)
		}
		f.displayTexts[t.ID] = t.Content
	}
	f.Pipeline.Raw, f.Pipeline.Normalized = addedtokens.NewMatcher(asIs), addedtokens.NewMatcher(normalized)
	return nil
}

// readDecoder builds the decoder: joined bytes for a plain ByteLevel one, otherwise a chain of steps.
func (f *File) readDecoder(raw json.RawMessage) error {
	steps, byteLevel, err := newDecoder(raw, "decoder", 0)
	if err != nil {
		return err
	}
	texts := f.displayTexts
	if byteLevel && f.Raw {
		for id, s := range texts {
			texts[id] = string(pipeline.AppendAlphabet(nil, s))
		}
	}
	if byteLevel && f.Raw {
		f.Pipeline.Decoder = pipeline.BytesDecoder{Vocab: f.Vocab, Added: texts}
		return nil
	}
	f.Pipeline.Decoder = pipeline.ChainDecoder{Vocab: f.Vocab, Raw: f.Raw, Added: texts, Steps: steps}
	return nil
}
