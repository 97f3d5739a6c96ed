// Package addedtokens finds added tokens (special tokens and others with a fixed text) in a text.
package addedtokens

import (
	"sort"
	"strings"
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// Token is one added token.
type Token struct {
	ID         int32
	Content    string
	SingleWord bool // only if its neighbours are not word characters
	LStrip     bool // includes the white space before it
	RStrip     bool // includes the white space after it
	Normalized bool // searched for in the normalised text
	Special    bool // omitted by a decode that skips special tokens
}

// Matcher finds the leftmost token, and the longest one at that place. It is a trie over bytes in flat arrays.
type Matcher struct {
	tokens []Token
	nodes  []node
	edges  []edge
	start  [256]int32 // first byte -> node, 0 = no token starts with it
	only   int        // common first byte of all tokens, -1 if there are several
}

type node struct {
	token      int32 // index into tokens, -1 = no token ends here
	first, end int32 // edges
}

type edge struct {
	b  byte
	to int32
}

// NewMatcher returns a matcher of tokens, nil if there are none. Of two tokens with the same content the later one counts.
func NewMatcher(tokens []Token) *Matcher {
	byText := map[string]int{}
	for i, t := range tokens {
		if t.Content != "" {
			byText[t.Content] = i
		}
	}
	if len(byText) == 0 {
		return nil
	}
	keys := make([]string, 0, len(byText))
	for k := range byText {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	m := &Matcher{only: -1}
	for _, k := range keys {
		m.tokens = append(m.tokens, tokens[byText[k]])
	}
	m.build(keys)
	return m
}

// build builds the trie of sorted keys breadth first, so that the edges of a node are adjacent.
func (m *Matcher) build(keys []string) {
	type job struct{ lo, hi, depth int }
	m.nodes = append(m.nodes, node{token: -1})
	jobs := []job{{0, len(keys), 0}}
	for n := 0; n < len(jobs); n++ {
		j := jobs[n]
		if len(keys[j.lo]) == j.depth {
			m.nodes[n].token = int32(j.lo)
			j.lo++
		}
		m.nodes[n].first = int32(len(m.edges))
		for j.lo < j.hi {
			b, lo := keys[j.lo][j.depth], j.lo
			for j.lo < j.hi && keys[j.lo][j.depth] == b {
				j.lo++
			}
			m.edges = append(m.edges, edge{b, int32(len(m.nodes))})
			m.nodes = append(m.nodes, node{token: -1})
			jobs = append(jobs, job{lo, j.lo, j.depth + 1})
		}
		m.nodes[n].end = int32(len(m.edges))
	}
	root := m.edges[m.nodes[0].first:m.nodes[0].end]
	for _, e := range root {
		m.start[e.b] = e.to
	}
	if len(root) == 1 {
		m.only = int(root[0].b)
	}
}

// at returns the index of the longest token at s[i:] and its length; -1 if there is none.
func (m *Matcher) at(s string, i int) (token, length int) {
	token = -1
	n := m.start[s[i]]
	for j := i + 1; n != 0; j++ {
		if t := m.nodes[n].token; t >= 0 {
			token, length = int(t), j-i
		}
		if j == len(s) {
			break
		}
		n = m.step(n, s[j])
	}
	return token, length
}

// step follows edge b of node n; 0 if there is none.
func (m *Matcher) step(n int32, b byte) int32 {
	e := m.edges[m.nodes[n].first:m.nodes[n].end]
	for len(e) > 8 {
		if h := len(e) / 2; e[h].b <= b {
			e = e[h:]
		} else {
			e = e[:h]
		}
	}
	for _, x := range e {
		if x.b == b {
			return x.to
		}
	}
	return 0
}

// Match is a token found in a text.
type Match struct {
	Token      *Token
	Begin, End int // range of the match in the text, with white space
	Next       int // where the next token may start: as in the reference, included white space may also be a token
}

// Next returns the first token in s[search:]; s[:from] is used already. ok is false if there is none.
func (m *Matcher) Next(s string, from, search int) (x Match, ok bool) {
	if m == nil {
		return Match{}, false
	}
	for i := search; i < len(s); {
		if m.only >= 0 {
			k := strings.IndexByte(s[i:], byte(m.only))
			if k < 0 {
				break
			}
			i += k
		}
		if m.start[s[i]] == 0 {
			i++
			continue
		}
		k, n := m.at(s, i)
		if k < 0 {
			i++
			continue
		}
		x = Match{&m.tokens[k], i, i + n, i + n}
		if x.Token.SingleWord && !alone(s, x.Begin, x.End) {
			i = x.End
			continue
		}
		if x.Token.LStrip {
			x.Begin = from + trimRight(s[from:max(from, x.Begin)])
		}
		if x.Token.RStrip {
			if x.End < from { // within the white space of the previous token
				x.End = from
			}
			x.End += leading(s[x.End:])
		}
		if x.End <= x.Begin { // nothing remains of it
			i = x.Next
			continue
		}
		return x, true
	}
	return Match{}, false
}

// alone reports whether there is no word character next to s[begin:end].
func alone(s string, begin, end int) bool {
	if r, n := utf8.DecodeLastRuneInString(s[:begin]); n > 0 && cc.WordRust().Has(r) {
		return false
	}
	r, n := utf8.DecodeRuneInString(s[end:])
	return n == 0 || !cc.WordRust().Has(r)
}

// trimRight returns the length of s without trailing white space.
func trimRight(s string) int {
	return len(strings.TrimRightFunc(s, isSpace))
}

// leading returns the length of the white space at the start of s.
func leading(s string) int {
	return len(s) - len(strings.TrimLeftFunc(s, isSpace))
}

func isSpace(r rune) bool { return cc.Of(r)&cc.Space != 0 }
