package setting

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseInt reads a decimal integer: an optional sign, digits, and "_" between digits.
func ParseInt(s string) (int64, error) {
	text, err := plain(s)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("does not fit in 64 bits")
		}
		return 0, fmt.Errorf("is not an integer")
	}
	return n, nil
}

// ParseFloat reads a decimal number, with or without an exponent. It accepts "inf" only if inf is true, and never NaN.
func ParseFloat(s string, inf bool) (float64, error) {
	text, err := plain(s)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case strings.ContainsAny(text, "xXpP"), math.IsNaN(f), err != nil && !math.IsInf(f, 0):
		return 0, fmt.Errorf("is not a number")
	case math.IsInf(f, 0) && err != nil:
		return 0, fmt.Errorf("is too large")
	case math.IsInf(f, 0) && !inf:
		return 0, fmt.Errorf("must be finite")
	}
	return f, nil
}

// plain trims blanks and removes "_" between digits.
func plain(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", fmt.Errorf("is empty")
	}
	if !strings.Contains(s, "_") {
		return s, nil
	}
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	for i := range len(s) {
		if s[i] == '_' && (!digit(i-1) || !digit(i+1)) {
			return "", fmt.Errorf("is not a number")
		}
	}
	return strings.ReplaceAll(s, "_", ""), nil
}

// ParseBool reads true, false, yes, no, 1, 0 in any case.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "1":
		return true, nil
	case "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("is neither true nor false")
}

// withoutDashes removes "-" and "_".
var withoutDashes = strings.NewReplacer("-", "", "_", "")

// Choice returns the choice that a word means; case, "-" and "_" do not matter.
func Choice(word string, choices []string) (string, bool) {
	fold := func(s string) string {
		return withoutDashes.Replace(strings.ToLower(strings.TrimSpace(s)))
	}
	w := fold(word)
	for _, c := range choices {
		if fold(c) == w && w != "" {
			return c, true
		}
	}
	return "", false
}

// CheckBounds returns an error that states the bounds if v is outside of them. Bounds are rules such as ">= 1" or "> 0, <= 100".
func CheckBounds(v float64, bounds string) error {
	for rule := range strings.SplitSeq(bounds, ",") {
		rule = strings.TrimSpace(rule)
		if rule == "" {
			continue
		}
		op, limitText, _ := strings.Cut(rule, " ")
		limit, err := strconv.ParseFloat(limitText, 64)
		if err != nil {
			return fmt.Errorf("bounds %q of the table are not understood", bounds)
		}
		ok := false
		switch op {
		case ">=":
			ok = v >= limit
		case ">":
			ok = v > limit
		case "<=":
			ok = v <= limit
		case "<":
			ok = v < limit
		}
		if !ok {
			return fmt.Errorf("must be %s", BoundsText(bounds))
		}
	}
	return nil
}

// BoundsText returns bounds for a sentence: "> 0, <= 100" becomes "> 0 and <= 100".
func BoundsText(bounds string) string { return strings.ReplaceAll(bounds, ",", " and") }
