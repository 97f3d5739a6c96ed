package synth

import (
	"context"
	"math/rand/v2"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
)

// TestCount compares counts at ends and seams with counts of the whole text, for cuts of any length and position, across chunks and after prefixes.
// Some texts have another count than the tokens that they were cut from.
func TestCount(t *testing.T) {
	tok, err := tokenizer.Open(context.Background(), "builtin", tokenizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := NewO200kCorpus(tok)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(5)
	s := NewSequence(corpus, rng.New(&seed))
	s.AddPool(3, 40)
	draw := rand.New(rand.NewPCG(1, 2))
	repaired, across := 0, 0
	for range 1500 {
		p := prompt{start: int32(draw.IntN(corpus.Size())), tokens: int32(1 + draw.IntN(700)), prefix: int32(draw.IntN(4)) - 1}
		if draw.IntN(8) == 0 { // near the border of two chunks
			p.start = int32((corpus.offsets[1+draw.IntN(len(corpus.offsets)-2)] + corpus.Size() - draw.IntN(30)) % corpus.Size())
			across++
		}
		want := tok.Count(tok.Decode(s.ids(nil, p)))
		if got := s.count(p); got != want {
			t.Fatalf("%+v counts %d, want %d: %q", p, got, want, tok.Decode(s.ids(nil, p)))
		}
		if want != s.length(p) {
			repaired++
		}
	}
	if repaired < 2 || across < 100 {
		t.Errorf("%d cuts count other than their length, %d begin before a border: too few to show anything", repaired, across)
	}
	long := prompt{start: 7, tokens: int32(2*corpus.Size() + 11), prefix: NoPrefix}
	if seams := corpus.appendSeams([]int{0}, 7, int(long.tokens), int(long.tokens)); len(seams) < 2*(len(corpus.offsets)-1) || seams[1] != corpus.offsets[1]-7 {
		t.Errorf("%d seams, the first at %d", len(seams), seams[1])
	}
}
