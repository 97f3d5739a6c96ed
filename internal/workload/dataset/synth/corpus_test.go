package synth

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/text/tokenizer"
)

// TestCorpusText: the chunks are those that command worktext cuts from shakespeare.txt of the Python tool (SHA-256 e0e13a82…). Their own checksum was
// taken from the cut text, before it was stored as tokens.
func TestCorpusText(t *testing.T) {
	w, err := readWorks()
	if err != nil {
		t.Fatal(err)
	}
	const want = "523f17e534bfa54d3a6cca46f95ed37b04832669a8c6e5553427b94146d86f73"
	if sum := sha256.Sum256([]byte(strings.Join(w.texts(), "\n"))); hex.EncodeToString(sum[:]) != want {
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

// TestCorpusTokens compares all ids of the corpus with those of the Python tool: those of the text when it is tokenized, and those that are stored.
func TestCorpusTokens(t *testing.T) {
	c, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.offsets) != 487 || c.Size() != 1_138_441 {
		t.Fatalf("%d chunks, %d tokens", len(c.offsets)-1, c.Size())
	}
	if !slices.Equal(c.offsets, testCorpus(t).offsets) {
		t.Error("the chunks of the stored tokens have other lengths")
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
	if !slices.Equal(ids, testCorpus(t).Append(nil, 0, c.Size())) {
		t.Error("the stored tokens are not those of the text")
	}
}

// TestCorpusGoesRound checks that a slice beyond the end continues at the beginning, as often as needed.
func TestCorpusGoesRound(t *testing.T) {
	c := testCorpus(t)
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

func TestDamagedWorks(t *testing.T) {
	for name, stored := range map[string]string{
		"nothing": "", "huge count": "\xff\xff\xff\xff\x7f", "no chunks": "\x01\x00\x01a\x00", "short words": "\x02\x00\x00\x01\x7fa\x7f",
		"few codes": "\x01\x00\x01a\x01\x02\x00\x00", "many codes": "\x01\x00\x01a\x01\x01\x00\x00\x00\x00",
	} {
		if _, err := parseWorks([]byte(stored)); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	w, err := parseWorks([]byte("\x02\x00\x01\x01\x01ab" + "\x02\x03\x01" + "\x01\x00\x00\x00\x01\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.texts(); !slices.Equal(got, []string{"abaab", "a"}) {
		t.Errorf("%q", got)
	}
}
