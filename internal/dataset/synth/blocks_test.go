package synth

import (
	"slices"
	"testing"

	"aiperf/internal/rng"
)

// TestBlocksAreTold: of many ids behind the same blocks no two have the same text, most have the text that their id draws, and equal chains
// have equal text whenever they are asked for.
func TestBlocksAreTold(t *testing.T) {
	corpus := testCorpus(t)
	fresh := func() *Blocks { return NewBlocks(corpus, rng.NewDecimal("7"), "ns", 16, nil) }
	drawn, told := fresh(), fresh()
	const count = 4000
	for _, first := range []int64{1 << 40, -3} { // what they follow does not matter
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

// TestBlocksOfASmallCorpus: more ids than places end in ids that share one, not in a search without end.
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
