package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Secrets are the values of the credentials that a run knows. What a run leaves behind, whoever wrote it, goes through them: each value is
// replaced wherever it stands, also as JSON, CSV and URLs spell it. A value of
//
//   - 8 bytes or more is replaced everywhere, but digits alone only where no further digits stand beside them;
//   - 4 to 7 bytes is replaced where it stands as a word of its own, unless it is made of lower-case letters alone: keys such as "none",
//     "test" or "dummy" are ordinary words;
//   - less than 4 bytes is hidden by the name that it belongs to, and not looked for.
//
// Values may be added at any time. nil knows none; all methods are safe for concurrent use.
type Secrets struct {
	mu     sync.Mutex
	values map[string]bool
	now    atomic.Pointer[matcher]
}

// NewSecrets returns a set with some values.
func NewSecrets(values ...string) *Secrets {
	s := &Secrets{}
	s.Add(values...)
	return s
}

// Lengths in bytes from which a value is looked for, as a word and anywhere.
const (
	minWord     = 4
	minAnywhere = 8
)

// Add makes values known.
func (s *Secrets) Add(values ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, v := range values {
		v = strings.TrimSpace(v)
		if s.values[v] || len(v) < minWord || v == Placeholder || len(v) < minAnywhere && lowerLetters(v) {
			continue
		}
		if s.values == nil {
			s.values = map[string]bool{}
		}
		s.values[v], changed = true, true
	}
	if changed {
		s.now.Store(newMatcher(s.values))
	}
}

// matcher is the current set; nil = nothing is known.
func (s *Secrets) matcher() *matcher {
	if s == nil {
		return nil
	}
	return s.now.Load()
}

// Values replaces the values in a text and changes nothing else in it.
func (s *Secrets) Values(text string) string {
	m := s.matcher()
	if m == nil || !m.in([]byte(text)) {
		return text
	}
	return m.replace(text, false)
}

// Text is the function Text for a text that may also hold the values.
func (s *Secrets) Text(text string) string { return Text(s.Values(text)) }

// JSON replaces the values inside the strings of JSON text, one value or a line each; numbers and literals keep what they are. In the
// names of members, where our own words stand, a value of letters and underscores alone is not looked for. The result may be the argument.
func (s *Secrets) JSON(text []byte) []byte {
	m := s.matcher()
	if m == nil || !m.in(text) {
		return text
	}
	var out []byte
	from := 0
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := stringEnd(text, at)
		if shown, changed := m.jsonString(text[at:end], memberName(text, end)); changed {
			out = append(append(out, text[from:at]...), shown...)
			from = end
		}
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			break
		}
		at = end + next
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}

// stringEnd is the index behind the JSON string that begins at a quotation mark.
func stringEnd(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// memberName tells whether the string that ends there is the name of a member.
func memberName(text []byte, end int) bool {
	rest := bytes.TrimLeft(text[end:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// lowerLetters tells an ordinary word.
func lowerLetters(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// sorted lists the longest first, so that of two values that begin alike the longer one is replaced.
func sorted(list []pattern) []pattern {
	slices.SortFunc(list, func(a, b pattern) int {
		if n := len(b.text) - len(a.text); n != 0 {
			return n
		}
		return strings.Compare(a.text, b.text)
	})
	return slices.CompactFunc(list, func(a, b pattern) bool { return a.text == b.text })
}
