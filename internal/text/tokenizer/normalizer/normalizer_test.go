package normalizer

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"aiperf/internal/text/tokenizer/regex"
)

// TestAgainstTheReference: what normalisers of the reference library made of some texts (../testdata/components.py).
func TestAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Map string
		In, Out   []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	pattern, err := regex.Compile(`[0-9]+|\s{2,}`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Normalizer{
		"NFC": NFC, "NFD": NFD, "NFKC": NFKC, "NFKD": NFKD, "Lowercase": Func(Lowercase), "StripAccents": Func(StripAccents), "Nmt": Func(Nmt),
		"ByteLevel": Func(ByteLevel), "Strip left": Strip{Left: true}, "Strip right": Strip{Right: true}, "Prepend": Prepend("▁"),
		"ReplaceText": ReplaceText{" ", "▁"}, "ReplaceRegex": ReplaceRegex{pattern, "<>"}, "Sequence": Sequence{NFD, Func(StripAccents), Func(Lowercase)},
		"Bert": Bert{true, true, true, true}, "Bert cased": Bert{CleanText: true, ChineseChars: true}, "Bert bare": Bert{StripAccents: true},
	}
	for _, c := range cases {
		n := all[c.Name]
		if c.Name == "Charsmap" {
			raw, err := base64.StdEncoding.DecodeString(c.Map)
			if err != nil {
				t.Fatal(err)
			}
			if n, err = NewCharsmap(raw); err != nil {
				t.Fatal(err)
			}
		}
		if n == nil {
			t.Errorf("%s: recorded, and not tested", c.Name)
			continue
		}
		for i, in := range c.In {
			if got := n.Normalize(nil, in); got != c.Out[i] {
				t.Errorf("%s: %q becomes %q, the reference says %q", c.Name, in, got, c.Out[i])
			}
		}
	}
}

// TestByteAlphabet: every byte has its own character, and only those characters stand for bytes.
func TestByteAlphabet(t *testing.T) {
	for i := range 256 {
		if b, ok := AlphabetByte(Alphabet[i]); !ok || int(b) != i {
			t.Errorf("byte %d: %q is %d %v", i, Alphabet[i], b, ok)
		}
	}
	for _, r := range []rune{-1, ' ', '\n', 0x144, '漢'} {
		if b, ok := AlphabetByte(r); ok {
			t.Errorf("%q stands for byte %d", r, b)
		}
	}
}

// TestBrokenCharsmaps: a map whose sizes contradict each other is refused.
func TestBrokenCharsmaps(t *testing.T) {
	for raw, says := range map[string]string{"abc": "at least 4", "\x03\x00\x00\x00abc": "does not fit", "\x08\x00\x00\x00abcd": "does not fit"} {
		if _, err := NewCharsmap([]byte(raw)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v does not say %q", raw, err, says)
		}
	}
	for _, empty := range []Normalizer{&Charsmap{}, Longest{&Charsmap{}}} {
		if got := empty.Normalize(nil, "①"); got != "①" {
			t.Errorf("a map of nothing makes %q of ①", got)
		}
	}
}

// TestLongestKey: as SentencePiece applies its map, the longest key counts; in a tokenizer.json it is the shortest.
func TestLongestKey(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Name, Map string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(cases[len(cases)-1].Map)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewCharsmap(raw)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{"a①½b": "a11/2b", "e\u0301e": "ée", "ﬁ x": "fi x", "漢": "漢"} {
		if got := (Longest{m}).Normalize(nil, in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}
