package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/text/tokenizer/rankfile"
)

// vector is one line of testdata/ids.jsonl.gz: a text and its ids by tokenizer, recorded from the reference libraries.
type vector struct {
	N             int
	Cat           string
	Text          string
	IDs           map[string][]int32
	DecodeDiffers map[string]string `json:"decode_differs"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	all := testrecording.Lines[vector](t, "testdata/ids.jsonl.gz")
	if len(all) < 190 {
		t.Fatalf("%d vectors", len(all))
	}
	return all
}

// checkVectors compares t's ids and decoded texts with the recorded ones under key.
func checkVectors(tt *testing.T, t *Tokenizer, key string) {
	tt.Helper()
	for _, v := range vectors(tt) {
		want, ok := v.IDs[key]
		if !ok {
			tt.Fatalf("vector %d has no ids of %s", v.N, key)
		}
		if got := t.Append(nil, v.Text); !slices.Equal(got, want) {
			tt.Errorf("%d %s: ids of %.80q\n got %v\nwant %v", v.N, v.Cat, v.Text, got, want)
		}
		if got := t.Count(v.Text); got != len(want) {
			tt.Errorf("%d %s: Count = %d, want %d", v.N, v.Cat, got, len(want))
		}
		text := v.Text
		if d, ok := v.DecodeDiffers[key]; ok {
			text = d
		}
		if got := t.Decode(want); got != text {
			tt.Errorf("%d %s: Decode = %.80q, want %.80q", v.N, v.Cat, got, text)
		}
	}
}

func mustBuiltin(t testing.TB) *Tokenizer {
	t.Helper()
	b, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBuiltinVectors(t *testing.T) { checkVectors(t, mustBuiltin(t), "builtin") }

func TestBuiltinIsThePublishedRankList(t *testing.T) {
	v, err := rankfile.Unpack([]byte(packed))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(rankfile.Format(v))
	if got, want := hex.EncodeToString(sum[:]), encodings()["o200k_base"].sha256; got != want {
		t.Errorf("SHA-256 of the rank list is %s, want %s", got, want)
	}
}

func TestBuiltinFacts(t *testing.T) {
	b := mustBuiltin(t)
	if eos, ok := b.EOS(); !ok || eos != 199999 {
		t.Errorf("EOS = %d %v", eos, ok)
	}
	if _, ok := b.BOS(); ok {
		t.Error("o200k_base has no BOS")
	}
	if b.VocabSize() != 200019 || b.NumSpecialAdded() != 0 || !b.IsSpecial(200018) || b.IsSpecial(5) || b.Name() != "builtin" {
		t.Errorf("size %d, added %d, name %q", b.VocabSize(), b.NumSpecialAdded(), b.Name())
	}
}

func BenchmarkLoadBuiltin(b *testing.B) {
	for b.Loop() {
		v, err := rankfile.Unpack([]byte(packed))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := newRankTokenizer("builtin", v, encodings()["o200k_base"].ranks); err != nil {
			b.Fatal(err)
		}
	}
}
