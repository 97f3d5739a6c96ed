package redact

import "testing"

// TestBegunKeepsWholeValues: a text that ends with a whole value is kept back from the beginning of the value, where its last character begins another
// form of it, so that nobody writes a part of the value. The same holds for a value that is spelled by escapes.
func TestBegunKeepsWholeValues(t *testing.T) {
	s := NewSecrets("se-cret7") // 7 begins its hexadecimal form
	for text, want := range map[string]int{"a se-cret7": 8, "a se-cret7 b": 0, "a se-cre": 6, "a 7": 1, `a se-cret\u0037`: 13, `a \u0073e-cret7`: 13, `a \u0073e-cret7 b`: 0} {
		if got := s.PartialLength(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
