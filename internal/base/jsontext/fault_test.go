package jsontext

import (
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

// TestParseFault: only the cause is left of an error of fastjson, however deep it is.
func TestParseFault(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":[1,{"c":"d`:        `missing closing '"'`,
		`{"a":{"b`:                    `missing closing '"'`,
		"\x1d\x00 and much more":      `unexpected char: "\x1d"`,
		`{"a":1}{"a":2}`:              `unexpected tail: "{\"a\":2}"`,
		`{"a":"cannot parse this: "x`: `missing ',' after object value`,
		strings.Repeat("n", 1000):     `unexpected value found: "` + strings.Repeat("n", 75) + "…",
		``:                            `cannot parse empty string`,
	} {
		_, err := fastjson.Parse(text)
		if err == nil {
			t.Fatal(text)
		}
		if got := ParseFault(err).Error(); got != want {
			t.Errorf("%q: %v\n%s, want %s", text, err, got, want)
		}
	}
}
