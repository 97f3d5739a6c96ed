package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

const sampleKey = "SK-live/4f+9Q=z8w7"

// TestForms: a value is found however a writer encodes it.
func TestForms(t *testing.T) {
	s := NewSecrets(sampleKey)
	unicode := func(format string) string {
		var b strings.Builder
		for _, c := range []byte(sampleKey) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	forms := map[string]string{
		"first as JSON escape": `\u0053K-live/4f+9Q=z8w7`, "all as JSON escapes": unicode(`\u%04x`), "capital": unicode(`\u%04X`),
		"twice escaped": unicode(`\\u%04x`), "four times": unicode(`\\\\u%04x`), "bytes": unicode(`\x%02x`), "octal": unicode(`\%03o`),
		"braces": unicode(`\u{%x}`), "Python": unicode(`\U%08x`), "solidus": `SK-live\/4f+9Q=z8w7`, "solidus twice": `SK-live\\\/4f+9Q=z8w7`,
		"Markdown": `SK\-live/4f\+9Q\=z8w7`, "all percent": unicode("%%%02X"), "small percent": unicode("%%%02x"), "percent twice": unicode("%%25%02X"),
		"query": url.QueryEscape(sampleKey), "query twice": url.QueryEscape(url.QueryEscape(sampleKey)), "decimal entities": unicode("&#%d;"),
		"hexadecimal entities": unicode("&#x%x;"), "mix": `\u0053K%2dlive\/4f&#43;9Q\x3dz8w7`, "hex": hex.EncodeToString([]byte(sampleKey)),
		"hex capital": strings.ToUpper(hex.EncodeToString([]byte(sampleKey))), "JSON percent": `S%4b-live\/4f+9Q=z8w7`,
	}
	for name, form := range forms {
		for _, in := range []string{form, "a " + form + " b", `{"x":"` + form + `"}`} {
			want := strings.ReplaceAll(in, form, Placeholder)
			if got := s.Values(in); got != want {
				t.Errorf("%s: %q becomes %q", name, in, got)
			}
		}
		quoted, err := json.Marshal(map[string]string{"a": "x " + form})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.JSON(quoted)); got != `{"a":"x <redacted>"}` {
			t.Errorf("%s: JSON %s becomes %s", name, quoted, got)
		}
	}
	for in, want := range map[string]string{
		`{"a":"\u0053K-live\/4f+9Q=z8w7"}`: `{"a":"<redacted>"}`, `{"a":"\u0053K-live\/4f+9Q=z8w8\n"}`: `{"a":"\u0053K-live\/4f+9Q=z8w8\n"}`,
	} {
		if got := string(s.JSON([]byte(in))); got != want {
			t.Errorf("%s becomes %s", in, got)
		}
	}
}

// TestBase64: a value is found in Base64 of any text that holds it; what is left decides none of its bytes.
func TestBase64(t *testing.T) {
	for _, key := range []string{sampleKey, "0123456789abcdef0123456789abcdef01234567", "8 bytes?", "ÿþ~~~???>>>", "nine bytes"} {
		s := NewSecrets(key)
		for before := range 7 {
			for after := range 4 {
				for name, alphabet := range map[string]*base64.Encoding{"standard": base64.StdEncoding, "URL": base64.URLEncoding, "raw": base64.RawStdEncoding, "raw URL": base64.RawURLEncoding} {
					text := alphabet.EncodeToString([]byte(strings.Repeat("p", before) + key + strings.Repeat("s", after)))
					for _, in := range []string{text, strings.ReplaceAll(text, "/", `\/`), url.QueryEscape(text)} {
						got := s.Values("Basic " + in + " x")
						left := strings.TrimRight(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(got, "Basic "), " x"), Placeholder, ""), "=%3D")
						if !strings.Contains(got, Placeholder) || len(left) > (before*8+5)/6+(after*8+5)/6 {
							t.Errorf("%q, %s, %d before, %d behind: %q becomes %q", key, name, before, after, in, got)
						}
					}
				}
			}
		}
	}
}

