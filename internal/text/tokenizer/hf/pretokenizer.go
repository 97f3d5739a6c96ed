package hf

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/pretoken"
	"aiperf/internal/text/tokenizer/scanner"
)

// pretokenizerPart holds the settings of any pre-tokenizer.
type pretokenizerPart struct {
	Type           string
	Pretokenizers  []json.RawMessage
	Pattern        pattern
	Behavior       string
	Invert         bool
	AddPrefixSpace *bool `json:"add_prefix_space"`
	UseRegex       *bool `json:"use_regex"`
	Individual     bool  `json:"individual_digits"`
	Replacement    string
	PrependScheme  *string `json:"prepend_scheme"`
	Split          *bool
	Delimiter      string
	Length         *int
}

// stages is the chain of a pre_tokenizer section.
type stages struct {
	list []pretoken.Stage
	// bytes means that a ByteLevel stage maps to the byte alphabet; the next field is its index in the list.
	bytes       bool
	bytesAt     int
	prefixSpace *bool // replaces add_prefix_space; nil = use the file's
}

// pretokenizers are the supported kinds, by their type.
var pretokenizers = map[string]func(s *stages, p *pretokenizerPart) error{
	"BertPreTokenizer": func(s *stages, _ *pretokenizerPart) error { return s.add(pretoken.Bert{}) },
	"ByteLevel": func(s *stages, p *pretokenizerPart) error {
		prefix := isOn(p.AddPrefixSpace)
		override(&prefix, s.prefixSpace)
		if prefix {
			s.list = append(s.list, pretoken.PrefixSpace{})
		}
		if isOn(p.UseRegex) {
			s.list = append(s.list, pretoken.Isolated(scanner.GPT2))
		}
		s.bytes, s.bytesAt = true, len(s.list)
		return nil
	},
	"CharDelimiterSplit": func(s *stages, p *pretokenizerPart) error {
		r, n := utf8.DecodeRuneInString(p.Delimiter)
		if n == 0 || n != len(p.Delimiter) {
			return fmt.Errorf("delimiter %q: must be one character", p.Delimiter)
		}
		return s.split(pretoken.Scanner{Func: pretoken.Delimiter(r)}, pretoken.Removed, false)
	},
	"Digits": func(s *stages, p *pretokenizerPart) error {
		return s.add(pretoken.Isolated(pretoken.Digits(p.Individual)))
	},
	"FixedLength": func(s *stages, p *pretokenizerPart) error {
		n := 5
		if p.Length != nil {
			n = *p.Length
		}
		if n < 1 {
			return fmt.Errorf("length %d: must be at least 1", n)
		}
		return s.add(pretoken.FixedLength(n))
	},
	"Metaspace": newMetaspace,
	"Punctuation": func(s *stages, p *pretokenizerPart) error {
		b := pretoken.IsolatedBehavior
		if p.Behavior != "" {
			b = pretoken.Behavior(p.Behavior)
		}
		return s.split(pretoken.Scanner{Func: pretoken.Punctuation()}, b, false)
	},
	"Split": func(s *stages, p *pretokenizerPart) error {
		f, err := p.Pattern.scanner()
		if err != nil {
			return err
		}
		return s.split(f, pretoken.Behavior(p.Behavior), p.Invert)
	},
	"UnicodeScripts": func(s *stages, _ *pretokenizerPart) error { return s.add(pretoken.NewScripts()) },
	"Whitespace": func(s *stages, _ *pretokenizerPart) error {
		return s.split(pretoken.Scanner{Func: pretoken.Whitespace()}, pretoken.Removed, true)
	},
	"WhitespaceSplit": func(s *stages, _ *pretokenizerPart) error { return s.add(pretoken.WhitespaceSplit{}) },
}

func (s *stages) add(st pretoken.Stage) error {
	s.list = append(s.list, st)
	return nil
}

func (s *stages) split(f pretoken.Scanner, b pretoken.Behavior, invert bool) error {
	st, err := pretoken.NewSplit(f, b, invert)
	if err != nil {
		return err
	}
	return s.add(st)
}

func (p pattern) scanner() (pretoken.Scanner, error) {
	switch {
	case p.Regex != nil:
		return pretoken.Regex(*p.Regex)
	case p.String != nil && *p.String != "":
		return pretoken.Scanner{Func: pretoken.Text(*p.String)}, nil
	}
	return pretoken.Scanner{}, fmt.Errorf(`pattern is neither {"String": …} nor {"Regex": …}`)
}

func newMetaspace(s *stages, p *pretokenizerPart) error {
	m := pretoken.Metaspace{Mark: p.Replacement, Scheme: pretoken.Always, Cut: isOn(p.Split)}
	if m.Mark == "" {
		m.Mark = "▁"
	}
	if p.PrependScheme != nil {
		m.Scheme = pretoken.Scheme(*p.PrependScheme)
	} else if !isOn(p.AddPrefixSpace) {
		m.Scheme = pretoken.Never
	}
	switch m.Scheme {
	case pretoken.Always, pretoken.First, pretoken.Never:
	default:
		return fmt.Errorf("prepend_scheme %q: must be %s, %s or %s", m.Scheme, pretoken.Always, pretoken.First, pretoken.Never)
	}
	if s.prefixSpace != nil {
		switch {
		case !*s.prefixSpace:
			m.Scheme = pretoken.Never
		case m.Scheme == pretoken.Never:
			m.Scheme = pretoken.Always
		}
	}
	return s.add(m)
}

// read adds the stages of a section.
func (s *stages) read(raw json.RawMessage, where string, depth int) error {
	if isNull(raw) {
		return nil
	}
	var p pretokenizerPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if p.Type == "Sequence" {
		if depth > maxNested {
			return fmt.Errorf("%s: sequences nested deeper than %d", where, maxNested)
		}
		for i, r := range p.Pretokenizers {
			if err := s.read(r, fmt.Sprintf("%s.pretokenizers[%d]", where, i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	add, ok := pretokenizers[p.Type]
	if !ok {
		return unknown(where, p.Type, pretokenizers)
	}
	if err := add(s, &p); err != nil {
		return fmt.Errorf("%s (%s): %w", where, p.Type, err)
	}
	return nil
}

// alphabet adds the mapping to the byte alphabet to the chain, for models that do not take raw bytes.
func (s *stages) alphabet() {
	s.list = append(s.list[:s.bytesAt], append([]pretoken.Stage{pretoken.Rewrite(normalizer.ByteLevel)}, s.list[s.bytesAt:]...)...)
}
