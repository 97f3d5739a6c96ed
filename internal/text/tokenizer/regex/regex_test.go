package regex

import (
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`\p{Lu}\p{Ll}+`, "abc Def", "Def"},
		{`a+?b`, "aaab", "aaab"},
		{`a*+a`, "aaa", ""},
		{`(?>a+)ab`, "aaab", ""},
		{`\s+(?!\S)`, "a   b", "  "},
		{`(?<=\d)x`, "ax1x", "x"},
		{`(?<!\d)x`, "1xyx", "x"},
		{`(?i:'s)`, "x'ſ", "'ſ"},
		{`(?i)k`, "\u212a", "\u212a"},
		{`[^\s\p{L}&&[^x]]+`, "ab1 2", "1"},
		{`[a-z&&[^aeiou]]+`, "aebcd", "bcd"},
		{`[[:punct:]]+`, "a,+b", ",+"},
		{`\p{Han}+`, "a漢字b", "漢字"},
		{`\P{L}`, "ab1", "1"},
		{`\p{^L}`, "ab1", "1"},
		{`(?:ab|a)(?:c|bcd)`, "abcd", "abc"},
		{`(a|b)*c`, "ababc", "ababc"},
		{`(?:a?)*b`, "aab", "aab"},
		{`x{2,3}`, "xxxx", "xxx"},
		{`x{2,}?y`, "xxxy", "xxxy"},
		{`\bfoo\b`, "afoo foo", "foo"},
		{`^b`, "a\nb", "b"},
		{`a$`, "a\nb", "a"},
		{`\Aa\z`, "a", "a"},
		{`[\u4e00-\x{9fa5}]`, "a中", "中"},
		{`[]a]+`, "b]a", "]a"},
		{`.`, "\nx", "x"},
		{`(?s).`, "\nx", "\n"},
		{`\h`, "xg9", "9"},
		{`a{,2}`, "aaa", "aa"},
		{`\R`, "x\r\ny", "\r\n"},
	} {
		re, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		got := ""
		if b, e, ok := re.Find(nil, c.text, 0); ok {
			got = c.text[b:e]
		}
		if got != c.want {
			t.Errorf("%s in %q: found %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for pattern, says := range map[string]string{
		`(a`: "not closed", `a)`: "too many", `[a`: "not closed", `*a`: "nothing to repeat", `\p{Klingon}`: `"Klingon"`, `(a)\1`: "back references",
		`\q`: "not known", `a{5,2}`: "must ascend", `[z-a]`: "below its first", `(?z)a`: "flag", `a\`: "backslash", `\x{zz}`: "not a code point",
		strings.Repeat("(", 200) + strings.Repeat(")", 200): "nested", `((a{1000}){1000}){1000}`: "instructions",
	} {
		if _, err := Compile(pattern); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.30s: error %v, want %q", pattern, err, says)
		}
	}
}

// A long text must not overflow a stack, nor take more than linear time.
func TestLongText(t *testing.T) {
	start := time.Now()
	for _, pattern := range []string{`\s*[\r\n]+|\s+(?!\S)|\s+`, `(?:ab?)+`, `[^\r\n\p{L}\p{N}]?\p{L}+`} {
		re, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{strings.Repeat(" ", 1<<20), strings.Repeat("a", 1<<20)} {
			re.Find(nil, s, 0)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}
