package spm

import (
	"strings"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/pipeline"
)

// mark replaces a space.
const mark = "▁"

// Pipeline builds the conversion from text to ids. tokens are searched for in the original text, like the model's user-defined pieces.
func (m *Model) Pipeline(tokens []addedtokens.Token) (*pipeline.Pipeline, error) {
	chars, err := normalizer.NewCharsmap(m.charsmap)
	if err != nil {
		return nil, err
	}
	id := m.ID(tokens)
	var raw, user []addedtokens.Token
	texts := map[int32]string{}
	for _, t := range tokens {
		if t.ID = id(t.Content); t.ID != model.None {
			texts[t.ID] = t.Content
			raw = append(raw, t)
		}
	}
	for i, p := range m.Pieces {
		if p.Kind == UserDefined {
			user = append(user, addedtokens.Token{ID: int32(i), Content: p.Text})
		}
	}
	users := addedtokens.NewMatcher(user)
	pl := &pipeline.Pipeline{
		Raw: addedtokens.NewMatcher(raw), Normalized: users,
		Normalizer: textNormalizer{m: m, chars: normalizer.Longest{Charsmap: chars}, users: users},
	}
	vocab := model.NewVocab(len(m.Pieces), 8*len(m.Pieces))
	for i, p := range m.Pieces {
		vocab.Add([]byte(p.Text), int32(i))
	}
	vocab.Index()
	if m.kind == typeBPE {
		pl.Model, err = m.bpe(vocab)
	} else {
		pl.Model, err = m.unigram()
	}
	if err != nil {
		return nil, err
	}
	steps := []pipeline.Step{pipeline.ReplaceStep(normalizer.ReplaceText{Old: mark, New: " "}), pipeline.ByteFallbackStep, pipeline.Fuse}
	if m.dummyPrefix {
		steps = append(steps, pipeline.StripStep(" ", 1, 0))
	}
	pl.Decoder = pipeline.ChainDecoder{Vocab: vocab, Added: texts, Steps: steps}
	return pl, nil
}

// ID returns a function that returns the id of a token by its text. A given token has its own id if it is set. All others have the id of their piece.
func (m *Model) ID(tokens []addedtokens.Token) func(text string) int32 {
	ids := make(map[string]int32, len(m.Pieces))
	for i, p := range m.Pieces {
		ids[p.Text] = int32(i)
	}
	for _, t := range tokens {
		if t.ID != model.None {
			ids[t.Content] = t.ID
		}
	}
	return func(text string) int32 {
		if id, ok := ids[text]; ok {
			return id
		}
		return model.None
	}
}

func (m *Model) unigram() (pipeline.Model, error) {
	c := model.UnigramConfig{Unk: m.UNK, ByteFallback: m.byteFallback, Single: true}
	for _, p := range m.Pieces {
		c.Texts = append(c.Texts, p.Text)
		c.Scores = append(c.Scores, float64(p.Score))
		c.Match = append(c.Match, p.Kind == Normal || p.Kind == UserDefined)
	}
	return model.NewUnigram(c)
}

func (m *Model) bpe(vocab *model.Vocab) (pipeline.Model, error) {
	c := model.ScoredConfig{Vocab: vocab, Unk: m.UNK, ByteFallback: m.byteFallback}
	for i, p := range m.Pieces {
		c.Scores = append(c.Scores, p.Score)
		c.Match = append(c.Match, p.Kind == Normal || p.Kind == UserDefined)
		if p.Kind == Unused {
			return nil, unused(i, p.Text)
		}
	}
	return model.NewScored(c)
}

type unusedError struct {
	id   int
	text string
}

func unused(id int, text string) error { return unusedError{id, text} }

func (e unusedError) Error() string {
	return "SentencePiece model: piece " + e.text + " has the type 5 (unused), which is not supported for BPE; use a tokenizer.json"
}

// textNormalizer does the library's preparation of a text: the character map, extra spaces, the leading space, marks for spaces. It does not change
// user-defined pieces.
type textNormalizer struct {
	m     *Model
	chars normalizer.Longest
	users *addedtokens.Matcher
}

// Normalize implements pipeline.Normalizer.
func (n textNormalizer) Normalize(left *budget.Budget, s string) string {
	var b strings.Builder
	from := 0
	for {
		x, ok := n.users.Next(s, from, from)
		if !ok {
			break
		}
		b.WriteString(n.chars.Normalize(left, s[from:x.Begin]))
		b.WriteString(s[x.Begin:x.End])
		from = x.End
	}
	b.WriteString(n.chars.Normalize(left, s[from:]))
	s = b.String()
	if n.m.removeSpaces {
		s = squeeze(s)
	}
	if s == "" {
		return s
	}
	if n.m.dummyPrefix {
		s = " " + s
	}
	if n.m.escapeSpaces {
		s = strings.ReplaceAll(s, " ", mark)
	}
	return s
}

// squeeze removes leading and trailing spaces, and joins several spaces to one.
func squeeze(s string) string {
	s = strings.Trim(s, " ")
	if !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] != ' ' || s[i-1] != ' ' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
