package synth

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
)

// TestCodingText checks that the text depends only on the seed, and that prompts cut from it have the requested length.
func TestCodingText(t *testing.T) {
	text := func(seed uint64) []string {
		return codingChunks(rng.New(&seed).Stream("dataset.coding_content.template"))
	}
	first := text(42)
	if !slices.Equal(first, text(42)) || slices.Equal(first, text(43)) {
		t.Error("the text does not follow the seed")
	}
	all := strings.Join(first, "")
	if len(all) < codingBytes || strings.Contains(all, "%!") {
		t.Errorf("%d bytes, or a verb that was not filled", len(all))
	}
	for _, sign := range []string{"func (", "def ", "nn.Embedding", "$ grep", "Traceback", "SELECT", "\"items\": [", "@@ -", "User: "} {
		if !strings.Contains(all, sign) {
			t.Errorf("no passage has %q", sign)
		}
	}
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(42)
	c, err := NewCodingCorpus(tok, rng.New(&seed))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSequence(c, rng.New(&seed))
	for n := 1; n < 400; n += 7 {
		if text := s.Text(s.Add(n, NoPrefix)); tok.Count(text) != n {
			t.Errorf("%d tokens: %d in %q", n, tok.Count(text), text)
		}
	}
}

// TestWindows checks the bounds of both styles with values computed by hand from the formulas of vLLM's and SGLang's benchmarks.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		ratio            string
		style            Style
		isl, osl, added  int
		inLow, inHigh    int
		outLow, outHigh  int
		drawnLow, drawnN int
	}{
		{"0.3", VLLM, 100, 40, 0, 70, 130, 28, 52, 70, 130},
		{"0.9", VLLM, 2, 1, 1, 0, 2, 1, 2, 0, 2},
		{`{"input":0,"output":0.5}`, VLLM, 10, 3, 0, 10, 10, 1, 5, 10, 10},
		{"0.4", SGLang, 60, 20, 2, 24, 60, 8, 20, 22, 58},
		{"0", SGLang, 3, 2, 5, 1, 3, 1, 2, 1, 1},
	} {
		r, err := ParseRatio(c.ratio, c.style)
		if err != nil {
			t.Fatal(err)
		}
		w := r.Window(c.isl, c.osl, c.added)
		if w.Input != [2]int{c.inLow, c.inHigh} || w.Output != [2]int{c.outLow, c.outHigh} {
			t.Errorf("%s %s: %v %v", c.style, c.ratio, w.Input, w.Output)
		}
		seed := uint64(1)
		lengths := newWindowLengths(w, rng.New(&seed))
		for range 500 {
			if isl, osl := lengths.draw(); isl < c.drawnLow || isl > c.drawnN || osl < c.outLow || osl > c.outHigh {
				t.Fatalf("%s %s: drew %d, %d", c.style, c.ratio, isl, osl)
			}
		}
	}
	for text, style := range map[string]Style{"": VLLM, "x": SGLang, "1": VLLM, "-0.1": SGLang, "1.1": SGLang, "null": VLLM, `{"input":0.1}`: VLLM, `{"input":1,"output":0}`: VLLM, "NaN": VLLM} {
		if _, err := ParseRatio(text, style); err == nil {
			t.Errorf("%q in the style of %s is taken", text, style)
		}
	}
}
