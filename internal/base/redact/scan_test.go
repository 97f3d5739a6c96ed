package redact

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rules are the four rules of Text as regular expressions, a slow second implementation of the scanner.
var rules = func() (r struct{ auth, pair, url, query *regexp.Regexp }) {
	keys := strings.Join(slices.Concat(textKeys, headerNames()), "|")
	r.auth = regexp.MustCompile(`(?i)(\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|digest|token|negotiate)\s+)?)[^\s"',;<>]+`)
	r.pair = regexp.MustCompile(`(?i)((?:^|[^a-z0-9_-])["']?(?:` + keys + `)["']?\s*[:=]\s*["']?)[^\s"',;&<>]+`)
	r.url = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	r.query = regexp.MustCompile(`(?i)([?&;](?:` + strings.Join(slices.Sorted(maps.Keys(secretQuery)), "|") + `)=)[^\s"',;&<>]+`)
	return r
}()

func slowText(s string) string {
	s = rules.auth.ReplaceAllString(s, "${1}"+Placeholder)
	s = rules.pair.ReplaceAllString(s, "${1}"+Placeholder)
	s = rules.url.ReplaceAllStringFunc(s, URL)
	s = rules.query.ReplaceAllString(s, "${1}"+Placeholder)
	return strings.ReplaceAll(s, Placeholder+Placeholder, Placeholder) // what both a pair and a URL hide
}

// TestScannerFollowsTheRules compares the scanner with the regular expressions on texts put together from what they look for.
func TestScannerFollowsTheRules(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	value := func() string { return pick("S3CR3T", "a.b/c+d==", "7", "é\x00x", "{x}", "http://u:p@h/", "") }
	mark := func() string { return pick(":", "=", ": ", " = ", `": "`, `':'`, "\t:\n") }
	for range 20000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			switch r.IntN(5) {
			case 0:
				b.WriteString(pick("Authorization", "proxy-AUTHORIZATION", "x-authorization") + mark() + pick("", "Bearer ", "basic  ") + "V" + value())
			case 1:
				b.WriteString(pick("api_key", "API_KEY", "X-Api-Key", "token", "max_tokens", "my-secret", "cookie", `"password`) + mark() + "V" + value())
			case 2:
				b.WriteString(pick("http://u:p@h/", "see HTTPS://h:1/x?token=S&a=b#f", "h?sig=1", "/v1/x?a=1&KEY=ab&sig='", "1://x", "://", "s3://k?KEY=1&x-api-key=2"))
			default:
				b.WriteString(pick("This model's", "maximum token", "5", "a:b", "x=y", "é", "\"quoted\""))
			}
			b.WriteString(pick(" ", ", ", "; ", "\n", `", "`))
		}
		in := b.String()
		if got, want := Text(in), slowText(in); got != want {
			t.Fatalf("Text(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestTextTwice: a redacted text is not redacted again.
func TestTextTwice(t *testing.T) {
	for _, in := range []string{"Authorization: Bearer abc", "api_key=abc", "http://u:p@h/?token=S", `{"authorization":"Basic abc"}`} {
		once := Text(in)
		if again := Text(once); again != once || !strings.Contains(once, Placeholder) {
			t.Errorf("%q, then %q", once, again)
		}
	}
}

// TestTextOfOrdinaryWordsAllocatesNothing: a text without credentials is given back as it is.
func TestTextOfOrdinaryWordsAllocatesNothing(t *testing.T) {
	body := strings.Repeat(`{"error":{"message":"max_tokens: 5 is too many, see the token limit"}} `, 60)
	if n := testing.AllocsPerRun(10, func() { Text(body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkText looks through 4 KB of an error body, as a fraction of what the regular expressions took.
func BenchmarkText(b *testing.B) {
	body := strings.Repeat(`{"error":{"message":"token: abc, see http://h/p?key=1"}} `, 72)[:4096]
	b.Run("scanner", func(b *testing.B) {
		b.SetBytes(4096)
		for b.Loop() {
			Text(body)
		}
	})
	b.Run("expressions", func(b *testing.B) {
		b.SetBytes(4096)
		for b.Loop() {
			slowText(body)
		}
	})
}
