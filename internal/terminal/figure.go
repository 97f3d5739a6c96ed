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
		return Thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case size >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Exact is a number as tables have it: two decimals, thousands separators.
func Exact(v float64) string {
	return Thousands(strconv.FormatFloat(v, 'f', 2, 64))
}

// Plural is a number of things with their noun, whose plural ends in s.
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Count is a whole number with thousands separators: 8,269.
func Count[N int | int64](n N) string { return Thousands(strconv.FormatInt(int64(n), 10)) }

// Thousands puts commas between the groups of three digits before the decimal point of a number: "1234.5" becomes "1,234.5". Text that is not a
// plain decimal number stays as it is: "+Inf", "1e+20".
func Thousands(number string) string {
	digits := strings.TrimPrefix(number, "-")
	sign := number[:len(number)-len(digits)]
	whole, fraction := digits, ""
	if point := strings.IndexByte(digits, '.'); point >= 0 {
		whole, fraction = digits[:point], digits[point:]
	}
	if strings.Trim(whole, "0123456789") != "" {
		return number
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}
