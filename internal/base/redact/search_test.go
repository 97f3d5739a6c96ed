package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// slowIn is mayContain the obvious way: every value at every place.
func slowIn(m *matcher, text string) bool {
	for i := range len(text) {
		for _, p := range m.patterns {
			if strings.HasPrefix(text[i:], p.text) {
				return true
			}
		}
		for _, p := range m.values {
			if n, _, _ := spelledLength(text[i:], p.text); n > 0 {
				return true
			}
		}
	}
	return false
}

// slowReplace is matcher.replace the obvious way.
func slowReplace(m *matcher, text string, name bool) string {
	at := func(i int) match {
		for _, p := range m.patterns {
			if strings.HasPrefix(text[i:], p.text) && p.fits(text, i, i+len(p.text), name) {
				return p.match(text, i, i+len(p.text))
			}
		}
		for _, p := range m.values {
			if n, _, _ := spelledLength(text[i:], p.text); n > 0 && p.fits(text, i, i+n, name) {
				return p.match(text, i, i+n)
			}
		}
		return match{}
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); {
		found := at(i)
		if found.to == 0 {
			i++
			continue
		}
		out.WriteString(text[from:max(from, found.from)] + Placeholder)
		i, from = found.to, found.to
	}
	return out.String() + text[from:]
}

// compareSearch compares the search with the obvious one.
func compareSearch(t *testing.T, text string, secrets ...string) {
	t.Helper()
	m := NewSecrets(secrets...).matcher()
	if m == nil {
		return
	}
	if got, want := mayContain(m, text), slowIn(m, text); got != want {
		t.Fatalf("in %q: found %v, want %v of %q", text, got, want, secrets)
	}
	for _, name := range []bool{false, true} {
		if got, want := m.replace(text, name), slowReplace(m, text, name); got != want {
			t.Fatalf("%q without %q:\n got %q\nwant %q", text, secrets, got, want)
		}
	}
}

// TestSearchFindsWhatIsThere: the search finds what a look at every place finds, in texts of pieces of values and escapes.
func TestSearchFindsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = `AB1/%\&;au"`[r.IntN(11)]
		}
		return string(b)
	}
	for range 3000 / testhome.Stride(10) {
		secrets := []string{random(4 + r.IntN(4)), random(8 + r.IntN(8)), "sk-" + random(6)}
		var text strings.Builder
		for range 1 + r.IntN(6) {
			v := secrets[r.IntN(len(secrets))]
			switch r.IntN(7) {
			case 0:
				text.WriteString(v)
			case 1:
				text.WriteString(v[:r.IntN(len(v))])
			case 2:
				text.WriteString(v[r.IntN(len(v)):])
			case 3:
				text.WriteString(base64.StdEncoding.EncodeToString([]byte(random(r.IntN(3)) + v)))
			case 4:
				text.WriteString(random(r.IntN(12)))
			default:
				for _, c := range []byte(v) {
					fmt.Fprintf(&text, []string{"%c", "%c", `\u%04x`, `\\u%04x`, `\%c`, "%%%02x", "&#%d;", `\x%02x`}[r.IntN(8)], c)
				}
			}
		}
		compareSearch(t, text.String(), secrets...)
	}
}

// FuzzSearch compares the search with a look at every place.
func FuzzSearch(f *testing.F) {
	f.Add("sk-abcdef12", "SECRET", `a \u0073k-abcdef12 %53ECRET`)
	f.Add(`a%5cb/c\d`, "&amp;key", `a%5cb\/c\\d &&amp;key`)
	f.Add("12345678", "AAAA", "AAAAA 112345678 3132333435363738")
	f.Fuzz(func(t *testing.T, first, second, text string) {
		if len(first)+len(second) > 60 || len(text) > 300 {
			return // the obvious way takes long
		}
		compareSearch(t, text, first, second)
	})
}

// textWithoutSecrets is 4 KB of words as a model or a server writes them.
func textWithoutSecrets() string {
	return strings.Repeat(`The quick brown fox jumps over the lazy dog; 4,096 bytes of text cost 12.5 ms at /v1/chat. `, 46)[:4096]
}

// fastest is the shortest time of a call, in rounds of some calls.
func fastest(calls int, f func()) time.Duration {
	best := time.Hour
	for range 200 {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, time.Since(start))
	}
	return best / time.Duration(calls)
}

// TestSearchCost: 4 KB without a secret cost a small multiple of one strings.Contains, whatever the forms of the secret.
func TestSearchCost(t *testing.T) {
	text := textWithoutSecrets()
	contains := fastest(50, func() { strings.Contains(text, "~~~~~~~~") })
	for _, secret := range []string{"sk-abcdef1234567890abcdef", "hf_12345", "the fox, the dog", "EMPTY"} {
		s := NewSecrets(secret)
		took := fastest(20, func() { s.Values(text) })
		t.Logf("%q: %v, %.0f times strings.Contains", secret, took, float64(took)/float64(contains))
		if took > 30*contains {
			t.Errorf("%q: %v, which is %.0f times strings.Contains (%v)", secret, took, float64(took)/float64(contains), contains)
		}
		if n := testing.AllocsPerRun(10, func() { s.Values(text) }); n != 0 {
			t.Errorf("%q: %v allocations", secret, n)
		}
	}
}

// TestSearchOfLongRuns: a server that sends nothing but escapes of escapes costs time in proportion to what it sends.
func TestSearchOfLongRuns(t *testing.T) {
	testhome.Slow(t)
	s := NewSecrets("sk-abcdef1234567890abcdef")
	for _, unit := range []string{`\`, `\u005c`, "%25", "25", "&amp;", "amp;", `\%`, `s\`, "&#"} {
		start := time.Now()
		s.Text("%" + strings.Repeat(unit, 200_000/len(unit)))
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("200 KB of %s: %v", unit, took)
		}
	}
}

// BenchmarkSearch looks through 4 KB of ordinary words for one secret, and shows the cost as a multiple of strings.Contains.
func BenchmarkSearch(b *testing.B) {
	text := textWithoutSecrets()
	for name, secret := range map[string]string{"24 bytes": "sk-abcdef1234567890abcdef", "8 bytes": "hf_12345"} {
		s := NewSecrets(secret)
		b.Run(name, func(b *testing.B) {
			contains := fastest(50, func() { strings.Contains(text, "~~~~~~~~") })
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Values(text)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(contains), "x-Contains")
		})
	}
}
