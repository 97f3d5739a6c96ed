package normalizer

import (
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// The Unicode normal forms.
var (
	NFC  = Func(func(s string) string { return form(s, norm.NFC) })
	NFD  = Func(func(s string) string { return form(s, norm.NFD) })
	NFKC = Func(func(s string) string { return form(s, norm.NFKC) })
	NFKD = Func(func(s string) string { return form(s, norm.NFKD) })
)

// manyMarks is the length of a run of combining marks from which the library for the common case would split the run. Its stream-safe form allows 30
// marks after decomposition, and one character decomposes to at most three.
const manyMarks = 8

// form converts s to a normal form. It copies inert characters, which the reference's older tables do not change. They have no combining class there,
// so nothing is reordered across them.
func form(s string, f norm.Form) string {
	if ascii(s) {
		return s
	}
	inert := cc.Inert()
	var b *strings.Builder
	from, marks := 0, 0
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			marks = min(marks, 0)
		case inert.Has(r):
			if b == nil {
				b = new(strings.Builder)
				b.Grow(len(s) + 16)
			}
			b.WriteString(stretch(s[from:i], f, marks))
			b.WriteRune(r)
			from, marks = i+utf8.RuneLen(r), 0
		case marks >= 0:
			if cc.Of(r)&cc.M == 0 && r != 0xFF9E && r != 0xFF9F {
				marks = 0
			} else if marks++; marks > manyMarks {
				marks = -1 // found: valid for the rest of the stretch
			}
		}
	}
	if b == nil {
		return stretch(s, f, marks)
	}
	b.WriteString(stretch(s[from:], f, marks))
	return b.String()
}

// stretch normalises text without inert characters; marks < 0 means that it has a long run of marks.
func stretch(s string, f norm.Form, marks int) string {
	if marks >= 0 {
		return f.String(s)
	}
	return literal(s, f)
}

// combiningChar is one character with its canonical combining class.
type combiningChar struct {
	r   rune
	ccc uint8
}

// literal implements the definition of the normal forms step by step, for runs of marks of any length.
func literal(s string, f norm.Form) string {
	split, joined := norm.NFD, f == norm.NFC || f == norm.NFKC
	if f == norm.NFKC || f == norm.NFKD {
		split = norm.NFKD
	}
	var all []combiningChar
	for _, r := range s {
		for _, d := range split.String(string(r)) {
			all = append(all, combiningChar{d, norm.NFD.PropertiesString(string(d)).CCC()})
		}
	}
	for i := 0; i < len(all); { // sort the marks of each run
		j := i
		for j < len(all) && all[j].ccc != 0 {
			j++
		}
		run := all[i:j]
		sort.SliceStable(run, func(a, b int) bool { return run[a].ccc < run[b].ccc })
		i = j + 1
	}
	if joined {
		all = compose(all)
	}
	var b strings.Builder
	for _, x := range all {
		b.WriteRune(x.r)
	}
	return b.String()
}

// compose joins each character with the last starter before it, if a composed character exists and no character between them blocks it.
func compose(all []combiningChar) []combiningChar {
	out := all[:0]
	starter := -1
	for _, x := range all {
		if starter >= 0 {
			last := out[len(out)-1]
			adjacent := len(out)-1 == starter
			if adjacent || last.ccc < x.ccc && last.ccc != 0 {
				if r, ok := pair(out[starter].r, x.r); ok {
					out[starter].r = r
					continue
				}
			}
		}
		if x.ccc == 0 {
			starter = len(out)
		}
		out = append(out, x)
	}
	return out
}

func pair(a, b rune) (rune, bool) {
	joined := norm.NFC.String(string([]rune{a, b}))
	r, n := utf8.DecodeRuneInString(joined)
	return r, n == len(joined)
}
