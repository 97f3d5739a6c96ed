package pipeline

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/utf8repair"
)

// Step is one step of a decoder: it converts the list of token texts.
type Step func(tokens []string) []string

// ChainDecoder decodes by applying steps to the texts of tokens. It joins the results.
type ChainDecoder struct {
	Vocab *model.Vocab
	Raw   bool // Vocab contains bytes although the steps need the byte alphabet
	Added map[int32]string
	Steps []Step
}

var _ Decoder = ChainDecoder{}

// Decode implements Decoder.
func (d ChainDecoder) Decode(ids []int32) string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if s, ok := d.Added[id]; ok {
			tokens = append(tokens, s)
		} else if t := d.Vocab.Text(id); t != nil {
			if d.Raw && !d.Vocab.IsForeign(id) {
				tokens = append(tokens, normalizer.ByteLevel(string(t)))
			} else {
				tokens = append(tokens, string(t))
			}
		}
	}
	for _, s := range d.Steps {
		tokens = s(tokens)
	}
	return strings.Join(tokens, "")
}

// Known implements Decoder.
func (d ChainDecoder) Known(id int32) bool { return known(d.Vocab, d.Added, id, 0) }

// each returns a step that applies a function to each token.
func each(f func(i int, s string) string) Step {
	return func(tokens []string) []string {
		for i, s := range tokens {
			tokens[i] = f(i, s)
		}
		return tokens
	}
}

// Join is the decoder for files without one: it puts blanks between the tokens.
func Join(tokens []string) []string { return []string{strings.Join(tokens, " ")} }

// Fuse joins all tokens into one.
func Fuse(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// ByteLevelStep converts the byte alphabet to bytes. It does not change a token with any other character.
func ByteLevelStep(tokens []string) []string {
	var out []byte
	for _, s := range tokens {
		out = AppendAlphabet(out, s)
	}
	return []string{utf8repair.Valid(string(out))}
}

// AppendAlphabet appends the bytes of a token in the byte alphabet. It appends a token with any other character unchanged.
func AppendAlphabet(dst []byte, s string) []byte {
	n := len(dst)
	for _, r := range s {
		b, ok := normalizer.AlphabetByte(r)
		if !ok {
			return append(dst[:n], s...)
		}
		dst = append(dst, b)
	}
	return dst
}

// MetaspaceStep converts marks to spaces. If drop is set, it removes the marks of the first token.
func MetaspaceStep(mark string, drop bool) Step {
	return each(func(i int, s string) string {
		if i == 0 && drop {
			return strings.ReplaceAll(s, mark, "")
		}
		return strings.ReplaceAll(s, mark, " ")
	})
}

// WordPieceStep joins continuations to the previous word and puts a blank before every other token.
func WordPieceStep(prefix string, cleanup bool) Step {
	return each(func(i int, s string) string {
		if i > 0 {
			if rest, ok := strings.CutPrefix(s, prefix); ok {
				s = rest
			} else {
				s = " " + s
			}
		}
		if cleanup {
			s = clean(s)
		}
		return s
	})
}

// cleanups are replacements that remove blanks added by tokenisation, in this order.
var cleanups = []struct{ from, to string }{
	{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"}, {" do not", " don't"},
	{" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
}

func clean(s string) string {
	for _, c := range cleanups {
		s = strings.ReplaceAll(s, c.from, c.to)
	}
	return s
}

// SuffixStep replaces the suffix of word ends by a blank, and removes it from the last token.
func SuffixStep(suffix string) Step {
	return func(tokens []string) []string {
		for i, s := range tokens {
			by := " "
			if i == len(tokens)-1 {
				by = ""
			}
			tokens[i] = strings.ReplaceAll(s, suffix, by)
		}
		return tokens
	}
}

// ByteFallbackStep converts runs of <0xNN> tokens to their bytes. A run that is invalid UTF-8 becomes one U+FFFD per byte.
func ByteFallbackStep(tokens []string) []string {
	out := tokens[:0:0]
	var run []byte
	flush := func() {
		switch {
		case len(run) == 0:
		case utf8.Valid(run):
			out = append(out, string(run))
		default:
			out = append(out, strings.Repeat("\ufffd", len(run)))
		}
		run = run[:0]
	}
	for _, s := range tokens {
		if b, ok := FallbackByte(s); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, s)
	}
	flush()
	return out
}

// FallbackByte parses a token <0xNN>.
func FallbackByte(s string) (byte, bool) {
	if len(s) != 6 || s[:3] != "<0x" || s[5] != '>' {
		return 0, false
	}
	hi, lo := hexDigit(s[3]), hexDigit(s[4])
	return byte(hi<<4 | lo), hi|lo >= 0
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// StripStep removes up to left characters c from the start of every token and up to right from its end.
func StripStep(c string, left, right int) Step {
	return each(func(_ int, s string) string {
		for i := 0; i < left && c != "" && strings.HasPrefix(s, c); i++ {
			s = s[len(c):]
		}
		for i := 0; i < right && c != "" && strings.HasSuffix(s, c); i++ {
			s = s[:len(s)-len(c)]
		}
		return s
	})
}

// ReplaceStep rewrites every token.
func ReplaceStep(n Normalizer) Step {
	return func(tokens []string) []string {
		left := budget.New(Limits(len(tokens)))
		for i, s := range tokens {
			tokens[i] = n.Normalize(left, s)
		}
		return tokens
	}
}

// CTCStep drops repeats and padding of speech models and converts their word marks to blanks.
func CTCStep(pad, delimiter string, cleanup bool) Step {
	return func(tokens []string) []string {
		var out []string
		for i, s := range tokens {
			if i > 0 && tokens[i-1] == s {
				continue
			}
			s = strings.ReplaceAll(s, pad, "")
			if cleanup {
				s = strings.ReplaceAll(clean(s), delimiter, " ")
			}
			if s != "" {
				out = append(out, s)
			}
		}
		return out
	}
}
