package servermetrics

import (
	"cmp"
	"slices"
	"strings"
)

// unitOf returns the unit of a metric, "" = unknown. It uses the scale in its description, else the unit in its description, else the end of its name.
// Units are lower-case names; "per second" is "/s".
func unitOf(name, help string) string {
	text := scan(help)
	return cmp.Or(scaleOf(text), statedUnit(text), nameUnit(name))
}

// scaleOf returns ratio for a description of values from 0 to 1 (or of a 1 that means 100 %), percent for one from 0 to 100.
func scaleOf(text []token) string {
	for i, t := range text {
		rest := text[i+1:]
		switch {
		case t.is(0):
			between := i > 0 && text[i-1].word == "between"
			high, percent := upperEnd(rest, between)
			switch {
			case high.is(100):
				return "percent"
			case high.is(1) && !percent:
				return "ratio"
			}
		case t.is(1) && len(rest) >= 3 && rest[0].oneOf("means", "is", "=") && rest[1].is(100) && rest[2].percent():
			return "ratio"
		}
	}
	return ""
}

// upperEnd returns the upper end of a range whose lower end was read: "- 1", "to 100%", ".. 1", or "and 1" after "between". percent reports whether a
// percent sign follows. A token that is not a number means that there is no range.
func upperEnd(rest []token, between bool) (high token, percent bool) {
	if len(rest) > 0 && rest[0].percent() {
		rest = rest[1:]
	}
	dots := 0
	for dots < len(rest) && rest[dots].word == "." {
		dots++
	}
	switch {
	case dots > 1:
		rest = rest[dots:]
	case len(rest) > 0 && (rest[0].oneOf("-", "–", "—", "to") || between && rest[0].word == "and"):
		rest = rest[1:]
	default:
		return token{}, false
	}
	if len(rest) == 0 {
		return token{}, false
	}
	return rest[0], len(rest) > 1 && rest[1].percent()
}

// plainUnits maps the words for units in a description; "tokens" only counts after "in", since alone in brackets it is what is counted.
var plainUnits = map[string]string{
	"seconds": "seconds", "milliseconds": "milliseconds", "ms": "milliseconds", "nanoseconds": "nanoseconds", "ns": "nanoseconds",
	"bytes": "bytes", "tokens": "tokens",
}

// rates maps the units that a description may give per second.
var rates = map[string]string{
	"gb": "gb/s", "mb": "mb/s", "bytes": "bytes/s", "token": "tokens/s", "tokens": "tokens/s", "request": "requests/s", "requests": "requests/s",
}

// second lists the words for the second of a rate.
var second = []string{"s", "sec", "second"}

// statedUnit returns the first unit in a description: "in seconds", "(seconds)", "in GB/s", "(in W)".
func statedUnit(text []token) string {
	for i, t := range text {
		bracketed := i > 0 && text[i-1].oneOf("(", "[")
		if t.word == "in" {
			rest := text[i+1:]
			if unit, _ := wordedUnit(rest); unit != "" {
				return unit
			}
			if bracketed && closed(rest, 1) && abbreviations[rest[0].written] != "" {
				return abbreviations[rest[0].written]
			}
		} else if unit, used := wordedUnit(text[i:]); bracketed && unit != "tokens" && closed(text[i:], used) {
			return unit
		}
	}
	return ""
}

// wordedUnit returns the unit at the beginning of a text, and the number of its tokens.
func wordedUnit(text []token) (unit string, used int) {
	if len(text) == 0 {
		return "", 0
	}
	what, per, rate := strings.Cut(text[0].word, "/")
	used = 1
	if !rate && len(text) > 2 && text[1].word == "per" && text[2].oneOf(second...) {
		per, rate, used = text[2].word, true, 3
	}
	switch {
	case !rate:
		return plainUnits[what], used
	case slices.Contains(second, per):
		return rates[what], used
	}
	return "", used
}

// closed reports whether a closing bracket follows n tokens.
func closed(text []token, n int) bool { return n > 0 && len(text) > n && text[n].oneOf(")", "]") }

// abbreviations maps the symbols in "(in X)": SI units and multiples of the byte. Upper and lower case distinguish mega from milli.
var abbreviations = map[string]string{
	"s": "seconds", "sec": "seconds", "ms": "milliseconds", "us": "microseconds", "µs": "microseconds", "μs": "microseconds", "ns": "nanoseconds",
	"B": "bytes", "kB": "kilobytes", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "TB": "terabytes",
	"KiB": "kilobytes", "MiB": "megabytes", "GiB": "gigabytes", "TiB": "terabytes", // the Python tool's files use these names
	"Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
	"mW": "milliwatt", "W": "watt", "kW": "kilowatt", "mJ": "millijoule", "J": "joule", "kJ": "kilojoule", "MJ": "megajoule",
	"C": "celsius", "°C": "celsius", "F": "fahrenheit", "°F": "fahrenheit", "K": "kelvin", "%": "percent", "percent": "percent",
}

// endings maps the last words of a name to its unit.
var endings = map[string]string{
	"seconds": "seconds", "milliseconds": "milliseconds", "ms": "milliseconds", "nanoseconds": "nanoseconds", "ns": "nanoseconds",
	"bytes": "bytes", "kilobytes": "kilobytes", "megabytes": "megabytes", "gigabytes": "gigabytes", "gb_s": "gb/s",
	"tokens": "tokens", "requests": "requests", "reqs": "requests", "request_success": "requests",
	"errors": "errors", "error_count": "errors", "blocks": "blocks", "block_count": "blocks", "count": "count",
	"ratio": "ratio", "percent": "percent", "perc": "percent", "celsius": "celsius", "joules": "joule", "watts": "watt",
}

// nameUnit returns the unit at the end of a name. The total of a unit has that unit. Any other total, and a name for the number of requests in some
// state, is a count.
func nameUnit(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == ':' })
	total := len(words) > 1 && words[len(words)-1] == "total"
	if total {
		words = words[:len(words)-1]
	}
	for _, n := range []int{2, 1} {
		if at := len(words) - n; at >= 0 && at+n > 1 { // a name of one word has no ending
			if unit := endings[strings.Join(words[at:], "_")]; unit != "" {
				return unit
			}
		}
	}
	switch {
	case strings.Contains(name, "num_requests_"):
		return "requests"
	case total:
		return "count"
	}
	return ""
}
