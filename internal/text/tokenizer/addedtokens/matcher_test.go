package addedtokens

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestAgainstTheReference: which tokens the reference library finds in some texts, and what lies between them (../testdata/components.py).
func TestAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Tokens []struct {
			Content    string
			LStrip     bool
			RStrip     bool
			SingleWord bool `json:"single_word"`
		}
		In  []string
		Out [][][2]any // id and text of every piece; id 0 is what lies between
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var tokens []Token
		for i, o := range c.Tokens {
			tokens = append(tokens, Token{ID: int32(i + 1), Content: o.Content, LStrip: o.LStrip, RStrip: o.RStrip, SingleWord: o.SingleWord})
		}
		m := NewMatcher(tokens)
		for i, in := range c.In {
			var got, want []string
			for _, piece := range c.Out[i] {
				want = append(want, fmt.Sprintf("%v %q", piece[0], piece[1]))
			}
			from, search := 0, 0
			for {
				x, ok := m.Next(in, from, search)
				if !ok {
					break
				}
				if x.Begin > from {
					got = append(got, fmt.Sprintf("0 %q", in[from:x.Begin]))
				}
				got = append(got, fmt.Sprintf("%d %q", x.Token.ID, in[x.Begin:x.End]))
				from, search = x.End, x.Next
			}
			if from < len(in) {
				got = append(got, fmt.Sprintf("0 %q", in[from:]))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q is\n%s, the reference says\n%s", in, strings.Join(got, ", "), strings.Join(want, ", "))
			}
		}
	}
}

// TestMatcherAgainstPlainSearch: the trie finds what a plain search for the leftmost, there longest token finds, with many tokens as with one.
func TestMatcherAgainstPlainSearch(t *testing.T) {
	const text = "xabcabdabcdexyzzyabxababcd"
	for _, list := range [][]string{{"ab"}, {"ab", "abc", "abcd", "b", "zz"}, {"a", "b", "c", "d", "e", "f", "g", "h", "x", "xy", "xyz", "yz", "z", "zy", "dab", "de"}} {
		var tokens []Token
		for i, s := range append([]string{"", list[0]}, list...) {
			tokens = append(tokens, Token{ID: int32(i), Content: s})
		}
		m := NewMatcher(tokens)
		for from := 0; from <= len(text); from++ {
			at, longest := -1, ""
			for i := from; i < len(text) && at < 0; i++ {
				for _, s := range list {
					if strings.HasPrefix(text[i:], s) && len(s) > len(longest) {
						at, longest = i, s
					}
				}
			}
			x, ok := m.Next(text, from, from)
			if ok != (at >= 0) || ok && (x.Begin != at || x.Token.Content != longest || x.End != at+len(longest)) {
				t.Fatalf("%v from %d: %+v %v, want %q at %d", list, from, x, ok, longest, at)
			}
			if ok && longest == list[0] && x.Token.ID != 2 {
				t.Errorf("of two tokens %q the first counts", longest)
			}
		}
	}
	if m := NewMatcher([]Token{{}}); m != nil {
		t.Error("a token without text can be found")
	}
	if _, ok := (*Matcher)(nil).Next("a", 0, 0); ok {
		t.Error("no token was found")
	}
}
