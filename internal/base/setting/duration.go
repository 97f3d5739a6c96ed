package setting

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units maps the units of a duration to seconds. Minutes are m, as in Go and in the files of the Python tool.
var units = map[string]float64{
	"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hr": 3600, "hour": 3600,
}

// UnitSeconds returns a unit of time in s; false if there is no such unit.
func UnitSeconds(unit string) (float64, bool) {
	s, ok := units[strings.ToLower(unit)]
	return s, ok
}

// errTime is the error for a text that is not a duration.
var errTime = errors.New("is not a length of time; write a number, or 500ms, 90s, 2m, 1h")

// ParseTime reads a duration in s: a number with a unit, or several (1m30s), with or without blanks. unit ("s" or "ms") applies to a number without a
// unit. "inf" is valid only if inf is true.
func ParseTime(text, unit string, inf bool) (float64, error) {
	if f, err := ParseFloat(text, inf); err == nil {
		return scale(f, unit), nil
	}
	rest, sum := strings.ToLower(strings.Join(strings.Fields(text), "")), 0.0
	if rest == "" {
		return 0, errTime
	}
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, errTime
		}
		last := strings.IndexFunc(rest[end:], func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		if last < 0 {
			last = len(rest) - end
		}
		n, err := strconv.ParseFloat(rest[:end], 64)
		_, ok := units[rest[end:end+last]]
		if err != nil || !ok || math.IsInf(n, 0) {
			return 0, errTime
		}
		sum += scale(n, rest[end:end+last])
		rest = rest[end+last:]
	}
	return sum, nil
}

// scale converts a number of a unit to s. It divides for small units, so that 500ms is exactly 0.5.
func scale(n float64, unit string) float64 {
	switch unit {
	case "ns":
		return n / 1e9
	case "us", "µs":
		return n / 1e6
	case "ms":
		return n / 1e3
	}
	return n * units[unit]
}

// inUnit converts s to the unit of the row's values.
func (f *Row) inUnit(seconds float64) float64 {
	if f.Unit == "ms" {
		return seconds * 1e3
	}
	return seconds
}

// parseFloat reads one number, or a duration in the unit of the row.
func (f *Row) parseFloat(item string) (float64, error) {
	v, err := ParseFloat(item, f.Inf)
	if err == nil || f.Unit == "" {
		return v, err
	}
	seconds, wrong := ParseTime(item, f.Unit, f.Inf)
	switch {
	case wrong == nil:
		return f.inUnit(seconds), nil
	case item != "" && strings.ContainsAny(item[:1], "0123456789.-"):
		return 0, wrong
	}
	return 0, err
}

// parseInt reads one integer, or a duration that is a whole number of the row's units.
func (f *Row) parseInt(item string) (int64, error) {
	n, err := ParseInt(item)
	if err == nil || f.Unit == "" {
		return n, err
	}
	v, wrong := ParseTime(item, f.Unit, false)
	if wrong != nil {
		return 0, err
	}
	v = f.inUnit(v)
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, fmt.Errorf("is not a whole number of %s", f.Unit)
	}
	return int64(v), nil
}
