package protojson

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/lazyregexp"
)

// Limits of google/protobuf/timestamp.proto and duration.proto, in seconds.
const (
	minTimestamp = -62135596800 // 0001-01-01
	maxTimestamp = 253402300799 // 9999-12-31
	maxDuration  = 315576000000
	nanos        = 1_000_000_000
)

// parts returns the seconds and nanoseconds of a Timestamp or Duration.
func (m *message) parts() (seconds, nanoseconds int64) {
	seconds, _ = m.values[1].(int64)
	nanoseconds, _ = m.values[2].(int64)
	return seconds, nanoseconds
}

func (m *message) setParts(seconds, nanoseconds int64) {
	m.set(m.kind.byID[1], seconds)
	m.set(m.kind.byID[2], nanoseconds)
}

// shortFraction drops groups of three zeros at the end.
func shortFraction(text string) string {
	for range 3 {
		text = strings.TrimSuffix(text, "000")
	}
	return strings.TrimSuffix(text, ".")
}

func appendTimestamp(m *message, b []byte, _ int) ([]byte, error) {
	s, n := m.parts()
	if s < minTimestamp || s > maxTimestamp || n < 0 || n >= nanos {
		return nil, fmt.Errorf("a timestamp of %d s and %d ns is out of range", s, n)
	}
	text := time.Unix(s, n).UTC().Format("2006-01-02T15:04:05.000000000")
	return append(b, `"`+shortFraction(text)+`Z"`...), nil
}

func parseTimestamp(m *message, tree any) error {
	text, ok := tree.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	dot, zone := strings.LastIndexByte(text, '.'), strings.LastIndexAny(text, "Z-+")
	if !ok || err != nil || at.Unix() < minTimestamp || at.Unix() > maxTimestamp || dot >= 0 && zone-dot > len(".999999999") {
		return fmt.Errorf(`%s is not a timestamp between the years 1 and 9999, for example "2026-01-31T12:00:00.5Z"`, describe(tree))
	}
	m.setParts(at.Unix(), int64(at.Nanosecond()))
	return nil
}

func appendDuration(m *message, b []byte, _ int) ([]byte, error) {
	s, n := m.parts()
	if s < -maxDuration || s > maxDuration || n <= -nanos || n >= nanos || s > 0 && n < 0 || s < 0 && n > 0 {
		return nil, fmt.Errorf("a duration of %d s and %d ns is out of range", s, n)
	}
	sign := ""
	if s < 0 || n < 0 {
		sign, s, n = "-", -s, -n
	}
	return append(b, `"`+shortFraction(fmt.Sprintf("%s%d.%09d", sign, s, n))+`s"`...), nil
}

var durationPattern = lazyregexp.New(`^([-+]?)(0|[1-9][0-9]*)?(?:(\.)([0-9]{0,9}))?s$`)

func parseDuration(m *message, tree any) error {
	wrong := fmt.Errorf(`%s is not a duration of at most %d s, for example "1.5s"`, describe(tree), int64(maxDuration))
	text, ok := tree.(string)
	parts := durationPattern.FindStringSubmatch(text)
	if !ok || parts == nil || parts[2] == "" && parts[3] == "" {
		return wrong
	}
	s, err := strconv.ParseInt("0"+parts[2], 10, 64)
	if err != nil || s > maxDuration {
		return wrong
	}
	n, err := strconv.ParseInt((parts[4] + "000000000")[:9], 10, 64)
	if err != nil {
		return wrong
	}
	if parts[1] == "-" {
		s, n = -s, -n
	}
	m.setParts(s, n)
	return nil
}

// appendFieldMask appends paths, separated by commas, with the names in JSON.
func appendFieldMask(m *message, b []byte, _ int) ([]byte, error) {
	list, _ := m.values[1].([]any)
	var paths []string
	for _, v := range list {
		path := v.(string)
		name := camelCase(path)
		if !isPath(path) || snakeCase(name) != path {
			return nil, fmt.Errorf("path %q of a field mask has no form in JSON", path)
		}
		paths = append(paths, name)
	}
	return append(b, `"`+strings.Join(paths, ",")+`"`...), nil
}

func parseFieldMask(m *message, tree any) error {
	text, ok := tree.(string)
	if !ok {
		return fmt.Errorf("%s is not a text of paths", describe(tree))
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		path := snakeCase(name)
		if strings.Contains(name, "_") || !isPath(path) {
			return fmt.Errorf("path %q is not valid; separate paths by commas, for example a.fieldB,c", name)
		}
		m.add(m.kind.byID[1], path)
	}
	return nil
}

// snakeCase is the inverse of camelCase.
func snakeCase(name string) string {
	var b []byte
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			b = append(b, '_')
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// isPath reports whether a text consists of names separated by dots.
func isPath(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		for i, c := range []byte(part) {
			if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return true
}
