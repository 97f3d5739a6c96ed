package terminal

import (
	"math"
	"strconv"
	"strings"
)

// Figure formats a number for reading at a glance: three significant digits and thousands separators, such as 9.02, 34.5, 120, 2,488. NaN becomes a
// dash.
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

// Exact formats a number for a table: two decimals, thousands separators.
func Exact(v float64) string {
	return Thousands(strconv.FormatFloat(v, 'f', 2, 64))
}

// Plural formats a number with its noun, whose plural ends in s.
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Count formats a whole number with thousands separators: 8,269.
func Count[N int | int64](n N) string { return Thousands(strconv.FormatInt(int64(n), 10)) }

// Thousands inserts commas between the groups of three digits before the decimal point: "1234.5" becomes "1,234.5". It returns a text that is not a
// plain decimal number, such as "+Inf" or "1e+20", unchanged.
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