// TestCutForms: a value that the end of a text cuts is not shown.
func TestCutForms(t *testing.T) {
	s := NewSecrets(sampleKey)
	for _, form := range []string{sampleKey, `\u0053K-live\/4f+9Q=z8w7`, base64.StdEncoding.EncodeToString([]byte("api:" + sampleKey))} {
		for n := 16; n < len(form); n++ {
			for _, end := range []string{"", "…"} {
				if got := s.Text("answer: " + form[:n] + end); strings.Contains(got, form[7:13]) || !strings.Contains(got, Placeholder) {
					t.Errorf("%q becomes %q", form[:n]+end, got)
				}
			}
		}
	}
	for text, want := range map[string]int{`a \u0053K-l`: 9, `a \u00`: 4, `a \`: 1, "a %5": 2, "100 % of": 0, `a\nb`: 0, "a &am": 3, "a & b": 0} {
		if got := s.PartialLength(text); got != want {
			t.Errorf("Begun(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestRandomSpellings: any mix of the escapes of a random value is found, and text around it stays.
func TestRandomSpellings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		key := make([]byte, 8+r.IntN(20))
		for i := range key {
			key[i] = "ABCabc0129-_./+="[r.IntN(16)]
		}
		var form strings.Builder
		for _, c := range key {
			slash := strings.Repeat(`\`, 1<<r.IntN(3))
			form.WriteString([]string{string(c), string(c), fmt.Sprintf(`%su%04x`, slash, c), fmt.Sprintf("%%%02x", c), fmt.Sprintf("&#%d;", c), html.EscapeString(string(c))}[r.IntN(6)])
		}
		if strings.Trim(string(key), "0123456789") == "" {
			continue
		}
		in := "x\n" + form.String() + ", y & 5 % of \\d \\u12"
		if got, want := NewSecrets(string(key)).Values(in), "x\n<redacted>, y & 5 % of \\d \\u12"; got != want {
			t.Fatalf("%q in %q becomes %q", key, in, got)
		}
	}
}

// TestSentences: a key in a sentence gives no value; the words around a value stay.
func TestSentences(t *testing.T) {
	for in, want := range map[string]string{
		`"Authorization" has no ":"`:                          `"Authorization" has no ":"`,
		"Authorization header is missing":                     "Authorization header is missing",
		"Authorization token is missing":                      "Authorization token is missing",
		"api_key: the environment has no variable X":          "api_key: the environment has no variable X",
		"token: expected a string":                            "token: expected a string",
		"authorization: this needs a value":                   "authorization: this needs a value",
		"Authorization Bearer sk-1234":                        "Authorization Bearer <redacted>",
		"Authorization: Bearer abc":                           "Authorization: Bearer <redacted>",
		"api_key: hunter2 is wrong":                           "api_key: <redacted> is wrong",
		"password=correct horse":                              "password=<redacted> horse",
		`"password": "correct horse"`:                         `"password": "<redacted> horse"`,
		"token: abc":                                          "token: <redacted>",
		"Authorization: abcdef":                               "Authorization: <redacted>",
		"--header X: \"Authorization\" has no \":\", as in a": "--header X: \"Authorization\" has no \":\", as in a",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzUnits: no text makes the reader of escapes fail or hang.
func FuzzUnits(f *testing.F) {
	for _, text := range []string{`\u0053`, `\ud83d\ude00`, "%2553", "&#x53;", `\\`, `\u{110000}`, "&bogus;", "%", `\777`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i := range len(text) {
			if u := readUnit(text[i:]); u.length < 1 || u.length > len(text)-i || u.size > len(u.char) {
				t.Errorf("%q: %+v", text[i:], u)
			}
		}
		NewSecrets(sampleKey).Text(text)
	})
}

// BenchmarkSecretsEscapes looks through a line of 4 KB with escapes and without a secret.
func BenchmarkSecretsEscapes(b *testing.B) {
	line := []byte(`{"text":"` + strings.Repeat(`the quick \"brown\"\nfox &`, 170) + `"}`)
	for _, n := range []int{1, 100} {
		s := NewSecrets()
		for i := range n {
			s.Add(fmt.Sprintf("sk-%08d-abcdef", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				s.JSON(line)
			}
		})
	}
}
