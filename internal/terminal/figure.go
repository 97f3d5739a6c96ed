package terminal

import (
	"math"
	"strconv"
	"strings"
)

// Figure is a number with three significant digits and thousands separators, as people read it at sight: 9.02, 34.5, 120, 2,488; a dash for
// none.
func Figure(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case size >= 99.95:
		return separated(strconv.FormatFloat(v, 'f', 0, 64))
	case size >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Exact is a number as tables have it: two decimals, thousands separators.
func Exact(v float64) string {
	whole, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return separated(whole) + "." + rest
}

// Plural is a number of things with their noun, whose plural ends in s.
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return separated(strconv.FormatInt(int64(n), 10)) + " " + noun + "s"
}

// separated puts commas between the groups of three digits of a whole number.
func separated(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
