package normalizer

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"aiperf/internal/base/budget"
)

// Charsmap is the character map in SentencePiece models: a double-array trie from byte sequences to offsets in a list of zero-terminated
// replacements.
type Charsmap struct {
	units []uint32
	texts string
}

// NewCharsmap reads a precompiled map: the trie's length in bytes, the trie, the replacements.
func NewCharsmap(raw []byte) (*Charsmap, error) {
	if len(raw) == 0 {
		return &Charsmap{}, nil
	}
	if len(raw) < 4 {
		return nil, fmt.Errorf("precompiled_charsmap has %d bytes; at least 4 are needed", len(raw))
	}
	n := binary.LittleEndian.Uint32(raw)
	if n%4 != 0 || uint64(n) > uint64(len(raw)-4) {
		return nil, fmt.Errorf("precompiled_charsmap: its trie of %d bytes does not fit into the %d bytes after its length", n, len(raw)-4)
	}
	m := &Charsmap{units: make([]uint32, n/4), texts: string(raw[4+n:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	return m, nil
}

// match finds a key at the start of s: the shortest one, or the longest if longest is set. It returns the key's replacement and length, 0 if there is
// none.
func (m *Charsmap) match(s string, longest bool) (text string, length int) {
	if len(m.units) == 0 {
		return "", 0
	}
	pos := offset(m.units[0])
	for i := range len(s) {
		c := uint32(s[i])
		pos ^= c
		if c == 0 || pos >= uint32(len(m.units)) {
			break
		}
		u := m.units[pos]
		if u&0x800000FF != c {
			break
		}
		pos ^= offset(u)
		if u>>8&1 == 0 || pos >= uint32(len(m.units)) {
			continue
		}
		at := m.units[pos] & 0x7FFFFFFF
		if at > uint32(len(m.texts)) {
			break
		}
		text, length = m.texts[at:], i+1
		if !longest {
			break
		}
	}
	if length > 0 {
		text, _, _ = strings.Cut(text, "\x00")
	}
	return text, length
}

func offset(u uint32) uint32 { return u >> 10 << ((u & 0x200) >> 6) }

// cluster is the length in bytes below which a whole grapheme cluster is looked up.
const cluster = 6

// Normalize implements Normalizer as the tokenizer.json pipeline does. It looks up a short grapheme cluster as a whole, and the replacement of the
// shortest key at its start replaces all of it. Otherwise it looks up the characters one by one.
func (m *Charsmap) Normalize(_ *budget.Budget, s string) string {
	var b strings.Builder
	b.Grow(len(s))
	state := -1
	for len(s) > 0 {
		if len(s) > 1 && plain(s[0]) && plain(s[1]) { // an ASCII character followed by another one is a cluster
			m.one(&b, s[:1])
			s, state = s[1:], -1
			continue
		}
		var g string
		g, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		if len(g) < cluster {
			if text, n := m.match(g, false); n > 0 {
				b.WriteString(text)
				continue
			}
		}
		for i := 0; i < len(g); {
			_, n := utf8.DecodeRuneInString(g[i:])
			m.one(&b, g[i:i+n])
			i += n
		}
	}
	return b.String()
}

func plain(c byte) bool { return c >= ' ' && c < 0x7F }

func (m *Charsmap) one(b *strings.Builder, c string) {
	if text, n := m.match(c, false); n > 0 {
		c = text
	}
	b.WriteString(c)
}

// Longest applies the character map as the SentencePiece library does: it replaces the longest key at each position, and copies a character without a
// key.
type Longest struct{ *Charsmap }

// Normalize implements Normalizer.
func (m Longest) Normalize(_ *budget.Budget, s string) string {
	if len(m.units) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		text, n := m.match(s, true)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			text = s[:n]
		}
		b.WriteString(text)
		s = s[n:]
	}
	return b.String()
}
