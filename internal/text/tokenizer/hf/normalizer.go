package hf

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/regex"
)

// pattern is {"String": …} or {"Regex": …}.
type pattern struct {
	String *string
	Regex  *string
}

// normalizerPart holds the settings of any normaliser.
type normalizerPart struct {
	Type        string
	Normalizers []json.RawMessage
	Prepend     string
	Pattern     pattern
	Content     string
	Charsmap    string `json:"precompiled_charsmap"`
	CleanText   *bool  `json:"clean_text"`
	Chinese     *bool  `json:"handle_chinese_chars"`
	Accents     *bool  `json:"strip_accents"`
	Lowercase   *bool
	Left        *bool `json:"strip_left"`
	Right       *bool `json:"strip_right"`
}

// normalizers are the supported kinds, by their type.
var normalizers = map[string]func(p *normalizerPart, bert *BertFlags) (normalizer.Normalizer, error){
	"NFC":          fixed(normalizer.NFC),
	"NFD":          fixed(normalizer.NFD),
	"NFKC":         fixed(normalizer.NFKC),
	"NFKD":         fixed(normalizer.NFKD),
	"Lowercase":    fixed(normalizer.Func(normalizer.Lowercase)),
	"StripAccents": fixed(normalizer.Func(normalizer.StripAccents)),
	"Nmt":          fixed(normalizer.Func(normalizer.Nmt)),
	"ByteLevel":    fixed(normalizer.Func(normalizer.ByteLevel)),
	"Strip": func(p *normalizerPart, _ *BertFlags) (normalizer.Normalizer, error) {
		return normalizer.Strip{Left: isOn(p.Left), Right: isOn(p.Right)}, nil
	},
	"Prepend": func(p *normalizerPart, _ *BertFlags) (normalizer.Normalizer, error) {
		return normalizer.Prepend(p.Prepend), nil
	},
	"Replace": func(p *normalizerPart, _ *BertFlags) (normalizer.Normalizer, error) {
		return newReplace(p.Pattern, p.Content)
	},
	"Precompiled": func(p *normalizerPart, _ *BertFlags) (normalizer.Normalizer, error) {
		raw, err := base64.StdEncoding.DecodeString(p.Charsmap)
		if err != nil {
			return nil, fmt.Errorf("precompiled_charsmap: %w", err)
		}
		return normalizer.NewCharsmap(raw)
	},
	"BertNormalizer": func(p *normalizerPart, bert *BertFlags) (normalizer.Normalizer, error) {
		n := normalizer.Bert{CleanText: isOn(p.CleanText), ChineseChars: isOn(p.Chinese), Lowercase: isOn(p.Lowercase)}
		accents := p.Accents
		if bert != nil {
			override(&n.Lowercase, bert.Lowercase)
			override(&n.ChineseChars, bert.ChineseChars)
			if bert.StripAccents != nil {
				accents = bert.StripAccents
			}
		}
		n.StripAccents = n.Lowercase
		override(&n.StripAccents, accents)
		return n, nil
	},
}

// BertFlags are settings of tokenizer_config.json that replace those of a BertNormalizer; nil = use the file's.
type BertFlags struct {
	Lowercase    *bool `json:"do_lower_case"`
	StripAccents *bool `json:"strip_accents"`
	ChineseChars *bool `json:"tokenize_chinese_chars"`
}

func fixed(n normalizer.Normalizer) func(*normalizerPart, *BertFlags) (normalizer.Normalizer, error) {
	return func(*normalizerPart, *BertFlags) (normalizer.Normalizer, error) { return n, nil }
}

// isOn returns the value of a flag that is on by default.
func isOn(b *bool) bool { return b == nil || *b }

func override(b *bool, by *bool) {
	if by != nil {
		*b = *by
	}
}

func newReplace(p pattern, content string) (normalizer.Normalizer, error) {
	switch {
	case p.String != nil:
		return normalizer.ReplaceText{Old: *p.String, New: content}, nil
	case p.Regex != nil:
		re, err := regex.Compile(*p.Regex)
		if err != nil {
			return nil, err
		}
		return normalizer.ReplaceRegex{Pattern: re, New: content}, nil
	}
	return nil, fmt.Errorf(`pattern is neither {"String": …} nor {"Regex": …}`)
}

// maxNested is the maximum nesting of sequences.
const maxNested = 20

// newNormalizer returns the normaliser of a section; nil for null.
func newNormalizer(raw json.RawMessage, where string, bert *BertFlags, depth int) (normalizer.Normalizer, error) {
	if isNull(raw) {
		return nil, nil
	}
	var p normalizerPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if p.Type == "Sequence" {
		if depth > maxNested {
			return nil, fmt.Errorf("%s: sequences nested deeper than %d", where, maxNested)
		}
		var q normalizer.Sequence
		for i, r := range p.Normalizers {
			n, err := newNormalizer(r, fmt.Sprintf("%s.normalizers[%d]", where, i), bert, depth+1)
			if err != nil {
				return nil, err
			}
			if n != nil {
				q = append(q, n)
			}
		}
		return q, nil
	}
	build, ok := normalizers[p.Type]
	if !ok {
		return nil, unknown(where, p.Type, normalizers)
	}
	n, err := build(&p, bert)
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w", where, p.Type, err)
	}
	return n, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// unknown returns the error for a part whose type is not in the table.
func unknown[V any](where, found string, table map[string]V) error {
	names := []string{"Sequence"}
	for n := range table {
		names = append(names, n)
	}
	sort.Strings(names)
	return &UnfitError{fmt.Sprintf("%s.type %q is not supported (allowed are %s), so aiperf cannot count exactly with this tokenizer",
		where, found, strings.Join(names, ", "))}
}
