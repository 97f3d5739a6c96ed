package grade

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/lazyregexp"
)

// signed reports whether a minus at s[i] is a sign. After a digit, a letter or a closing parenthesis it is an operator or a hyphen.
func signed(s string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(s[:i])
	return size == 0 || r != ')' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// apartDigits matches an underscore between two digits, the digit separator of programs.
var apartDigits = lazyregexp.New(`(\d)_(\d)`)

// float parses a number as Python does; numbers that are too large are infinite.
func float(s string) (float64, bool) {
	for range 2 { // one pass finds only every second underscore of 1_2_3
		s = apartDigits.ReplaceAllString(s, "$1$2")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) || strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	return v, true
}
