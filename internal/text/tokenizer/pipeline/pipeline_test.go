package pipeline

import (
	"encoding/json"
	"os"
	"slices"
	"sync"
	"testing"

	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/model"
	"aiperf/internal/text/tokenizer/normalizer"
	"aiperf/internal/text/tokenizer/pretoken"
)

// vocabulary holds texts by their place; Index makes the texts of ids known.
func vocabulary(texts ...string) *model.Vocab {
	v := model.NewVocab(len(texts), 0)
	for i, s := range texts {
		v.Add([]byte(s), int32(i))
	}
	v.Index()
	return v
}

// TestDecodersAgainstTheReference: what decoders of the reference library made of some tokens (../testdata/components.py).
func TestDecodersAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name string
		In   [][]string
		Out  []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	all := map[string]Step{
		"ByteLevel": ByteLevelStep, "Metaspace": MetaspaceStep("▁", true), "Metaspace never": MetaspaceStep("▁", false), "WordPiece": WordPieceStep("##", true),
		"WordPiece raw": WordPieceStep("##", false), "BPEDecoder": SuffixStep("</w>"), "ByteFallback": ByteFallbackStep, "Fuse": Fuse, "Strip": StripStep(" ", 1, 1),
		"Replace": ReplaceStep(normalizer.ReplaceText{Old: "l", New: "L"}), "CTC": CTCStep("<pad>", "|", true), "CTC raw": CTCStep("<pad>", "|", false),
	}
	for _, c := range cases {
		for i, in := range c.In {
			ids := make([]int32, len(in))
			var texts []string
			for k, s := range in {
				at := slices.Index(texts, s)
				if at < 0 {
					at, texts = len(texts), append(texts, s)
				}
				ids[k] = int32(at)
			}
			d := ChainDecoder{Vocab: vocabulary(texts...), Steps: []Step{all[c.Name]}}
			if got := d.Decode(ids); got != c.Out[i] {
				t.Errorf("%s: %q is decoded to %q, the reference says %q", c.Name, in, got, c.Out[i])
			}
		}
	}
}

// TestKnown: an id is known that the vocabulary or the added tokens have.
func TestKnown(t *testing.T) {
	v, more := vocabulary("a", "bc"), map[int32]string{1: "<x>", 9: "<y>"}
	for _, d := range []Decoder{ChainDecoder{Vocab: v, Added: more, Steps: []Step{Join}}, BytesDecoder{Vocab: v, Added: more}} {
		for id, want := range map[int32]bool{-1: false, 0: true, 1: true, 2: false, 9: true} {
			if d.Known(id) != want {
				t.Errorf("%T: %d is known: %v", d, id, !want)
			}
		}
	}
	p := Pipeline{Decoder: BytesDecoder{Vocab: v, Added: more, Shift: 5}}
	if got := p.Decode([]int32{5, 1, 6, 9, 77}); got != "a<x>bc<y>" {
		t.Errorf("%q", got)
	}
	if got := (ChainDecoder{Vocab: v, Added: more, Steps: []Step{Join}}).Decode([]int32{0, 1, 4, 9}); got != "a <x> <y>" {
		t.Errorf("%q", got)
	}
	raw := ChainDecoder{Vocab: vocabulary("\xc3", "\xbc"), Raw: true, Steps: []Step{ByteLevelStep}}
	if got := raw.Decode([]int32{0, 1}); got != "ü" {
		t.Errorf("bytes of one character are %q", got)
	}
}

// TestEncode: added tokens of the text as given, the normaliser, added tokens of what it made, then the stages and the model, from several
// goroutines.
func TestEncode(t *testing.T) {
	words, err := model.NewWordLevel(vocabulary("[UNK]", "hello", "world", "2", "4"), "[UNK]")
	if err != nil {
		t.Fatal(err)
	}
	p := &Pipeline{
		Raw: addedtokens.NewMatcher([]addedtokens.Token{{ID: 10, Content: "<S>"}}), Normalized: addedtokens.NewMatcher([]addedtokens.Token{{ID: 11, Content: "<low>"}}),
		Normalizer: normalizer.Func(normalizer.Lowercase), Stages: []pretoken.Stage{pretoken.WhitespaceSplit{}, pretoken.Isolated(pretoken.Digits(true))}, Model: words,
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for text, want := range map[string][]int32{
				"":                          nil,
				"Hello WORLD":               {1, 2},
				"<S>HELLO<S> <LOW>world<s>": {10, 1, 10, 11, 0},
				"<S><S>":                    {10, 10},
				"hello24 42":                {1, 3, 4, 4, 3},
				"\xffhello":                 {0},
			} {
				got := idsOf(t, p, nil, text)
				if !slices.Equal(got, want) {
					t.Errorf("%q: ids %v, want %v", text, got, want)
				}
				if more := idsOf(t, p, []int32{7}, text); more[0] != 7 || !slices.Equal(more[1:], want) {
					t.Errorf("%q behind others: %v", text, more)
				}
			}
		})
	}
	all.Wait()
}

// TestCountOfMany: more ids than Count holds are counted, too, also the next time.
func TestCountOfMany(t *testing.T) {
	p := &Pipeline{Raw: &addedtokens.Matcher{}, Normalized: &addedtokens.Matcher{}, Stages: []pretoken.Stage{cuts{}}, Model: single{}}
	text := string(make([]byte, 3*countedIDs+5))
	for range 2 {
		if ids := idsOf(t, p, nil, text); len(ids) != len(text) {
			t.Errorf("%d ids, want %d", len(ids), len(text))
		}
	}
}

// cuts cuts off every byte.
type cuts struct{}

func (cuts) Split(s string, first bool, next pretoken.Sink) {
	for i := range len(s) {
		next.Piece(s[i:i+1], first && i == 0)
	}
}

// single makes an id of every piece.
type single struct{}

func (single) Append(dst []int32, _ string, _ *model.Scratch) []int32 { return append(dst, 1) }

// idsOf are the ids of a text.
func idsOf(t *testing.T, p *Pipeline, dst []int32, text string) []int32 {
	t.Helper()
	ids, err := p.Append(Limits(len(text)), dst, text)
	if n, cerr := p.Count(Limits(len(text)), text); err != nil || cerr != nil || n != len(ids)-len(dst) {
		t.Errorf("%q: %v, %v, %d counted of %d ids", text, err, cerr, n, len(ids)-len(dst))
	}
	return ids
}
