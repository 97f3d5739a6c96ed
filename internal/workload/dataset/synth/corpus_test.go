package synth

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/text/tokenizer"
)

// TestCorpusText checks that the embedded text is the file of the Python tool.
func TestCorpusText(t *testing.T) {
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll([]byte(shakespeare), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "e0e13a826912a4a81bb3a582aa73c4af0675bdeee6ddf6d505efb63d562d496f"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
		t.Errorf("SHA-256 %x, want %s", sum, want)
	}
}

// whole is the corpus tokenized at once, like for tokenizers without a table.
var whole = sync.OnceValues(func() (*Corpus, error) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		return nil, err
	}
	return NewCorpus(tok)
})

// TestCorpusTokens compares all ids of the corpus with those of the Python tool, and checks the table of chunk lengths.
func TestCorpusTokens(t *testing.T) {
	c, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.chunks) != 486 || c.Size() != 1_138_441 {
		t.Fatalf("%d chunks, %d tokens", len(c.chunks), c.Size())
	}
	if !slices.Equal(c.offsets, testCorpus(t).offsets) {
		t.Error("the table of chunk lengths is wrong")
	}
	ids := c.Append(nil, 0, c.Size())
	text := make([]byte, 0, 8*len(ids))
	for i, id := range ids {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	const want = "9f31de687e4eadcc0a239597d00aea27bc314d052455fc65c5d9fe04a2dce10e"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
		t.Errorf("SHA-256 of the ids %x, want %s", sum, want)
	}
}

// TestCorpusGoesRound checks that a slice beyond the end continues at the beginning, as often as needed.
func TestCorpusGoesRound(t *testing.T) {
	c, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	size := c.Size()
	all := c.Append(nil, 0, size)
	for _, test := range []struct{ start, n int }{{0, 1}, {size - 1, 1}, {size - 3, 10}, {0, 0}, {5, size}, {7, 2*size + 11}, {c.offsets[1], 5}, {c.offsets[1] - 1, 5}} {
		got := c.Append(nil, test.start, test.n)
		if len(got) != test.n {
			t.Fatalf("%d ids from %d, want %d", len(got), test.start, test.n)
		}
		for i, id := range got {
			if id != all[(test.start+i)%size] {
				t.Fatalf("id %d from %d differs", i, test.start)
			}
		}
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("x", chunkChars)
	got := splitChunks([]byte("a\n\n  b \n" + long + "\n\t\nc"))
	if len(got) != 2 || got[0] != "a b "+long || got[1] != "c" {
		t.Errorf("%d chunks", len(got))
	}
}

// BenchmarkOpen measures the time before the first prompt with the built-in tokenizer.
func BenchmarkOpen(b *testing.B) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := NewO200kCorpus(tok); err != nil {
			b.Fatal(err)
		}
	}
}
