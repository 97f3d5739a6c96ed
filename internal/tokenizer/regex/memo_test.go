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

// FuzzMemo: remembering changes no match: a run that remembers from the beginning and one that may not at all agree.
func FuzzMemo(f *testing.F) {
	for _, seed := range [][2]string{
		{`(?:a+)+b`, "aaab"}, {`(?:(?:a*)*|b)*c`, "aabac"}, {`(?:a|ab)(?:c|bcd)(?:d*)`, "abcd"}, {`(?:(?:x?)*?y?)*?z`, "xyxyz"},
		{`(?=(?:a|aa)*b)a+?b`, "aaab"}, {`(?:(?:a?b??)*c?)*d`, "abcabcd"}, {`(?>a*|b)*c`, "aabc"}, {`(?:(?:)*a*)*b`, "aab"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 30 || len(text) > 12 || !utf8.ValidString(text) {
			return
		}
		re, err := Compile(pattern)
		if err != nil || len(re.prog) > 60 {
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
