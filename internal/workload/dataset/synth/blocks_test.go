package synth

import (
	"slices"
	"testing"

	"aiperf/internal/base/rng"
)

// TestBlocksAreTold checks that no two ids after the same blocks have the same text. Most have the text that their id draws, and equal chains always
// have equal text.
func TestBlocksAreTold(t *testing.T) {
	corpus := testCorpus(t)
	fresh := func() *Blocks { return NewBlocks(corpus, rng.NewDecimal("7"), "ns", 16, nil) }
	drawn, told := fresh(), fresh()
	const count = 4000
	for _, first := range []int64{1 << 40, -3} { // the previous ids do not matter
		text := func(b *Blocks, id int64) string { return b.corpus.tok.Decode(b.Append(nil, []int64{first, id}, 32)) }
		for id := range int64(count) {
			told.Claim([]int64{first, id})
			told.Claim([]int64{first, id, 5})
		}
		seen, same, moved := map[string]int64{}, 0, 0
		for id := range int64(count) {
			at := text(told, id)
			if other, again := seen[at]; again {
				t.Errorf("%d and %d have the same text", id, other)
			}
			seen[at] = id
			if at == text(drawn, id) {
				same++
			} else {
				moved++
			}
		}
		if moved == 0 || moved > count/100 || same+moved != count {
			t.Errorf("%d of %d ids were moved", moved, count)
		}
	}
	if a, b := drawn.Append(nil, []int64{9, 9, 8}, 40), drawn.Append(nil, []int64{9}, 16); !slices.Equal(a[:16], b) || !slices.Equal(a[16:32], b) || len(a) != 40 {
		t.Error("an id has another text elsewhere")
	}
}

// TestBlocksOfASmallCorpus checks that with more ids than positions some ids share one, instead of an endless search.
func TestBlocksOfASmallCorpus(t *testing.T) {
	corpus := corpusOf(testCorpus(t).tok, []string{"one two three"})
	if _, err := corpus.tokenize(); err != nil {
		t.Fatal(err)
	}
	b := NewBlocks(corpus, rng.NewDecimal("7"), "", 4, nil)
	for id := range int64(50) {
		b.Claim([]int64{id})
		if n := len(b.Append(nil, []int64{id}, 4)); n != 4 {
			t.Errorf("%d tokens", n)
		}
	}
}
