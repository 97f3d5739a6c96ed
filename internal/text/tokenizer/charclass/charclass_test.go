package charclass

import (
	"testing"
	"unicode"
)

// The counts that were measured on the reference over all code points.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name string
		set  Classes
		want int
	}{
		{"L", L, 141028}, {"N", N, 1911}, {"M", M, 2501}, {"P", P, 855}, {"S", S, 8514}, {"Lu", Lu, 1858}, {"Ll", Ll, 2258},
		{"Lt", Lt, 31}, {"Lm", Lm, 404}, {"Lo", Lo, 136477}, {"Space", Space, 25}, {"Cs", Cs, 2048}, {"Co", Co, 137468},
	} {
		n := 0
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if Of(r)&c.set != 0 {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s has %d code points, want %d", c.name, n, c.want)
		}
	}
}

// Whatever Go's older tables know as a letter, number or space must be one here too.
func TestContainsGo(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, c := range []struct {
			set Classes
			tab *unicode.RangeTable
		}{{Lu, unicode.Lu}, {Ll, unicode.Ll}, {Nd, unicode.Nd}, {Space, unicode.White_Space}, {M, unicode.M}, {Sc, unicode.Sc}} {
			if unicode.Is(c.tab, r) && Of(r)&c.set == 0 {
				t.Fatalf("U+%04X: set %b, Go has it in a class that is missing here", r, Of(r))
			}
		}
	}
	if Of(-1) != Cn || Of(0x110000) != Cn {
		t.Error("outside Unicode must be unassigned")
	}
}

// TestScripts: the scripts are those of Go's tables, as far as those know the code points, and no code point has two.
func TestScripts(t *testing.T) {
	names := ScriptNames()
	if len(names) < 150 || Script("Klingon") != nil {
		t.Fatalf("%d scripts", len(names))
	}
	taken := map[rune]string{}
	for _, name := range names {
		table := NewTable(Script(name))
		for _, r := range Script(name) {
			for c := r.Lo; c <= r.Hi; c++ {
				if taken[c] != "" {
					t.Fatalf("U+%04X is in %s and in %s", c, taken[c], name)
				}
				if taken[c] = name; !table.Has(c) {
					t.Fatalf("U+%04X is not in the table of %s", c, name)
				}
			}
		}
	}
	other := 0
	for name, table := range unicode.Scripts {
		for _, r := range table.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if got := taken[c]; got != name && got != "" {
					other++
				}
			}
		}
	}
	if other > 150 { // of the two editions of Unicode; the scripts of some signs have changed
		t.Errorf("%d code points have another script than in Go's tables", other)
	}
}

// TestDerivedSets: the sets of single components hold what they are named for.
func TestDerivedSets(t *testing.T) {
	for _, c := range []struct {
		name    string
		table   *Table
		in, out string
	}{
		{"numeric", Numeric(), "09٣½Ⅷ²", "aZ _-一"}, {"punct", Punct(), "!-_«、", "a0 "}, {"word", WordRust(), "aZ_9é漢", "- !"},
		{"accents", Accents(), "\u0301\u0323", "eé"}, {"bertaccents", BertAccents(), "\u0301", "e"}, {"bertcontrol", BertControl(), "\u0001\u200b", "a \n"},
	} {
		for _, r := range c.in {
			if !c.table.Has(r) {
				t.Errorf("%s lacks %q", c.name, r)
			}
		}
		for _, r := range c.out {
			if c.table.Has(r) {
				t.Errorf("%s has %q", c.name, r)
			}
		}
		if c.table.Has(-1) || c.table.Has(0x110000) {
			t.Errorf("%s reaches beyond Unicode", c.name)
		}
	}
	if ASCII['A']&Lu == 0 || ASCII['_']&Word == 0 || ASCII[' ']&Space == 0 || Inert() == nil {
		t.Error("the first 128 code points are in other sets")
	}
}
