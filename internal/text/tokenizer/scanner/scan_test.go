package scanner_test

import (
	"testing"

	"aiperf/internal/text/tokenizer/pretoken"
	"aiperf/internal/text/tokenizer/regex"
	"aiperf/internal/text/tokenizer/scanner"
)

// tiktokenCL100K is the pattern that CL100KRanks stands for, with what the engine writes differently: \z for the end of the text.
const tiktokenCL100K = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s`

// check compares every hand-written scanner with the engine, piece by piece.
func check(t *testing.T, s string) {
	t.Helper()
	all := map[string]scanner.Func{tiktokenCL100K: scanner.CL100KRanks}
	for p, f := range scanner.Known {
		all[p] = f
	}
	for pattern, f := range all {
		engine := engines[pattern]
		if engine == nil {
			re, err := regex.Compile(pattern)
			if err != nil {
				t.Fatal(err)
			}
			engine = pretoken.Scanner{Engine: re}.Within(nil)
			engines[pattern] = engine
		}
		for i := 0; i < len(s); {
			end, gap := f(s, i)
			wantEnd, wantGap := engine(s, i)
			if end != wantEnd || gap != wantGap {
				t.Fatalf("%.40s…: %q at %d: piece %q (gap %v), the engine says %q (gap %v)", pattern, s, i, s[i:end], gap, s[i:wantEnd], wantGap)
			}
			i = end
		}
	}
}

var engines = map[string]scanner.Func{}

var seeds = []string{
	"Hello, world! It's 12345 tests'S DON'T we'Ve", "  a\n\n  b \t\r\n ", "ÀÉ日本語カタカナ 漢字123½Ⅷ", "e\u0301\u0301X\u0301x", "''s'ſ 'S'T'LL",
	"foo/bar//\n/", "ǅungla ʰa ªb", "\u3000\u3000x\u00a0", "!@#$%abc^&*()", "a\u200db\u0000\x7f", "HTTPServerIDs", "\n\n\n", "   ", "x   ", "\u0301 \u0301a",
}

func TestScannersEqualTheEngine(t *testing.T) {
	for _, s := range seeds {
		check(t, s)
	}
}

func FuzzScanners(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 500 {
			check(t, string([]rune(s))) // pieces are always cut from valid UTF-8
		}
	})
}
