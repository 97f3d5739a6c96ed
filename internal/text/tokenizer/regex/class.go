package regex

import (
	"unicode"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// class is a set of characters: a union of categories, ranges and other classes, intersected with all of and, then negated if neg is set.
type class struct {
	cats   cc.Classes
	ranges []cc.Range
	subs   []*class
	and    []*class
	neg    bool

	ascii [2]uint64 // the first 128 characters, filled by seal
}

// slow tests membership without the table.
func (c *class) slow(r rune) bool { return c.inner(r) != c.neg }

func (c *class) inner(r rune) bool {
	in := c.cats != 0 && cc.Of(r)&c.cats != 0
	for i := 0; !in && i < len(c.ranges); i++ {
		in = c.ranges[i].Lo <= r && r <= c.ranges[i].Hi
	}
	for i := 0; !in && i < len(c.subs); i++ {
		in = c.subs[i].slow(r)
	}
	for i := 0; in && i < len(c.and); i++ {
		in = c.and[i].slow(r)
	}
	return in
}

// seal fills the table of the first 128 characters and returns c.
func (c *class) seal() *class {
	c.ascii = [2]uint64{}
	for r := range rune(128) {
		if c.slow(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return c
}

// fold adds the other cases of all characters in c: those connected by simple folding.
func (c *class) fold() *class {
	if c.cats|c.foldable() == 0 {
		return c
	}
	plain := *c
	plain.neg = false
	out := &class{subs: []*class{&plain}, neg: c.neg}
	for _, r := range plain.ranges {
		if r.Hi-r.Lo > 0x400 {
			continue // scripts contain both cases
		}
		for x := r.Lo; x <= r.Hi; x++ {
			for y := unicode.SimpleFold(x); y != x; y = unicode.SimpleFold(y) {
				out.ranges = append(out.ranges, cc.Range{Lo: y, Hi: y})
			}
		}
	}
	if plain.cats&(cc.Lu|cc.Ll|cc.Lt) != 0 {
		out.cats |= cc.Lu | cc.Ll | cc.Lt
	}
	return out
}

func (c *class) foldable() cc.Classes {
	if len(c.ranges) > 0 {
		return cc.L
	}
	return 0
}

// one returns the class of a single character.
func one(r rune) *class { return &class{ranges: []cc.Range{{Lo: r, Hi: r}}} }

// negate returns the complement.
func negate(c *class) *class { d := *c; d.neg = !d.neg; return &d }

// posix are the bracket names, with their Unicode meaning in the reference engine.
var posix = map[string]*class{
	"alpha": {cats: cc.L | cc.Nl}, "digit": {cats: cc.Nd}, "alnum": {cats: cc.L | cc.Nl | cc.Nd},
	"upper": {cats: cc.Lu}, "lower": {cats: cc.Ll}, "space": {cats: cc.Space}, "punct": {cats: cc.P | cc.S},
	"cntrl": {cats: cc.Cc}, "word": {cats: cc.Word}, "blank": {cats: cc.Zs, ranges: []cc.Range{{Lo: '\t', Hi: '\t'}}},
	"xdigit": {ranges: []cc.Range{{Lo: '0', Hi: '9'}, {Lo: 'A', Hi: 'F'}, {Lo: 'a', Hi: 'f'}}},
	"ascii":  {ranges: []cc.Range{{Lo: 0, Hi: 127}}},
}

// longNames maps long names of categories to short ones.
var longNames = map[string]string{
	"letter": "L", "lowercaseletter": "Ll", "uppercaseletter": "Lu", "titlecaseletter": "Lt", "modifierletter": "Lm",
	"otherletter": "Lo", "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
	"number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P",
	"connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe",
	"initialpunctuation": "Pi", "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm",
	"currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs",
	"lineseparator": "Zl", "paragraphseparator": "Zp", "other": "C", "control": "Cc", "format": "Cf", "surrogate": "Cs",
	"privateuse": "Co", "unassigned": "Cn",
}
