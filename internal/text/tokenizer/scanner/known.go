package scanner

import cc "aiperf/internal/text/tokenizer/charclass"

// Parts of the published patterns.
const (
	clHead      = `[^\r\n\p{L}\p{N}]?\p{L}+|`
	clFold      = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|`
	clTail      = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	oWord       = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	oUpper      = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	oContracted = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	oTail       = `| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// The patterns of the published rank files, by family.
const (
	PatternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	PatternCL100K = clFold + clHead + `\p{N}{1,3}` + clTail
	PatternQwen   = clFold + clHead + `\p{N}` + clTail
	PatternO200K  = oWord + oContracted + `|` + oUpper + oContracted + `|\p{N}{1,3}` + oTail
	PatternTekken = oWord + `|` + oUpper + `|\p{N}` + oTail
)

// CL100KRanks implements the current pattern of the rank file cl100k_base. It is PatternCL100K, but white space at the end of the text is one piece,
// with or without line breaks.
func CL100KRanks(s string, i int) (int, bool) {
	if c, _, _ := at(s, i); c&cc.Space != 0 {
		if e := run(s, i, cc.Space); e == len(s) {
			return e, false
		}
	}
	return cl100kRanks(s, i)
}

var cl100kRanks = cl100k(3)

// Known maps the exact text of a pattern to its hand-written scanner.
var Known = map[string]Func{
	PatternGPT2:   GPT2,
	PatternCL100K: cl100k(3),
	PatternQwen:   cl100k(1),
	PatternO200K:  o200k(3, true),
	PatternTekken: o200k(1, false),

	patternDigits3:  digits3,
	patternCJK:      cjk,
	patternDeepSeek: deepseek,
}
