package jsontext

import (
	"encoding/json"
	"testing"
)

func TestOutOfRange(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":1e400}`: "1e400", `[-1e999]`: "-1e999", `{"a":NaN}`: "NaN", `[1,Infinity]`: "Infinity", `{"a": -Infinity }`: "-Infinity", `nan`: "nan", `[inf]`: "inf",
		`{"a":{"b":[1,2,123456789012345678901234567890]}}`: "123456789012345678901234567890", `-9223372036854775809`: "-9223372036854775809",
		`18446744073709551616`: "18446744073709551616", `{"a\"":"\\","b":1E309}`: "1E309",
		`{"a":1e308,"b":-1.5,"c":18446744073709551615,"d":-9223372036854775808,"e":true,"f":null,"g":[false],"h":"1e400 NaN \" Infinity"}`: "",
		`12345678901234567890123.5`: "", `[]`: "", ``: "", `"open`: "", `"\`: "", `1e-999`: "", `{"NaN":"Infinity"}`: "",
	} {
		if got := OutOfRange([]byte(doc)); got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

// FuzzOutOfRange: what the standard library reads into doubles has no number out of their range.
func FuzzOutOfRange(f *testing.F) {
	for _, seed := range []string{`{"a":1e400}`, `[1,-2.5e3,"x\"1e400",null]`, `{"a":[true,{"b":12345678901234567890}]}`, `[1e-400]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		bad := OutOfRange(doc)
		var v any
		if !json.Valid(doc) {
			return
		}
		if err := json.Unmarshal(doc, &v); (err != nil) && bad == "" {
			t.Errorf("%q: %v, and no number is out of range", doc, err)
		}
		if bad != "" && !json.Valid([]byte(bad)) {
			t.Errorf("%q: %q is no number", doc, bad)
		}
	})
}
