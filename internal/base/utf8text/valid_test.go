package utf8text

import "testing"

func TestValid(t *testing.T) {
	for in, want := range map[string]string{
		"ok é 😀": "ok é 😀", "a\xFFb": "a\uFFFDb", "\xE2\x82": "\uFFFD", "\xE2\x82a": "\uFFFDa", "\xF0\x9F\x98": "\uFFFD",
		"\xC0\x80": "\uFFFD\uFFFD", "\xED\xA0\x80": "\uFFFD\uFFFD\uFFFD", "\xF4\x90": "\uFFFD\uFFFD", "\xFF\xFE": "\uFFFD\uFFFD",
	} {
		if got := string(Valid([]byte(in))); got != want {
			t.Errorf("Valid(%q) = %q, want %q", in, got, want)
		}
	}
}
