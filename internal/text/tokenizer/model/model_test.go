package model

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trained is a small model that the reference library was trained to, and how it cuts some pieces.
type trained struct {
	Name   string
	Vocab  json.RawMessage
	Merges [][2]string
	In     []string
	Out    [][]int32
}

// encoder is what the models have in common.
type encoder interface {
	Append(dst []int32, piece string, s *Scratch) []int32
}

// ids reads a vocabulary of texts and ids.
func (c *trained) ids(t *testing.T) *Vocab {
	t.Helper()
	var texts map[string]int32
	if err := json.Unmarshal(c.Vocab, &texts); err != nil {
		t.Fatal(err)
	}
	v := NewVocab(len(texts), 0)
	for text, id := range texts {
		v.Add([]byte(text), id)
	}
	v.Index()
	return v
}

// bpe builds a byte-pair model with its rules.
func (c *trained) bpe(t *testing.T, o BPEConfig) encoder {
	t.Helper()
	o.Vocab, o.Unk, o.Merges = c.ids(t), "<unk>", len(c.Merges)
	m, err := NewBPE(o)
	if err != nil {
		t.Fatal(err)
	}
	rules := NewRules(m)
	for rank, r := range c.Merges {
		rules.Add([]byte(r[0]), []byte(r[1]), rank)
	}
	if err := rules.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// build makes the model of a case.
func (c *trained) build(t *testing.T) encoder {
	t.Helper()
	var m encoder
	var err error
	switch c.Name {
	case "BPE":
		return c.bpe(t, BPEConfig{FuseUnk: true})
	case "BPE unfused":
		return c.bpe(t, BPEConfig{})
	case "BPE parts":
		return c.bpe(t, BPEConfig{Prefix: "##", Suffix: "</w>"})
	case "BPE fallback":
		return c.bpe(t, BPEConfig{ByteFallback: true})
	case "WordPiece":
		m, err = NewWordPiece(c.ids(t), "[UNK]", "##", 20)
	case "WordLevel":
		m, err = NewWordLevel(c.ids(t), "[UNK]")
	case "Unigram":
		var pairs [][2]any
		if err := json.Unmarshal(c.Vocab, &pairs); err != nil {
			t.Fatal(err)
		}
		var o UnigramConfig
		for _, p := range pairs {
			o.Texts, o.Scores = append(o.Texts, p[0].(string)), append(o.Scores, p[1].(float64))
		}
		m, err = NewUnigram(o)
	}
	if err != nil || m == nil {
		t.Fatalf("%s: recorded, and not tested: %v", c.Name, err)
	}
	return m
}

// TestAgainstTheReference: how models of the reference library cut some pieces (../testdata/components.py). Every piece is cut twice: the
// second time it is remembered.
func TestAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []trained
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m, s := c.build(t), new(Scratch)
		for i, in := range c.In {
			if in == "" {
				continue // no piece is empty
			}
			for _, when := range []string{"", " again"} {
				if got := m.Append([]int32{-7}, in, s); got[0] != -7 || !slices.Equal(got[1:], c.Out[i]) {
					t.Errorf("%s%s: %q is %v, the reference says %v", c.Name, when, in, got[1:], c.Out[i])
				}
			}
			s.Trim()
		}
	}
}

// vocabulary holds texts by their place.
func vocabulary(texts ...string) *Vocab {
	v := NewVocab(len(texts), 0)
	for i, s := range texts {
		v.Add([]byte(s), int32(i))
	}
	v.Index()
	return v
}

