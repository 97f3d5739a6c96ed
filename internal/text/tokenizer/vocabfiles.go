package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/text/tokenizer/model"
)

// document is a tokenizer.json that is built from older files.
type document map[string]any

// fromDocument loads a document.
func (f *folder) fromDocument(d document) (*Tokenizer, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return f.parseJSON(b)
}

func typedPart(name string, more ...any) map[string]any {
	m := map[string]any{"type": name}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// otherVocab are classes that use the file names of GPT-2 but split text in another way.
var otherVocab = map[string]bool{"CLIP": true, "CTRL": true, "FSMT": true, "OpenAIGPT": true, "XLM": true, "Phobert": true, "Herbert": true, "BioGpt": true, "Marian": true}

// loadVocabMerges loads vocab.json with merges.txt: byte-level BPE as in GPT-2.
func loadVocabMerges(f *folder, name string) (*Tokenizer, error) {
	for prefix := range otherVocab {
		if strings.HasPrefix(f.conf.Class, prefix) {
			return nil, fmt.Errorf("tokenizer_class %q with vocab.json and merges.txt is not supported; use the model's tokenizer.json",
				f.conf.Class)
		}
	}
	vocab, err := f.read(name)
	if err != nil {
		return nil, err
	}
	list, err := f.read("merges.txt")
	if err != nil {
		return nil, err
	}
	if list == nil {
		return nil, fmt.Errorf("merges.txt is missing in the same directory")
	}
	if n := bytes.Count(list, []byte{'\n'}); n > model.MaxRules {
		return nil, fmt.Errorf("merges.txt has %d rules; at most %d are allowed", n, model.MaxRules)
	}
	var merges []string
	for i, line := range strings.Split(string(list), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || i == 0 && strings.HasPrefix(line, "#version") {
			continue
		}
		merges = append(merges, line)
	}
	prefix := f.conf.AddPrefixSpace != nil && *f.conf.AddPrefixSpace
	d := document{
		"model":         typedPart("BPE", "vocab", json.RawMessage(vocab), "merges", merges),
		"pre_tokenizer": typedPart("ByteLevel", "add_prefix_space", prefix),
		"decoder":       typedPart("ByteLevel"),
	}
	if strings.HasPrefix(f.conf.Class, "Roberta") || strings.HasPrefix(f.conf.Class, "Bart") {
		var ids map[string]int32
		if err := json.Unmarshal(vocab, &ids); err != nil {
			return nil, err
		}
		d["post_processor"] = typedPart("RobertaProcessing", "cls", []any{"<s>", ids["<s>"]}, "sep", []any{"</s>", ids["</s>"]})
	}
	return f.fromDocument(d)
}

// loadVocabTxt loads vocab.txt: WordPiece as in BERT.
func loadVocabTxt(f *folder, name string) (*Tokenizer, error) {
	b, err := f.read(name)
	if err != nil {
		return nil, err
	}
	if err := model.FitTokens(bytes.Count(b, []byte{'\n'})); err != nil {
		return nil, err
	}
	vocab := map[string]int{}
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte{'\n'}), []byte{'\n'}) {
		vocab[strings.TrimRight(string(line), "\r")] = i
	}
	var tokens []any
	for _, t := range []text{firstText(f.conf.PAD, "[PAD]"), firstText(f.conf.UNK, "[UNK]"), firstText(f.conf.CLS, "[CLS]"),
		firstText(f.conf.SEP, "[SEP]"), firstText(f.conf.MASK, "[MASK]")} {
		if id, ok := vocab[string(t)]; ok {
			tokens = append(tokens, map[string]any{"id": id, "content": t, "special": true, "normalized": false})
		}
	}
	d := document{
		"added_tokens":  tokens,
		"normalizer":    typedPart("BertNormalizer", "lowercase", true),
		"pre_tokenizer": typedPart("BertPreTokenizer"),
		"model": typedPart("WordPiece", "vocab", vocab, "unk_token", firstText(f.conf.UNK, "[UNK]"), "continuing_subword_prefix", "##",
			"max_input_chars_per_word", 100),
		"decoder": typedPart("WordPiece", "prefix", "##", "cleanup", true),
	}
	cls, ok1 := vocab[string(firstText(f.conf.CLS, "[CLS]"))]
	sep, ok2 := vocab[string(firstText(f.conf.SEP, "[SEP]"))]
	if ok1 && ok2 {
		d["post_processor"] = typedPart("BertProcessing", "cls", []any{"", cls}, "sep", []any{"", sep})
	}
	return f.fromDocument(d)
}

func firstText(t, otherwise text) text {
	if t == "" {
		return otherwise
	}
	return t
}
