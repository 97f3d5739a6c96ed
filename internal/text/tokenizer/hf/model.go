package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/pipeline"
)

// maxID is the maximum id in a file. It limits the memory that a hostile file can make us allocate.
const maxID = 1 << 24

// modelFile is the model section: the two large lists as text, the rest decoded.
type modelFile struct {
	vocab, merges []byte

	Type         string
	Dropout      *float64
	UnkToken     *string `json:"unk_token"`
	UnkID        *int32  `json:"unk_id"`
	Prefix       *string `json:"continuing_subword_prefix"`
	Suffix       *string `json:"end_of_word_suffix"`
	FuseUnk      bool    `json:"fuse_unk"`
	ByteFallback bool    `json:"byte_fallback"`
	IgnoreMerges bool    `json:"ignore_merges"`
	MaxChars     *int    `json:"max_input_chars_per_word"`
}

// readModel splits the model section, which starts at the lexer's position.
func readModel(l *lexer) (*modelFile, error) {
	m := &modelFile{}
	small := []byte{'{'}
	err := l.object(func(key string) error {
		v, err := l.skip()
		switch {
		case err != nil:
			return err
		case key == "vocab":
			m.vocab = v
		case key == "merges":
			m.merges = v
		default:
			if len(small) > 1 {
				small = append(small, ',')
			}
			name, _ := json.Marshal(key)
			small = append(append(append(small, name...), ':'), v...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(append(small, '}'), m); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if m.vocab == nil {
		return nil, fmt.Errorf("model.vocab is missing")
	}
	if m.Dropout != nil && *m.Dropout != 0 {
		return nil, fmt.Errorf("model.dropout is %g, which makes encoding random; it must be null or 0", *m.Dropout)
	}
	if m.Type == "" {
		m.Type = m.guess()
	}
	return m, nil
}

// guess returns the type of the model for old files that do not state it.
func (m *modelFile) guess() string {
	switch {
	case m.merges != nil:
		return "BPE"
	case m.vocab[0] == '[':
		return "Unigram"
	case m.Prefix != nil || m.MaxChars != nil:
		return "WordPiece"
	}
	return "WordLevel"
}

// build builds the model. raw means that pieces contain bytes, and that the vocabulary's byte alphabet must be converted to bytes.
func (m *modelFile) build(raw bool) (pipeline.Model, *model.Vocab, error) {
	if m.Type == "Unigram" {
		u, err := m.unigram()
		if err != nil {
			return nil, nil, err
		}
		return u, u.Vocab(), nil
	}
	v, err := m.texts(raw)
	if err != nil {
		return nil, nil, err
	}
	switch m.Type {
	case "BPE":
		b, err := m.bpe(v, raw)
		return b, v, err
	case "WordPiece":
		chars := 100
		if m.MaxChars != nil {
			chars = *m.MaxChars
		}
		w, err := model.NewWordPiece(v, orDefault(m.UnkToken, "[UNK]"), orDefault(m.Prefix, "##"), chars)
		return w, v, err
	case "WordLevel":
		w, err := model.NewWordLevel(v, orDefault(m.UnkToken, "<unk>"))
		return w, v, err
	}
	return nil, nil, fmt.Errorf("model.type %q is not supported; allowed are BPE, Unigram, WordPiece and WordLevel", m.Type)
}

func orDefault(s *string, otherwise string) string {
	if s == nil {
		return otherwise
	}
	return *s
}

// texts reads the object that maps texts to ids.
func (m *modelFile) texts(raw bool) (*model.Vocab, error) {
	n := bytes.Count(m.vocab, []byte{'\n'})
	if n < 2 { // everything on one line
		n = bytes.Count(m.vocab, []byte{':'})
	}
	n = min(n, model.MaxTokens)
	v := model.NewVocab(n, max(0, len(m.vocab)-n*8))
	l := &lexer{b: m.vocab}
	var buf []byte
	if err := l.expect('{'); err != nil {
		return nil, fmt.Errorf("model.vocab: %w", err)
	}
	for first := true; ; first = false {
		more, err := l.hasElement('}', first)
		if err == nil && !more {
			break
		}
		var text []byte
		if err == nil {
			text, err = l.str()
		}
		if err == nil {
			add := v.Add
			if raw {
				var ok bool
				if buf, ok = appendBytes(buf[:0], text); ok {
					text = buf
				} else {
					add = v.AddForeign
				}
			}
			if err = l.expect(':'); err == nil {
				var id int32
				if id, err = l.integer(); err == nil {
					add(text, id)
					err = model.FitTokens(v.Len())
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("model.vocab: %w", err)
		}
	}
	if v.Len() == 0 {
		return nil, fmt.Errorf("model.vocab is empty")
	}
	v.Index()
	return v, nil
}

// appendBytes appends the bytes of a text in the byte alphabet; ok is false if it contains another character.
func appendBytes(dst, text []byte) (out []byte, ok bool) {
	n := len(dst)
	for _, r := range string(text) {
		b, ok := normalizer.AlphabetByte(r)
		if !ok {
			return dst[:n], false
		}
		dst = append(dst, b)
	}
	return dst, true
}

// rules returns the approximate number of merges.
func (m *modelFile) rules() int {
	n := bytes.Count(m.merges, []byte{'"'}) / 2
	if bytes.IndexByte(m.merges[min(1, len(m.merges)):min(100, len(m.merges))], '[') >= 0 { // a list of pairs
		n /= 2
	}
	return n
}

// bpe reads the merges, written as "a b" or [a, b].
func (m *modelFile) bpe(v *model.Vocab, raw bool) (*model.BPE, error) {
	b, err := model.NewBPE(model.BPEConfig{
		Vocab: v, Bytes: raw, IgnoreMerges: m.IgnoreMerges, ByteFallback: m.ByteFallback, Unk: orDefault(m.UnkToken, ""), FuseUnk: m.FuseUnk,
		Prefix: orDefault(m.Prefix, ""), Suffix: orDefault(m.Suffix, ""), Merges: m.rules(),
	})
	if err != nil || m.merges == nil {
		return b, err
	}
	l := &lexer{b: m.merges}
	rules := model.NewRules(b)
	var left, right []byte
	known := true // both tokens of the rule can occur
	conv := func(dst, text []byte) []byte {
		if raw {
			dst, ok := appendBytes(dst[:0], text)
			known = known && ok
			return dst
		}
		return append(dst[:0], text...)
	}
	add := func(rank int) {
		if known { // a rule with characters outside the byte alphabet never applies
			rules.Add(left, right, rank)
		}
		known = true
	}
	err = l.array(func(i int) error {
		if l.peek() != '[' {
			s, err := l.str()
			if err != nil {
				return err
			}
			a, c, ok := bytes.Cut(s, []byte{' '})
			if !ok || bytes.IndexByte(c, ' ') >= 0 {
				return fmt.Errorf("model.merges[%d]: found %q, expected two tokens separated by a space", i, s)
			}
			left, right = conv(left, a), conv(right, c)
			add(i)
			return nil
		}
		n := 0
		err := l.array(func(k int) error {
			s, err := l.str()
			if err != nil {
				return err
			}
			if n++; k == 0 {
				left = conv(left, s)
			} else {
				right = conv(right, s)
			}
			return nil
		})
		if err == nil && n != 2 {
			err = fmt.Errorf("model.merges[%d]: found %d tokens, expected two", i, n)
		}
		if err != nil {
			return err
		}
		add(i)
		return nil
	})
	if missing := rules.Close(); missing != nil { // from an earlier rule than err
		return nil, missing
	}
	return b, err
}

// unigram reads the list of [text, log-probability].
func (m *modelFile) unigram() (*model.Unigram, error) {
	c := model.UnigramConfig{Unk: model.None, ByteFallback: m.ByteFallback}
	if m.UnkID != nil {
		c.Unk = *m.UnkID
	}
	l := &lexer{b: m.vocab}
	err := l.array(func(i int) error {
		return l.array(func(k int) error {
			if k == 0 {
				s, err := l.str()
				c.Texts = append(c.Texts, string(s))
				return errors.Join(err, model.FitTokens(len(c.Texts)))
			}
			x, err := l.float()
			c.Scores = append(c.Scores, x)
			return err
		})
	})
	if err == nil && len(c.Texts) != len(c.Scores) {
		err = fmt.Errorf("%d texts and %d scores", len(c.Texts), len(c.Scores))
	}
	if err != nil {
		return nil, fmt.Errorf("model.vocab: %w", err)
	}
	return model.NewUnigram(c)
}
