package grade

import (
	"math"
	"regexp"
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

// apartDigits is an underscore between two digits, as programs set digits apart.
var apartDigits = regexp.MustCompile(`(\d)_(\d)`)

// float reads a number as Python does; too large ones are infinite.
func float(s string) (float64, bool) {
	for range 2 { // every second underscore of 1_2_3 is found at a time
		s = apartDigits.ReplaceAllString(s, "$1$2")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) || strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	return v, true
}
