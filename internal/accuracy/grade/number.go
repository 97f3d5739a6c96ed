package grade

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// signed tells whether a minus at s[i] is a sign: behind a digit, a letter or a closing parenthesis it subtracts or joins.
func signed(s string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(s[:i])
	return size == 0 || r != ')' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// float reads a number; too large ones are infinite.
func float(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) || strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	return v, true
}
