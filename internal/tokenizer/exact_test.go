package tokenizer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// drawFrom gives slices of a corpus from random starts, going round at its end.
func drawFrom(corpus []int32, seed uint64) func(k int) []int32 {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(k int) []int32 {
		out, at := make([]int32, 0, k), r.IntN(len(corpus))
		for range k {
			out = append(out, corpus[at%len(corpus)])
			at++
		}
		return out
	}
}

const sonnet = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: rough winds do shake the darling buds of May, " +
	"And summer's lease hath all too short a date; 1609 — naïve “quotes”, 漢字かな, Ελληνικά, emoji 👩‍👩‍👧 and\ttabs\n\n\n  too."

func TestExactReachesEveryLength(t *testing.T) {
	for _, name := range realTokenizers {
		tk := openTest(t, name)
		corpus := tk.Append(nil, sonnet)
		for n := range 120 {
			text, ids, ok := tk.Exact(n, drawFrom(corpus, uint64(n)))
			if !ok || len(ids) != n || tk.Count(text) != n {
				t.Errorf("%s: Exact(%d) gave %d tokens (%v): %q", name, n, tk.Count(text), ok, text)
			}
			again, _, _ := tk.Exact(n, drawFrom(corpus, uint64(n)))
			if again != text {
				t.Errorf("%s: Exact(%d) gave two texts for one seed", name, n)
			}
		}
	}
}

func TestFitKeepsWhatFits(t *testing.T) {
	tk := mustBuiltin(t)
	ids := tk.Append(nil, " ever but slenderly known himself")
	text, got, ok := tk.Fit(ids, len(ids), func(int) []int32 { t.Error("nothing is missing"); return nil })
	if !ok || text != " ever but slenderly known himself" || !slices.Equal(got, ids) {
		t.Errorf("Fit = %q %v %v", text, got, ok)
	}
	text, got, ok = tk.Fit(ids, len(ids)+2, func(k int) []int32 { return tk.Append(nil, " one two three")[:k] })
	if !ok || text != " ever but slenderly known himself one two" || len(got) != len(ids)+2 {
		t.Errorf("Fit = %q %v %v", text, got, ok)
	}
}

// An alphabet that cannot be reached: the search ends, and says so.
func TestExactGivesUp(t *testing.T) {
	tk := openTest(t, "bert")
	if _, _, ok := tk.Exact(5, func(k int) []int32 { return nil }); !ok {
		t.Error("padding alone must reach 5 tokens")
	}
}
