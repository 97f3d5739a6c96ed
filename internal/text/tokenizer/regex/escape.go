package regex

import (
	"strconv"
	"strings"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// simple are the escapes for a single character.
var simple = map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1B}

// sets are the escapes for a class; the capital letter means the complement.
var sets = map[rune]*class{
	's': {cats: cc.Space}, 'd': {cats: cc.Nd}, 'w': {cats: cc.Word}, 'h': posix["xdigit"],
}

// asserts are the escapes that match a position.
var asserts = map[rune]op{
	'b': opWordEdge, 'B': opNoWordEdge, 'A': opTextStart, 'z': opTextEnd, 'Z': opTextEndBreak,
}

// escape parses the text after a backslash outside brackets.
func (p *parser) escape() (*node, error) {
	if !p.more() {
		return nil, p.fail("a backslash at the end")
	}
	if a, ok := asserts[rune(p.src[p.pos])]; ok {
		p.pos++
		return &node{op: a}, nil
	}
	if p.take("R") { // \r\n as one match, otherwise any line break
		breaks := &class{ranges: []cc.Range{{Lo: '\n', Hi: '\r'}, {Lo: 0x85, Hi: 0x85}, {Lo: 0x2028, Hi: 0x2029}}}
		crlf := &node{op: opCat, subs: []*node{p.set(one('\r')), p.set(one('\n'))}}
		return &node{op: opAtomic, subs: []*node{{op: opAlt, subs: []*node{crlf, p.set(breaks)}}}}, nil
	}
	c, err := p.class()
	if err != nil {
		return nil, err
	}
	return p.set(c), nil
}

// class parses an escape for a character or a class, after its backslash.
func (p *parser) class() (*class, error) {
	if !p.more() {
		return nil, p.fail("a backslash at the end")
	}
	switch c := p.next(); {
	case c == 'p' || c == 'P':
		return p.property(c == 'P')
	case c == 'x' || c == 'u' || c == 'U':
		return p.hex(map[rune]int{'x': 2, 'u': 4, 'U': 8}[c])
	case simple[c] != 0:
		return one(simple[c]), nil
	case sets[c] != nil:
		return sets[c], nil
	case c < 0x80 && sets[c|0x20] != nil:
		return negate(sets[c|0x20]), nil
	case c == '0':
		return one(0), nil
	case c >= '1' && c <= '9' || c == 'k' || c == 'g':
		return nil, p.fail("back references are not supported")
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return nil, p.fail(`the escape \%c is not known`, c)
	default:
		return one(c), nil
	}
}

// hex parses \xHH, \x{H…}, \uHHHH.
func (p *parser) hex(digits int) (*class, error) {
	var text string
	if p.take("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return nil, p.fail("a code point is not closed")
		}
		text = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else {
		n := min(digits, len(p.src)-p.pos)
		text = p.src[p.pos : p.pos+n]
		p.pos += n
	}
	v, err := strconv.ParseUint(strings.TrimSpace(text), 16, 32)
	if err != nil || v > 0x10FFFF {
		return nil, p.fail("%q is not a code point", text)
	}
	return one(rune(v)), nil
}

// bracket parses a class after its opening bracket.
func (p *parser) bracket() (*class, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail("classes nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	c := &class{neg: p.take("^")}
	cur := c // the current operand of &&
	var operands []*class
	for first := true; ; first = false {
		switch {
		case !p.more():
			return nil, p.fail("a class is not closed")
		case p.has("]") && !first:
			p.pos++
			if len(operands) > 0 {
				operands = append(operands, cur)
				c.and = operands
				c.subs, c.cats, c.ranges = []*class{{neg: true}}, 0, nil
			}
			return c, nil
		case p.take("&&"):
			if cur == c {
				operands = append(operands, &class{cats: c.cats, ranges: c.ranges, subs: c.subs})
			} else {
				operands = append(operands, cur)
			}
			cur = &class{}
		case p.has("[:") && strings.Contains(p.src[p.pos+2:], ":]"):
			end := 2 + strings.Index(p.src[p.pos+2:], ":]")
			name, neg := strings.CutPrefix(p.src[p.pos+2:p.pos+end], "^")
			set := posix[name]
			if set == nil {
				return nil, p.fail("unknown bracket name %q", name)
			}
			p.pos += end + 2
			if neg {
				set = negate(set)
			}
			cur.subs = append(cur.subs, set)
		case p.take("["):
			sub, err := p.bracket()
			if err != nil {
				return nil, err
			}
			cur.subs = append(cur.subs, sub)
		default:
			if err := p.member(cur); err != nil {
				return nil, err
			}
		}
	}
}

// member parses one character, range or escape inside brackets into c.
func (p *parser) member(c *class) error {
	lo, err := p.single()
	if err != nil {
		return err
	}
	r, single := singleRune(lo)
	if !single || !p.has("-") || strings.HasPrefix(p.src[p.pos+1:], "]") || p.pos+1 >= len(p.src) {
		c.subs, c.ranges = appendMember(c.subs, c.ranges, lo)
		return nil
	}
	p.pos++
	hi, err := p.single()
	if err != nil {
		return err
	}
	r2, single := singleRune(hi)
	if !single || r2 < r {
		return p.fail("a range of a class must end in a character not below its first")
	}
	c.ranges = append(c.ranges, cc.Range{Lo: r, Hi: r2})
	return nil
}

func appendMember(subs []*class, ranges []cc.Range, c *class) ([]*class, []cc.Range) {
	if r, ok := singleRune(c); ok {
		return subs, append(ranges, cc.Range{Lo: r, Hi: r})
	}
	return append(subs, c), ranges
}

// single parses one character or escape inside brackets.
func (p *parser) single() (*class, error) {
	c := p.next()
	if c != '\\' {
		return one(c), nil
	}
	if p.take("b") {
		return one('\b'), nil
	}
	return p.class()
}

// singleRune reports whether c is exactly one character.
func singleRune(c *class) (rune, bool) {
	if c.neg || c.cats != 0 || len(c.subs) > 0 || len(c.and) > 0 || len(c.ranges) != 1 || c.ranges[0].Lo != c.ranges[0].Hi {
		return 0, false
	}
	return c.ranges[0].Lo, true
}
