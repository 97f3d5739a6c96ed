package scanner

import cc "aiperf/internal/text/tokenizer/charclass"

// GPT2 implements the pattern of GPT-2, r50k and p50k.
func GPT2(s string, i int) (int, bool) {
	if n := contraction(s, i, false); n > 0 {
		return i + n, false
	}
	c, r, n := at(s, i)
	j, d := i, c
	if r == ' ' {
		j = i + n
		if j == len(s) {
			return j, false
		}
		d, _, _ = at(s, j)
	}
	switch {
	case d&cc.L != 0:
		return run(s, j, cc.L), false
	case d&cc.N != 0:
		return run(s, j, cc.N), false
	case d&cc.Space == 0:
		return until(s, j, cc.Space|cc.L|cc.N), false
	}
	return whitespace(s, i, false), false
}

// cl100k returns the scanner for the cl100k pattern with numbers of at most digits digits.
func cl100k(digits int) Func {
	return func(s string, i int) (int, bool) {
		c, r, n := at(s, i)
		if c&cc.L != 0 {
			return run(s, i+n, cc.L), false
		}
		if r == '\'' {
			if k := contraction(s, i, true); k > 0 {
				return i + k, false
			}
		}
		if c&cc.N != 0 {
			return count(s, i, digits, cc.N), false
		}
		if r != '\r' && r != '\n' {
			if d, _, _ := at(s, i+n); d&cc.L != 0 {
				return run(s, i+n, cc.L), false
			}
		}
		if e := symbols(s, i, c, r, false); e > 0 {
			return e, false
		}
		return whitespace(s, i, true), false
	}
}

// symbols implements the alternative ` ?[^\s\p{L}\p{N}]+[\r\n]*` (with slash: `[\r\n/]*`). It returns the end of the match, 0 if there is none.
func symbols(s string, i int, c cc.Classes, r rune, slash bool) int {
	j, d := i, c
	if r == ' ' {
		j = i + 1
		d, _, _ = at(s, j)
	}
	if j == len(s) || d&(cc.Space|cc.L|cc.N) != 0 {
		return 0
	}
	return newlines(s, until(s, j, cc.Space|cc.L|cc.N), slash)
}

// The classes of the o200k words: upper is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], lower is [\p{Ll}\p{Lm}\p{Lo}\p{M}].
const (
	upper = cc.Lu | cc.Lt | cc.Lm | cc.Lo | cc.M
	lower = cc.Ll | cc.Lm | cc.Lo | cc.M
)

// o200k returns the scanner for the o200k pattern, with numbers of at most digits digits, and words with or without an English contraction.
func o200k(digits int, contractions bool) Func {
	return func(s string, i int) (int, bool) {
		c, r, n := at(s, i)
		prefix := c&(cc.L|cc.N) == 0 && r != '\r' && r != '\n'
		if e := word(s, i, n, prefix); e >= 0 {
			if contractions {
				e += contraction(s, e, true)
			}
			return e, false
		}
		if c&cc.N != 0 {
			return count(s, i, digits, cc.N), false
		}
		if e := symbols(s, i, c, r, true); e > 0 {
			return e, false
		}
		return whitespace(s, i, true), false
	}
}

// word matches the two word alternatives of o200k at i. It tries each alternative first with the character at i (n bytes) as prefix, if allowed, and
// then without. It returns -1 if there is no match.
func word(s string, i, n int, prefix bool) int {
	if prefix && n == 1 {
		if d, _, _ := at(s, i+1); d&(upper|lower) == 0 {
			return -1 // the common case: a blank or ASCII punctuation before something other than a letter
		}
	}
	if prefix {
		if e := upperLower(s, i+n); e >= 0 {
			return e
		}
	}
	if e := upperLower(s, i); e >= 0 {
		return e
	}
	if prefix {
		if e := run(s, i+n, upper); e > i+n {
			return run(s, e, lower)
		}
	}
	if e := run(s, i, upper); e > i {
		return run(s, e, lower)
	}
	return -1
}

// upperLower implements upper*lower+ with backtracking: if no lower follows the run of uppers, the match ends after its last character that is also a
// lower. It returns -1 if there is no match.
func upperLower(s string, i int) int {
	end, both := i, -1
	for end < len(s) {
		c, _, n := at(s, end)
		if c&upper == 0 {
			break
		}
		end += n
		if c&lower != 0 {
			both = end
		}
	}
	if c, _, _ := at(s, end); c&lower != 0 {
		return run(s, end, lower)
	}
	return both
}
