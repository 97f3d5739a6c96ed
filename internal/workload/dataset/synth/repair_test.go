package synth

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
)

// motley is a text whose tokens merge, vanish and change when it is cut anywhere and tokenized again.
const motley = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: rough winds do shake the darling buds of May, " +
	"And summer's lease hath all too short a date; 1609 — naïve “quotes”, 漢字かな, Ελληνικά, emoji 👩‍👩‍👧 and\ttabs\n\n\n  too."

// openReal opens a tokenizer from the tests of the tokenizer package.
func openReal(t *testing.T, name string) *tokenizer.Tokenizer {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("..", "..", "..", "text", "tokenizer", "testdata", name+".json.zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Open(t.Context(), path, tokenizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// corpusOfText is a corpus of one text.
func corpusOfText(tok Tokenizer, text string) *Corpus {
	c, err := corpusOf(tok, []string{text}).tokenize()
	if err != nil {
		panic(err)
	}
	return c
}

// TestEveryLength checks that byte pair, word piece and unigram tokenizers reach every length from a text that suits none of them, with the same text
// for the same seed.
func TestEveryLength(t *testing.T) {
	for _, name := range []string{"gpt2", "bert", "unigram"} {
		tok := openReal(t, name)
		c := corpusOfText(tok, motley)
		texts := func() (list []string, repaired int) {
			seed := uint64(5)
			s := NewSequence(c, rng.New(&seed))
			for n := 1; n < 120; n++ {
				s.Add(n, NoPrefix)
			}
			for i := range 119 {
				list = append(list, s.Text(i))
			}
			if s.Inexact() > 0 {
				t.Errorf("%s: %d texts are said to be inexact", name, s.Inexact())
			}
			return list, len(s.fixed)
		}
		once, repaired := texts()
		again, _ := texts()
		for i, text := range once {
			if n := tok.Count(text); n != i+1 || again[i] != text {
				t.Errorf("%s: %d tokens instead of %d, or %q the second time: %q", name, n, i+1, again[i], text)
			}
		}
		if repaired == 0 {
			t.Errorf("%s: no text had to be repaired: the test is too easy", name)
		}
	}
}

// TestPad checks that the last resort reaches a length from above, from below and from nothing, and ends if no text has the length.
func TestPad(t *testing.T) {
	seed := uint64(1)
	for _, test := range []struct {
		tok  Tokenizer
		text string
		want int
		ok   bool
	}{
		{merging{}, "thththththth", 3, true},
		{merging{}, "th", 9, true},
		{merging{}, "", 5, true},
		{merging{never: true}, "abcdef", 3, false},
	} {
		s := NewSequence(corpusOfText(test.tok, "th"), rng.New(&seed))
		text, ok := s.pad(test.text, test.want)
		if ok != test.ok || ok && test.tok.Count(text) != test.want {
			t.Errorf("%q to %d tokens: %q, %v", test.text, test.want, text, ok)
		}
	}
}
