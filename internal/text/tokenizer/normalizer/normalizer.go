// Package normalizer rewrites text before it is split: Unicode forms, case, accents, white space, replacements. Each normaliser behaves like the one
// with the same name in the reference library, with that library's Unicode versions.
package normalizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/budget"
	cc "aiperf/internal/text/tokenizer/charclass"
	"aiperf/internal/text/tokenizer/regex"
)

// Normalizer rewrites a text. Normalisers are immutable and safe for concurrent use.
type Normalizer interface {
	// Normalize counts the memory that it allocates. If the budget is exceeded, the result must not be used.
	Normalize(b *budget.Budget, s string) string
}

// Func is a normaliser without settings.
type Func func(string) string

// Normalize implements Normalizer.
func (f Func) Normalize(_ *budget.Budget, s string) string { return f(s) }

// Sequence applies normalisers one after the other.
type Sequence []Normalizer

// Normalize implements Normalizer.
func (q Sequence) Normalize(b *budget.Budget, s string) string {
	for _, n := range q {
		if s = n.Normalize(b, s); b.CountBytes(int64(len(s))) != nil {
			return ""
		}
	}
	return s
}

// Prepend adds a prefix to every text that is not empty.
type Prepend string

// Normalize implements Normalizer.
func (p Prepend) Normalize(_ *budget.Budget, s string) string {
	if s == "" {
		return s
	}
	return string(p) + s
}

// ReplaceText replaces every occurrence of Old.
type ReplaceText struct{ Old, New string }

// Normalize implements Normalizer.
func (r ReplaceText) Normalize(b *budget.Budget, s string) string {
	if r.Old == "" {
		return s
	}
	if more := len(r.New) - len(r.Old); more > 0 && b.CountBytes(int64(strings.Count(s, r.Old))*int64(more)) != nil {
		return ""
	}
	return strings.ReplaceAll(s, r.Old, r.New)
}

// ReplaceRegex replaces every match of a pattern by a fixed text.
type ReplaceRegex struct {
	Pattern *regex.Regexp
	New     string
}

// Normalize implements Normalizer.
func (r ReplaceRegex) Normalize(left *budget.Budget, s string) string {
	var b strings.Builder
	from := 0
	for {
		begin, end, ok := r.Pattern.Find(left, s, from)
		if !ok {
			break
		}
		if left.CountBytes(int64(begin-from+len(r.New))) != nil {
			return ""
		}
		b.WriteString(s[from:begin])
		b.WriteString(r.New)
		from = end
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// Strip removes leading and trailing white space.
type Strip struct{ Left, Right bool }

// Normalize implements Normalizer.
func (t Strip) Normalize(_ *budget.Budget, s string) string {
	if t.Left {
		s = strings.TrimLeftFunc(s, isSpace)
	}
	if t.Right {
		s = strings.TrimRightFunc(s, isSpace)
	}
	return s
}

func isSpace(r rune) bool { return cc.Of(r)&cc.Space != 0 }

// StripAccents drops combining marks.
func StripAccents(s string) string {
	if ascii(s) {
		return s
	}
	return drop(s, cc.Accents())
}

func drop(s string, t *cc.Table) string {
	return strings.Map(func(r rune) rune {
		if t.Has(r) {
			return -1
		}
		return r
	}, s)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// newer are ranges of letters with a lower case in the reference's tables but not in Go's, with the distance to it.
var newer = []struct {
	lo, hi, by rune
}{
	{0x1C89, 0x1C89, 1}, {0xA7CB, 0xA7CB, 0x264 - 0xA7CB}, {0xA7CC, 0xA7CC, 1}, {0xA7CE, 0xA7CE, 1}, {0xA7D2, 0xA7D2, 1},
	{0xA7D4, 0xA7D4, 1}, {0xA7DA, 0xA7DA, 1}, {0xA7DC, 0xA7DC, 0x19B - 0xA7DC}, {0x10D50, 0x10D65, 0x20},
	{0x16EA0, 0x16EB8, 0x1B},
}

// Lowercase converts every character to lower case, independent of its neighbours.
func Lowercase(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
			continue
		case r == 0x130: // capital I with a dot: the only character with two lower-case characters
			b.WriteString("i\u0307")
			continue
		case r >= 0x1C89:
			for _, n := range newer {
				if n.lo <= r && r <= n.hi {
					r += n.by
					break
				}
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Nmt drops control characters and converts unusual blanks to spaces, like SentencePiece's nmt rules.
func Nmt(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x01 && r <= 0x08, r == 0x0B, r >= 0x0E && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
			return -1
		case r == 0x09, r == 0x0A, r == 0x0C, r == 0x0D, r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029,
			r == 0x2581, r == 0xFEFF, r == 0xFFFD:
			return ' '
		}
		return r
	}, s)
}

// ByteLevel converts every byte to its character in the byte alphabet.
func ByteLevel(s string) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i := range len(s) {
		b.WriteRune(Alphabet[s[i]])
	}
	return b.String()
}

// Alphabet maps each byte to a printable character: printable bytes map to themselves, the others to U+0100 and up.
var Alphabet = func() (a [256]rune) {
	next := rune(0x100)
	for i := range a {
		if i >= 33 && i <= 126 || i >= 161 && i <= 172 || i >= 174 {
			a[i] = rune(i)
			continue
		}
		a[i] = next
		next++
	}
	return a
}()

// AlphabetByte returns the byte of a character of the byte alphabet; ok is false for any other character.
func AlphabetByte(r rune) (b byte, ok bool) {
	if r < 0 || int(r) >= len(alphabetBytes) || alphabetBytes[r] < 0 {
		return 0, false
	}
	return byte(alphabetBytes[r]), true
}

var alphabetBytes = func() (a [0x144]int16) {
	for i := range a {
		a[i] = -1
	}
	for i, r := range Alphabet {
		a[r] = int16(i)
	}
	return a
}()
