package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// indented compares with the standard library.
func indented(t *testing.T, text []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Indent(&want, bytes.TrimSpace(text), "    ", "  "); err != nil {
		t.Fatal(err)
	}
	if got := AppendIndented([]byte("x"), text, "    "); string(got[1:]) != want.String() {
		t.Fatalf("%s is formatted as %s, not %s", text, got[1:], want.Bytes())
	}
}

var someTexts = []string{
	`{}`, `[]`, `{"a":{}}`, `[ ]`, ` { "a" : [ 1 , 2.5e-3 , { } ] , "b" : null } `, `"x"`, `17`, `{"a\\":"\"{[,:]}\\\\","b":"\\\""}`, `[[],[[]],{"a":[[1],"ü"]}]`, "[\n1,\t2\r]",
}

func TestIndentedTextsAreThoseOfTheStandardLibrary(t *testing.T) {
	for _, text := range someTexts {
		indented(t, []byte(text))
	}
}

func FuzzIndent(f *testing.F) {
	for _, text := range someTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if json.Valid(text) {
			indented(t, text)
		}
	})
}

// TestPlainStrings puts every byte at every place of strings of several lengths.
func TestPlainStrings(t *testing.T) {
	for length := 1; length <= 20; length++ {
		for at := range length {
			for c := range 256 {
				s := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("~", length-at-1)
				want := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
				if got := plain(s); got != want {
					t.Fatalf("plain(%q) = %v", s, got)
				}
				if text := string(AppendString(nil, s)); utf8.ValidString(s) && (want != (text == `"`+s+`"`)) {
					t.Fatalf("%q is written as %s", s, text)
				}
			}
		}
	}
}
