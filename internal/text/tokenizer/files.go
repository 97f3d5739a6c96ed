package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/hf"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/pretoken"
	"aiperf/internal/text/tokenizer/rankfile"
	"aiperf/internal/text/tokenizer/scanner"
	"aiperf/internal/text/tokenizer/spm"
)

// loadJSON loads a tokenizer.json.
func loadJSON(f *folder, name string) (*Tokenizer, error) {
	b, err := f.read(name)
	if err != nil {
		return nil, err
	}
	return f.parseJSON(b)
}

func (f *folder) parseJSON(b []byte) (*Tokenizer, error) {
	file, err := hf.Parse(b, hf.Options{PrefixSpace: f.conf.AddPrefixSpace, Bert: f.conf.BertFlags, Tokens: f.conf.tokens})
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{pipe: file.Pipeline, meta: meta{vocabSize: file.Vocab.Len(), special: map[int32]bool{}}}
	for _, a := range file.Added {
		if a.Special {
			t.meta.special[a.ID] = true
		}
	}
	f.conf.apply(t, file.ID, file.Wrap)
	return t, nil
}

// loadModelFile loads a SentencePiece model, or a rank list, because some families use the same file name.
func loadModelFile(f *folder, name string) (*Tokenizer, error) {
	b, err := f.read(name)
	if err != nil {
		return nil, err
	}
	if isRankList(b) {
		return loadRankFile(f, name)
	}
	m, err := spm.Parse(b)
	if err != nil {
		return nil, err
	}
	return f.fromSentencePiece(m)
}

// fromSentencePiece returns a tokenizer for a SentencePiece model.
func (f *folder) fromSentencePiece(m *spm.Model) (*Tokenizer, error) {
	p, err := m.Pipeline(f.conf.tokens)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{pipe: p, meta: meta{vocabSize: len(m.Pieces), special: map[int32]bool{}}}
	for i, x := range m.Pieces {
		if x.Kind == spm.Control || x.Kind == spm.Unknown {
			t.meta.special[int32(i)] = true
		}
	}
	for _, x := range f.conf.tokens {
		if x.Special && x.ID != model.None {
			t.meta.special[x.ID] = true
		}
	}
	if f.conf.BOS == "" && m.BOS >= 0 {
		f.conf.BOS = text(m.Text(m.BOS))
	}
	if f.conf.EOS == "" && m.EOS >= 0 {
		f.conf.EOS = text(m.Text(m.EOS))
	}
	f.conf.defaults()
	f.conf.apply(t, m.ID(f.conf.tokens), hf.Wrap{})
	return t, nil
}

// defaults sets the special tokens around a text that the classes with SentencePiece models add if the configuration does not set them.
func (s *settings) defaults() {
	on := true
	for _, family := range []string{"Llama", "CodeLlama", "Gemma"} {
		if s.AddBOS == nil && strings.HasPrefix(s.Class, family) {
			s.AddBOS = &on
		}
	}
	for _, family := range []string{"T5", "MT5"} {
		if s.AddEOS == nil && strings.HasPrefix(s.Class, family) {
			s.AddEOS = &on
		}
	}
}

// isRankList reports whether the lines of a file contain base64 and a rank.
func isRankList(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	code, _, ok := bytes.Cut(bytes.TrimRight(line, "\r"), []byte{' '})
	_, err := base64.StdEncoding.DecodeString(string(code))
	return ok && err == nil && utf8.Valid(line)
}