// TestRanks: as in a list of ranks, the pair of the lowest rank is merged first; a whole piece that is a token is taken as it is.
func TestRanks(t *testing.T) {
	var texts []string
	for i := range 256 {
		texts = append(texts, string([]byte{byte(i)}))
	}
	texts = append(texts, "ab", "bc", "abc", "cd", "abcd x")
	m, err := NewRanks(vocabulary(texts...), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for piece, want := range map[string][]int32{
		"": {}, "a": {1097}, "ab": {1256}, "ba": {1098, 1097}, "abc": {1258}, "abcd": {1258, 1100}, "bcd": {1257, 1100}, "abcd x": {1260},
		"xcdab": {1120, 1259, 1256}, "\xff\xfe": {1255, 1254},
	} {
		for range 2 {
			if got := m.Append([]int32{}, piece, new(Scratch)); !slices.Equal(got, want) {
				t.Errorf("%q is %v, want %v", piece, got, want)
			}
		}
	}
	if _, err := NewRanks(vocabulary("a"), 0); err == nil || !strings.Contains(err.Error(), "no token for the byte 0x00") {
		t.Error(err)
	}
}

// TestScored: as in SentencePiece, the pair with the highest score is merged first; a text without a match becomes the unknown token or its bytes.
func TestScored(t *testing.T) {
	texts := []string{"<unk>", "a", "b", "c", "ab", "bc", "abc", "<0xC3>", "<0xBC>", "x"}
	scores := []float32{0, -9, -9, -9, -2, -1, -3, 0, 0, -5}
	match := []bool{false, true, true, true, true, true, true, false, false, false}
	for _, fallback := range []bool{false, true} {
		m, err := NewScored(ScoredConfig{Vocab: vocabulary(texts...), Scores: scores, Match: match, ByteFallback: fallback})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]int32{"abc": {6}, "ab": {4}, "bca": {5, 1}, "aabc": {1, 6}, "üü": {0}, "aüb": {1, 0, 2}, "x": {0}}
		if fallback {
			want["üü"], want["aüb"] = []int32{7, 8, 7, 8}, []int32{1, 7, 8, 2}
		}
		for piece, ids := range want {
			for range 2 {
				if got := m.Append(nil, piece, new(Scratch)); !slices.Equal(got, ids) {
					t.Errorf("fallback %v: %q is %v, want %v", fallback, piece, got, ids)
				}
			}
		}
	}
	if _, err := NewScored(ScoredConfig{Vocab: vocabulary("a"), Scores: []float32{0}, Match: []bool{true}, Unk: 1}); err == nil || !strings.Contains(err.Error(), "unk_id 1") {
		t.Error(err)
	}
}

// TestModelsRefuse: a model whose parts contradict each other is refused by name.
func TestModelsRefuse(t *testing.T) {
	_, bpe := NewBPE(BPEConfig{Vocab: vocabulary("a"), Unk: "<unk>"})
	_, piece := NewWordPiece(vocabulary("a"), "[UNK]", "##", 9)
	_, level := NewWordLevel(vocabulary("a"), "[UNK]")
	_, unigram := NewUnigram(UnigramConfig{Texts: []string{"a"}, Scores: []float64{0}, Unk: None})
	m, err := NewBPE(BPEConfig{Vocab: vocabulary("a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	rules := NewRules(m)
	rules.Add([]byte("a"), []byte("b"), 0)
	for err, says := range map[error]string{
		bpe: `unk_token "<unk>"`, piece: `unk_token "[UNK]"`, level: `unk_token "[UNK]"`, unigram: "unk_id -1", rules.Close(): `merges[0] ("a" "b"): the token "ab"`,
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %s", err, says)
		}
	}
}

// TestForeign: a text of another alphabet does not stand for the bytes of one that looks the same.
func TestForeign(t *testing.T) {
	v := NewVocab(3, 0)
	v.Add([]byte("a"), 0)
	v.AddForeign([]byte("a"), 5)
	v.AddForeign([]byte("b"), 6)
	v.Index()
	if v.ID("a") != 0 || v.Foreign("a") != 5 || v.ID("b") != None || v.Foreign("b") != 6 || !v.IsForeign(5) || v.IsForeign(0) || v.MaxID() != 6 || v.Len() != 3 || v.Longest() != 1 {
		t.Errorf("%d %d %d %d, largest %d", v.ID("a"), v.Foreign("a"), v.ID("b"), v.Foreign("b"), v.MaxID())
	}
}

// TestNewRanked: a vocabulary made at once finds the same ids as one to which the texts were added, for few texts and for many.
func TestNewRanked(t *testing.T) {
	for _, n := range []int{0, 1, 7, 300, 70_000} {
		var blob []byte
		var ends []uint32
		want := NewVocab(n, 0)
		for i := range n {
			text := strconv.AppendInt([]byte("t"), int64(i)*7919, 36)
			blob = append(blob, text...)
			ends = append(ends, uint32(len(blob)))
			want.Add(text, int32(i))
		}
		got := NewRanked(blob, ends)
		if got.Len() != n || got.MaxID() != want.MaxID() || got.Longest() != want.Longest() {
			t.Fatalf("%d texts: %d entries, highest id %d, longest %d", n, got.Len(), got.MaxID(), got.Longest())
		}
		for i := range n {
			text, id := want.Entry(i)
			if other, same := got.Entry(i); id != same || string(other) != string(text) || got.ID(string(text)) != id {
				t.Fatalf("%d texts: %q has the ids %d and %d", n, text, got.ID(string(text)), same)
			}
		}
		if id := got.ID("none of them"); id != None {
			t.Errorf("%d texts: an unknown text has the id %d", n, id)
		}
	}
}
