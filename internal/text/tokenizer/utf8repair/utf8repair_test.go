package utf8repair

import "testing"

// The answers are Python's bytes.decode("utf-8", "replace").
func TestValid(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"aé☃😀":                          "aé☃😀",
		"\xf0\x9f":                      "\ufffd",
		"\xf0\x9f\x98":                  "\ufffd",
		"\xf0\x9fa":                     "\ufffda",
		"\xff\xfe":                      "\ufffd\ufffd",
		"\xe0\x80\x80":                  "\ufffd\ufffd\ufffd",
		"\xed\xa0\x80":                  "\ufffd\ufffd\ufffd",
		"\xc0\xaf":                      "\ufffd\ufffd",
		"\xf4\x90\x80\x80":              "\ufffd\ufffd\ufffd\ufffd",
		"\xe2\x98\xe2\x98\x83":          "\ufffd☃",
		"\x80":                          "\ufffd",
		"a\xf1\x80\x80\xe1\x80\xc2b":    "a\ufffd\ufffd\ufffdb",
		"a\xf1\x80\x80\xe1\x80\xc2\x80": "a\ufffd\ufffd\u0080",
	} {
		if got := Valid(in); got != want {
			t.Errorf("Valid(%q) = %q, want %q", in, got, want)
		}
	}
}
