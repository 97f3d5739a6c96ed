package mockserver

import (
	"math/rand/v2"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer"
)

func TestEveryWordIsOneTokenForEver(t *testing.T) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if len(words) < 200 {
		t.Fatalf("%d words", len(words))
	}
	for _, w := range words {
		if n := tok.Count(w); n != 1 {
			t.Errorf("%q is %d tokens", w, n)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 400; n += 13 {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))])
		}
		if got := tok.Count(b.String()); got != n {
			t.Errorf("%d words are %d tokens: %q", n, got, b.String())
		}
	}
}
