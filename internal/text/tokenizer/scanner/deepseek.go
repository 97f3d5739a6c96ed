package scanner

import (
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// The three patterns of DeepSeek's sequence of splits: numbers, Chinese and kana, the rest.
const (
	patternDigits3  = `\p{N}{1,3}`
	patternCJK      = "[一-龥\u3040-ゟ゠-ヿ]+"
	patternDeepSeek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|" +
		" ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

// digits3 splits numbers into groups of three digits.
func digits3(s string, i int) (int, bool) {
	if e := count(s, i, 3, cc.N); e > i {
		return e, false
	}
	_, _, n := at(s, i)
	return i + n, true
}

// cjk matches runs of ideographs and kana.
func cjk(s string, i int) (int, bool) {
	begin := i
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !(r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3040 && r <= 0x30FF) {
			break
		}
		i += n
	}
	if i > begin {
		return i, false
	}
	_, _, n := at(s, i)
	return i + n, true
}

func latin(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// deepseek implements the third pattern. Its white space never follows numbers, which were split off before. It may leave characters without a class
// unmatched.
func deepseek(s string, i int) (int, bool) {
	c, r, n := at(s, i)
	if r > ' ' && r < utf8.RuneSelf && c&(cc.P|cc.S) != 0 && i+1 < len(s) && latin(s[i+1]) {
		for i++; i < len(s) && latin(s[i]); i++ {
		}
		return i, false
	}
	if c&(cc.L|cc.P|cc.S) == 0 && r != '\r' && r != '\n' {
		if d, _, _ := at(s, i+n); d&(cc.L|cc.M) != 0 {
			return run(s, i+n, cc.L|cc.M), false
		}
	}
	if c&(cc.L|cc.M) != 0 {
		return run(s, i, cc.L|cc.M), false
	}
	j, d := i, c
	if r == ' ' {
		j = i + 1
		d, _, _ = at(s, j)
	}
	if d&(cc.P|cc.S) != 0 {
		return newlines(s, run(s, j, cc.P|cc.S), false), false
	}
	if c&cc.Space != 0 {
		return whitespace(s, i, true), false
	}
	return i + n, true
}
