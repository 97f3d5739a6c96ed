package pipeline

import (
	"aiperf/internal/budget"
	"strings"
	"unicode/utf8"

	"aiperf/internal/tokenizer/model"
	"aiperf/internal/tokenizer/normal"
	"aiperf/internal/tokenizer/utf"
)

// Step is one step of a decoder: it rewrites the list of token texts.
type Step func(tokens []string) []string

// ChainDecoder decodes by steps over the texts of tokens; what is left is joined.
type ChainDecoder struct {
	Vocab *model.Vocab
	Raw   bool // Vocab holds bytes where the steps want the byte alphabet
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
				tokens = append(tokens, normal.ByteLevel(string(t)))
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

// each makes a step of a function of one token.
func each(f func(i int, s string) string) Step {
	return func(tokens []string) []string {
		for i, s := range tokens {
			tokens[i] = f(i, s)
		}
		return tokens
	}
}

// Join is the decoder of files without one: blanks between the tokens.
func Join(tokens []string) []string { return []string{strings.Join(tokens, " ")} }

// Fuse makes one token of all.
func Fuse(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// ByteLevelStep turns the byte alphabet back into bytes. A token with any other character stands for itself.
func ByteLevelStep(tokens []string) []string {
	var out []byte
	for _, s := range tokens {
		out = AppendAlphabet(out, s)
	}
	return []string{utf.Valid(string(out))}
}

// AppendAlphabet adds the bytes of a token in the byte alphabet; a token with any other character is added as it is.
func AppendAlphabet(dst []byte, s string) []byte {
	n := len(dst)
	for _, r := range s {
		b, ok := normal.AlphabetByte(r)
		if !ok {
			return append(dst[:n], s...)
		}
		dst = append(dst, b)
	}
	return dst
}

// MetaspaceStep turns marks into spaces; with drop the marks of the first token are dropped.
func MetaspaceStep(mark string, drop bool) Step {
	return each(func(i int, s string) string {
		if i == 0 && drop {
			return strings.ReplaceAll(s, mark, "")
		}
		return strings.ReplaceAll(s, mark, " ")
	})
}

// WordPieceStep joins continuations to the word before and puts a blank in front of everything else.
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

// cleanups are the replacements of blanks that tokenisation has put in, in this order.
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

// SuffixStep turns the suffix of word ends into blanks, and drops that of the last token.
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

// ByteFallbackStep turns runs of <0xNN> tokens into their bytes; a run that is not UTF-8 becomes one U+FFFD a byte.
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

// FallbackByte reads a token <0xNN>.
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

// StripStep cuts up to left characters c from the beginning of every token and up to right from its end.
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

// CTCStep drops repeats and padding of speech models and turns their word marks into blanks.
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
