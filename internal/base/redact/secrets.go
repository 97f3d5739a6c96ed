package redact

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/sorting"
)

// Secrets is the set of credential values that a run knows. Everything that a run writes goes through it, whoever produced the text. Each value is
// replaced wherever it appears, also in the spellings of JSON, CSV and URLs. A value of
//
//   - 8 bytes or more is replaced everywhere; if it has digits only, then only where it is not part of a longer number;
//   - 4 to 7 bytes is replaced where it is a separate word, unless it has lower-case letters only: keys such as "none", "test" or "dummy" are
//     ordinary words;
//   - less than 4 bytes is not searched for. It is hidden only where its name marks it as a secret.
//
// Values may be added at any time. A nil set has no values. All methods are safe for concurrent use.
type Secrets struct {
	mu     sync.Mutex
	values map[string]bool
	now    atomic.Pointer[matcher]
}

// NewSecrets returns a set with the values.
func NewSecrets(values ...string) *Secrets {
	s := &Secrets{}
	s.Add(values...)
	return s
}

// Minimum lengths in bytes of a value that is searched for as a word, and anywhere.
const (
	minWord     = 4
	minAnywhere = 8
)

// Add adds values to the set.
func (s *Secrets) Add(values ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.values) // concurrent readers continue with the old map
	if all == nil {
		all = map[string]bool{}
	}
	for _, v := range values {
		if v, ok := trimSecret(v); ok {
			all[v] = true
		}
	}
	if len(all) > len(s.values) {
		s.values = all
		s.now.Store(newMatcher(all))
	}
}

// matcher returns the current matcher; nil if the set is empty.
func (s *Secrets) matcher() *matcher {
	if s == nil {
		return nil
	}
	return s.now.Load()
}

// Values replaces the values in a text and nothing else.
func (s *Secrets) Values(text string) string {
	m := s.matcher()
	if m == nil || !mayContain(m, text) {
		return text
	}
	return m.replace(text, false)
}

// Text redacts a text as the function Text does. It also replaces the values, and the beginning of one at the end of a truncated text.
func (s *Secrets) Text(text string) string {
	text = s.Values(text)
	if m := s.matcher(); m != nil {
		text = m.replaceEnd(text)
	}
	return Text(text)
}

// PartialLength returns the length of the longest end of a text that may be the beginning of a value; 0 if there is none.
func (s *Secrets) PartialLength(text string) int {
	m := s.matcher()
	if m == nil {
		return 0
	}
	return m.partialLength(text)
}

// JSON replaces the values inside the strings of JSON text: one value, or one value per line. Numbers and literals stay. In the names of members,
// which are our own words, it ignores values of letters and underscores only. The result may share memory with the argument.
func (s *Secrets) JSON(text []byte) []byte {
	m := s.matcher()
	if m == nil || !mayContain(m, text) {
		return text
	}
	var out []byte
	from := 0
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := jsontext.StringEnd(text, at)
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

// Writer returns a writer to w that replaces the values in each Write, which must contain whole lines.
func (s *Secrets) Writer(w io.Writer) io.Writer { return redactingWriter{s, w} }

type redactingWriter struct {
	secrets *Secrets
	to      io.Writer
}

func (h redactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.to, h.secrets.Values(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// With returns a set with additional values; the same set if there is nothing to add.
func (s *Secrets) With(values ...string) *Secrets {
	if s == nil {
		return NewSecrets(values...)
	}
	s.mu.Lock()
	known := s.values
	s.mu.Unlock()
	if !slices.ContainsFunc(values, func(v string) bool { v, ok := trimSecret(v); return ok && !known[v] }) {
		return s
	}
	return NewSecrets(slices.Concat(values, slices.Collect(maps.Keys(known)))...)
}

// trimSecret returns the trimmed value to search for; ok is false if it is too short.
func trimSecret(v string) (trimmed string, ok bool) {
	v = strings.TrimSpace(v)
	return v, len(v) >= minWord && v != Placeholder && (len(v) >= minAnywhere || !lowerLetters(v))
}

// memberName reports whether the string that ends at end is the name of a member.
func memberName(text []byte, end int) bool {
	rest := bytes.TrimLeft(text[end:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// lowerLetters reports whether s has lower-case letters only, as ordinary words do.
func lowerLetters(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// sorted sorts patterns longest first, so that the longer of two values with the same beginning is replaced.
func sorted(list []pattern) []pattern {
	sorting.Sort(list, func(a, b pattern) int {
		if n := len(b.text) - len(a.text); n != 0 {
			return n
		}
		return strings.Compare(a.text, b.text)
	})
	return slices.CompactFunc(list, func(a, b pattern) bool { return a.text == b.text })
}
