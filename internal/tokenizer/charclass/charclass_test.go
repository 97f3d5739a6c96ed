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
