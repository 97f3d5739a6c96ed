package redact

import (
	"bytes"
	"io"
	"maps"
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
	all := maps.Clone(s.values) // whoever reads the old one goes on with it
	if all == nil {
		all = map[string]bool{}
	}
	for _, v := range values {
		if v, ok := sought(v); ok {
			all[v] = true
		}
	}
	if len(all) > len(s.values) {
		s.values = all
		s.now.Store(newMatcher(all))
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

// Text is the function Text for a text that may also hold the values, and may have been cut inside the last.
func (s *Secrets) Text(text string) string {
	text = s.Values(text)
	if m := s.matcher(); m != nil {
		text = m.replaceEnd(text)
	}
	return Text(text)
}

// Begun is the length of the longest end of a text with which a value begins that goes on behind the text; 0 = there is none.
func (s *Secrets) Begun(text string) int {
	m := s.matcher()
	if m == nil {
		return 0
	}
	return m.begun(text)
}

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

// Writer returns a writer to w that replaces the values in what each Write brings: whole lines.
func (s *Secrets) Writer(w io.Writer) io.Writer { return hidden{s, w} }

type hidden struct {
	secrets *Secrets
	to      io.Writer
}

func (h hidden) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.to, h.secrets.Values(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// With returns the set with some more values; it is the set itself if there is nothing to add.
func (s *Secrets) With(values ...string) *Secrets {
	if s == nil {
		return NewSecrets(values...)
	}
	s.mu.Lock()
	known := s.values
	s.mu.Unlock()
	if !slices.ContainsFunc(values, func(v string) bool { v, ok := sought(v); return ok && !known[v] }) {
		return s
	}
	return NewSecrets(slices.Concat(values, slices.Collect(maps.Keys(known)))...)
}

// sought is a value as it is looked for; ok: it is long enough for that.
func sought(v string) (trimmed string, ok bool) {
	v = strings.TrimSpace(v)
	return v, len(v) >= minWord && v != Placeholder && (len(v) >= minAnywhere || !lowerLetters(v))
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
