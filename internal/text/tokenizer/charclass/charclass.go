// Package charclass returns the Unicode class of a code point from the tables of the reference tokenizer library (Unicode 16.0), independent of the
// version of Go. The table was dumped from the reference: see testdata/*.py.
package charclass

import _ "embed"

// Classes is a set of general categories and two derived properties.
type Classes uint32

// The general categories, one bit each, in the order of the table.
const (
	Lu Classes = 1 << iota
	Ll
	Lt
	Lm
	Lo
	Mn
	Mc
	Me
	Nd
	Nl
	No
	Pc
	Pd
	Ps
	Pe
	Pi
	Pf
	Po
	Sm
	Sc
	Sk
	So
	Zs
	Zl
	Zp
	Cc
	Cf
	Cs
	Co
	Cn
	Space // White_Space, what \s matches
	Word  // what \w matches: alphabetic, marks, decimal digits, connectors
)

// Unions of categories.
const (
	L = Lu | Ll | Lt | Lm | Lo
	M = Mn | Mc | Me
	N = Nd | Nl | No
	P = Pc | Pd | Ps | Pe | Pi | Pf | Po
	S = Sm | Sc | Sk | So
	Z = Zs | Zl | Zp
	C = Cc | Cf | Cs | Co | Cn
)

// Names maps the short names of \p{…} to sets.
var Names = map[string]Classes{
	"L": L, "Lu": Lu, "Ll": Ll, "Lt": Lt, "Lm": Lm, "Lo": Lo,
	"M": M, "Mn": Mn, "Mc": Mc, "Me": Me,
	"N": N, "Nd": Nd, "Nl": Nl, "No": No,
	"P": P, "Pc": Pc, "Pd": Pd, "Ps": Ps, "Pe": Pe, "Pi": Pi, "Pf": Pf, "Po": Po,
	"S": S, "Sm": Sm, "Sc": Sc, "Sk": Sk, "So": So,
	"Z": Z, "Zs": Zs, "Zl": Zl, "Zp": Zp,
	"C": C, "Cc": Cc, "Cf": Cf, "Cs": Cs, "Co": Co, "Cn": Cn,
}

// classes holds 0x1100 page numbers, one byte each, then the pages: 256 categories each.
//
//go:embed classes.bin
var classes string

const pages = 0x1100

// sets maps a category of the table to its set. The last three are categories with an additional derived property.
var sets = [64]Classes{
	Lu | Word, Ll | Word, Lt | Word, Lm | Word, Lo | Word, Mn | Word, Mc | Word, Me | Word, Nd | Word, Nl | Word, No,
	Pc | Word, Pd, Ps, Pe, Pi, Pf, Po, Sm, Sc, Sk, So, Zs | Space, Zl | Space, Zp | Space, Cc, Cf, Cs, Co, Cn,
	Cc | Space, No | Word, So | Word,
}

// ASCII holds the sets of the first 128 code points.
var ASCII = func() (a [128]Classes) {
	for i := range a {
		a[i] = Of(rune(i))
	}
	return a
}()

// Of returns the set of one code point. Values outside Unicode count as unassigned.
func Of(r rune) Classes {
	if uint32(r) >= pages<<8 {
		return Cn
	}
	page := uint(classes[uint32(r)>>8])
	return sets[classes[pages+page<<8+uint(r)&255]&63]
}
