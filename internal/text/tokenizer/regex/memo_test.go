package regex

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNoExponentialTime: patterns for which plain backtracking doubles its work with every character need a bounded number of steps.
func TestNoExponentialTime(t *testing.T) {
	const n = 400
	as := strings.Repeat("a", n)
	for pattern, text := range map[string]string{
		`(?:a+)+b`: as, `(?:a|a)*b`: as, `(?:a|aa)+c`: as, `(?:a*)*b`: as, `(?:(?:a*)*)*b`: as, `(?:.*)*x`: as, `(?:a|b|ab)*(?:a|b|ab)*x`: strings.Repeat("ab", n/2),
		`(?:a?){30}b`: as, `(?:\w+\s?)*!`: as, `(?:a+?)+?b`: as, `(?=(?:a+)+b)c|(?:a|a)+b`: as, `(?>(?:a|a)*b)|x`: as, `(?:(?:a|a)+(?:a|a)+)+b`: as,
	} {
		re, err := Compile(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		m := &machine{after: memoAfter}
		if end := m.run(re.prog, text, 0); end >= 0 {
			t.Errorf("%s matches up to %d", pattern, end)
		}
		if most := 40 * len(re.prog) * n * n; m.steps > most {
			t.Errorf("%s: %d steps, more than %d", pattern, m.steps, most)
		}
	}
}

// FuzzCompile: what is found lies in the text, and remembering changes no match: a run that remembers from the beginning and one that may not at all agree.
func FuzzCompile(f *testing.F) {
	for _, seed := range [][2]string{
		{`(?:a+)+b`, "aaab"}, {`(?:(?:a*)*|b)*c`, "aabac"}, {`(?:a|ab)(?:c|bcd)(?:d*)`, "abcd"}, {`(?:(?:x?)*?y?)*?z`, "xyxyz"},
		{`(?=(?:a|aa)*b)a+?b`, "aaab"}, {`(?:(?:a?b??)*c?)*d`, "abcabcd"}, {`(?>a*|b)*c`, "aabc"}, {`(?:(?:)*a*)*b`, "aab"},
	} {
		f.Add(seed[0], seed[1])
	}
	for _, pattern := range []string{
		`(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}`, `\s+(?!\S)|\s+`, `[a-z&&[^aeiou]]`, `(?>a|b)*+(?<=c)`, `(a*)*`, `(?:a?){3,5}?b`,
	} {
		f.Add(pattern, "ab c'S\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 60 || len(text) > 12 { // a backtracking engine: patterns can be exponential in the text
			return
		}
		re, err := Compile(pattern)
		if err != nil {
			return
		}
		if b, e, ok := re.Find(nil, text, 0); ok && (b < 0 || e <= b || e > len(text)) {
			t.Errorf("%q in %q: %d to %d", pattern, text, b, e)
		}
		if len(pattern) > 30 || len(re.prog) > 60 || !utf8.ValidString(text) {
			return
		}
		plain, eager := &machine{after: math.MaxInt}, &machine{}
		for at := range text {
			want := plain.run(re.prog, text, at)
			if plain.steps > 200_000 {
				return // the reason for all this
			}
			if got := eager.run(re.prog, text, at); got != want {
				t.Fatalf("%q at %d of %q: %d, without memory %d", pattern, at, text, got, want)
			}
		}
	})
}