// kimiPattern is the split of Kimi K2: like o200k, but runs of Han characters are separate pieces and Han characters are not letters.
const kimiPattern = `[\p{Han}]+|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// rankFamily sets the split for a rank list without a pattern.
type rankFamily struct {
	class    string // tokenizer_class, "" = any
	file     string // name of the file, "" = any
	pattern  string
	reserved int    // number of special ids after the ranks
	format   string // format of their texts
	named    []string
	first    bool // the named tokens directly follow the ranks, whatever the configuration contains
}

// rankFamilies are the model families that publish rank lists.
var rankFamilies = []rankFamily{
	{class: "TikTokenTokenizer", pattern: kimiPattern, reserved: 256, format: "<|reserved_token_%d|>"},
	{class: "QWenTokenizer", pattern: scanner.PatternQwen, reserved: 205, format: "<|extra_%d|>", first: true,
		named: []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}},
	{file: "qwen.tiktoken", pattern: scanner.PatternQwen, reserved: 205, format: "<|extra_%d|>", first: true,
		named: []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}},
	{class: "ChatGLM4Tokenizer", pattern: scanner.PatternCL100K},
	{file: "o200k_base.tiktoken", pattern: scanner.PatternO200K},
	{file: "cl100k_base.tiktoken", pattern: scanner.PatternCL100K},
	{file: "p50k_base.tiktoken", pattern: scanner.PatternGPT2},
	{file: "r50k_base.tiktoken", pattern: scanner.PatternGPT2},
	{file: "gpt2.tiktoken", pattern: scanner.PatternGPT2},
	{file: "multilingual.tiktoken", pattern: scanner.PatternGPT2},
}

// loadRankFile loads a rank list whose pattern depends on its family.
func loadRankFile(f *folder, name string) (*Tokenizer, error) {
	b, err := f.read(name)
	if err != nil {
		return nil, err
	}
	list, err := rankfile.Parse(b)
	if err != nil {
		return nil, err
	}
	for _, e := range encodings() { // a published list, whatever its file name
		if e.file+".tiktoken" == name {
			return newRankTokenizer(f.name, list, encodings()[e.file].ranks)
		}
	}
	i := slices.IndexFunc(rankFamilies, func(r rankFamily) bool {
		return (r.class == "" || r.class == f.conf.Class) && (r.file == "" || strings.EqualFold(r.file, name))
	})
	if i < 0 {
		return nil, &UnfitError{Text: fmt.Sprintf("rank list of an unknown family (tokenizer_class %q): the file does not define how text is split", f.conf.Class)}
	}
	fam := rankFamilies[i]
	split, err := pretoken.Regex(fam.pattern)
	if err != nil {
		return nil, err
	}
	r := ranks{scan: split, bos: string(f.conf.BOS), eos: string(f.conf.EOS), special: fam.specials(list.MaxID()+1, f.conf.tokens)}
	if r.eos == "" && len(fam.named) > 0 {
		r.eos = fam.named[0]
	}
	return newRankTokenizer(f.name, list, r)
}

// specials returns the tokens after the ranks: those named in the configuration, and reserved ones for the other ids.
func (r rankFamily) specials(next int32, tokens []addedtokens.Token) (list []addedtokens.Token) {
	taken := map[int32]bool{}
	if r.first {
		for i, t := range r.named {
			list = append(list, addedtokens.Token{ID: next + int32(i), Content: t, Special: true})
		}
		for i := range r.reserved {
			list = append(list, addedtokens.Token{ID: next + int32(len(r.named)+i), Content: fmt.Sprintf(r.format, i), Special: true})
		}
		return list
	}
	for _, t := range tokens {
		if t.ID != model.None {
			taken[t.ID] = true
			list = append(list, t)
		}
	}
	for i := range int32(r.reserved) {
		if id := next + i; !taken[id] {
			list = append(list, addedtokens.Token{ID: id, Content: fmt.Sprintf(r.format, id), Special: true})
		}
	}
	return list
}

// tekken is Mistral's tokenizer file.
type tekken struct {
	Config struct {
		Pattern    string
		Vocab      int `json:"default_vocab_size"`
		NumSpecial int `json:"default_num_special_tokens"`
	}
	Vocab []struct {
		Rank  int32
		Bytes []byte `json:"token_bytes"`
	}
	Special []struct {
		Rank int32
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// tekkenSpecials are the special tokens for files that do not list them, from id 0 on.
var tekkenSpecials = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
	"[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// loadTekken loads a tekken.json.
func loadTekken(f *folder, name string) (*Tokenizer, error) {
	b, err := f.read(name)
	if err != nil {
		return nil, err
	}
	var k tekken
	if err := json.Unmarshal(b, &k); err != nil {
		return nil, err
	}
	special := k.Config.NumSpecial
	if special == 0 {
		special = 1000
	}
	n := k.Config.Vocab - special
	if n <= 0 || n > len(k.Vocab) || special < 0 {
		return nil, fmt.Errorf("config: default_vocab_size %d minus %d special tokens must be from 1 to %d, the number of entries in vocab", k.Config.Vocab,
			special, len(k.Vocab))
	}
	split, err := pretoken.Regex(k.Config.Pattern)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	list := model.NewVocab(n, 8*n)
	for i, e := range k.Vocab[:n] {
		if int(e.Rank) != i || len(e.Bytes) == 0 {
			return nil, fmt.Errorf("vocab[%d]: rank %d with %d bytes, expected rank %d", i, e.Rank, len(e.Bytes), i)
		}
		list.Add(e.Bytes, e.Rank)
	}
	r := ranks{scan: split, shift: int32(special), vocab: k.Config.Vocab, bos: "<s>", eos: "</s>", literal: true}
	texts := map[int32]string{}
	for _, s := range k.Special {
		texts[s.Rank] = s.Text
	}
	for i := range int32(special) {
		text, ok := texts[i]
		switch {
		case ok:
		case len(k.Special) == 0 && int(i) < len(tekkenSpecials):
			text = tekkenSpecials[i]
		default:
			text = fmt.Sprintf("<SPECIAL_%d>", i)
		}
		r.special = append(r.special, addedtokens.Token{ID: i, Content: text, Special: true})
	}
	t, err := newRankTokenizer(f.name, list, r)
	if err == nil && t.meta.bos >= 0 {
		t.meta.before = []int32{t.meta.bos}
	}
	return t, err
}
