package charclass

import (
	_ "embed"
	"encoding/binary"
	"sync"
)

// Range is a range of code points, both ends included.
type Range struct{ Lo, Hi rune }

// scripts and sets contain named lists: length and name, number of ranges, then for each range the distance from the previous one's end, and its
// length, as varints.
var (
	//go:embed scripts.bin
	scripts []byte
	//go:embed sets.bin
	derived []byte
)

// Script returns the code points of a script by its long name (Han, Hiragana, …); nil for an unknown name.
func Script(name string) []Range { return find(scripts, name) }

// ScriptNames returns the names of the scripts.
func ScriptNames() (names []string) {
	for b := scripts; len(b) > 0; {
		n := int(b[0])
		names = append(names, string(b[1:1+n]))
		b = b[1+n:]
		count, w := binary.Uvarint(b)
		for b = b[w:]; count > 0; count-- {
			_, w1 := binary.Uvarint(b)
			_, w2 := binary.Uvarint(b[w1:])
			b = b[w1+w2:]
		}
	}
	return names
}

func find(b []byte, name string) []Range {
	for len(b) > 0 {
		n := int(b[0])
		found := string(b[1:1+n]) == name
		b = b[1+n:]
		next := func() int {
			v, w := binary.Uvarint(b)
			b = b[w:]
			return int(v)
		}
		var out []Range
		last := 0
		for range next() {
			lo := last + next()
			last = lo + next()
			if found {
				out = append(out, Range{rune(lo), rune(last)})
			}
		}
		if found {
			return out
		}
	}
	return nil
}

// Table is a set of code points with a fast test.
type Table struct {
	page  [pages]uint16 // page number -> block
	block [][4]uint64   // block 0 is empty
}

// NewTable returns the table of ranges.
func NewTable(ranges []Range) *Table {
	t := &Table{block: make([][4]uint64, 1)}
	for _, r := range ranges {
		for c := r.Lo; c <= r.Hi; c++ {
			p := &t.page[c>>8]
			if *p == 0 {
				t.block = append(t.block, [4]uint64{})
				*p = uint16(len(t.block) - 1)
			}
			t.block[*p][c>>6&3] |= 1 << (c & 63)
		}
	}
	return t
}

// Has reports whether the table contains r.
func (t *Table) Has(r rune) bool {
	return uint32(r) < pages<<8 && t.block[t.page[r>>8]][r>>6&3]>>(r&63)&1 != 0
}

func table(name string) func() *Table {
	return sync.OnceValue(func() *Table { return NewTable(find(derived, name)) })
}

// The sets of single components of the reference library, each in the Unicode version of that component. They are built at their first use.
var (
	Numeric     = table("numeric")     // Digits pre-tokenizer
	Punct       = table("punct")       // Punctuation and BertPreTokenizer
	WordRust    = table("word")        // Whitespace pre-tokenizer, single_word: \w of the second regex engine
	Accents     = table("accents")     // StripAccents
	BertAccents = table("bertaccents") // strip_accents of BertNormalizer
	BertControl = table("bertcontrol") // clean_text of BertNormalizer
	Inert       = table("inert")       // code points that the reference's normal forms do not change although newer Unicode does
)
