package regex

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// Limits of a pattern, far above the need of tokenizers.
const (
	maxPattern = 1 << 16 // bytes
	maxNesting = 100     // groups
	maxCount   = 1000    // {m,n}
	maxProgram = 1 << 16 // instructions
	unlimited  = -1
)

// node is a parsed expression.
type node struct {
	op       op
	set      *class  // opSet
	subs     []*node // opCat, opAlt; one for groups, look-arounds and repeats
	name     string  // opGroup
	min, max int     // opRepeat
	mode     mode    // opRepeat
	behind   bool    // opLook
	neg      bool    // opLook
}

type op uint8

const (
	opEmpty op = iota
	opSet
	opCat
	opAlt
	opRepeat
	opGroup // records what it matches
	opAtomic
	opLook
	opLineStart
	opLineEnd
	opTextStart
	opTextEnd
	opTextEndBreak // \Z
	opWordEdge
	opNoWordEdge
)

type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

type parser struct {
	src    string
	pos    int
	fold   bool // (?i)
	dot    bool // . matches line feeds
	depth  int
	groups bool // record named groups
}

// fail returns an error with its position in the pattern.
func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("pattern %s, offset %d: %s", strconv.Quote(clip(p.src)), p.pos, fmt.Sprintf(format, args...))
}

func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

func (p *parser) more() bool        { return p.pos < len(p.src) }
func (p *parser) has(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }
func (p *parser) take(s string) bool {
	if !p.has(s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// alternation parses up to a closing bracket or the end.
func (p *parser) alternation() (*node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail("groups nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	fold, dot := p.fold, p.dot
	defer func() { p.fold, p.dot = fold, dot }()
	alt := &node{op: opAlt}
	cat := &node{op: opCat}
	for p.more() && !p.has(")") {
		if p.take("|") {
			alt.subs = append(alt.subs, cat)
			cat = &node{op: opCat}
			continue
		}
		n, err := p.repeated()
		if err != nil {
			return nil, err
		}
		cat.subs = append(cat.subs, n)
	}
	if len(alt.subs) == 0 {
		return cat, nil
	}
	alt.subs = append(alt.subs, cat)
	return alt, nil
}

// repeated parses an atom with its quantifiers.
func (p *parser) repeated() (*node, error) {
	n, err := p.atom()
	if err != nil {
		return nil, err
	}
	for p.more() {
		interval := p.has("{")
		lo, hi, ok := p.quantifier()
		if !ok {
			break
		}
		if lo > maxCount || hi > maxCount || hi != unlimited && lo > hi {
			return nil, p.fail("repeat {%d,%d}: the counts must ascend and be at most %d", lo, hi, maxCount)
		}
		r := &node{op: opRepeat, subs: []*node{n}, min: lo, max: hi}
		switch {
		case p.take("?"):
			r.mode = lazy
		case !interval && p.take("+"): // after {m,n}, a plus is a repeat, as in the reference's syntax
			r.mode = possessive
		}
		n = r
	}
	return n, nil
}

// quantifier parses ? * + {m} {m,} {,n} {m,n}.
func (p *parser) quantifier() (lo, hi int, ok bool) {
	switch {
	case p.take("?"):
		return 0, 1, true
	case p.take("*"):
		return 0, unlimited, true
	case p.take("+"):
		return 1, unlimited, true
	case !p.has("{"):
		return 0, 0, false
	}
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return 0, 0, false
	}
	a, b, comma := strings.Cut(p.src[p.pos+1:p.pos+end], ",")
	var err error
	if lo, err = number(a, 0, comma); err != nil {
		return 0, 0, false
	}
	if !comma {
		hi = lo
	} else if hi, err = number(b, unlimited, a != ""); err != nil {
		return 0, 0, false
	}
	p.pos += end + 1
	return lo, hi, true
}

func number(s string, empty int, mayBeEmpty bool) (int, error) {
	if s == "" && mayBeEmpty {
		return empty, nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

// atom parses one character, class, group or assertion.
func (p *parser) atom() (*node, error) {
	switch c := p.next(); c {
	case '(':
		return p.group()
	case '[':
		c, err := p.bracket()
		if err != nil {
			return nil, err
		}
		return p.set(c), nil
	case '.':
		c := one('\n')
		c.neg = true
		if p.dot {
			c = &class{neg: true}
		}
		return &node{op: opSet, set: c.seal()}, nil
	case '^':
		return &node{op: opLineStart}, nil
	case '$':
		return &node{op: opLineEnd}, nil
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, p.fail("%q has nothing to repeat", c)
	default:
		return p.set(one(c)), nil
	}
}

func (p *parser) set(c *class) *node {
	if p.fold {
		c = c.fold()
	}
	return &node{op: opSet, set: c.seal()}
}

// group parses the text after an opening bracket.
func (p *parser) group() (*node, error) {
	wrap := func(n *node) *node { return n }
	fold, dot := p.fold, p.dot
	switch {
	case p.take("?:"):
	case p.take("?>"):
		wrap = func(n *node) *node { return &node{op: opAtomic, subs: []*node{n}} }
	case p.has("?=") || p.has("?!") || p.has("?<=") || p.has("?<!"):
		look := &node{op: opLook}
		p.pos++
		look.behind = p.take("<")
		look.neg = p.next() == '!'
		wrap = func(n *node) *node { look.subs = []*node{n}; return look }
	case p.has("?<") || p.has("?P<"):
		end := strings.IndexByte(p.src[p.pos:], '>')
		if end < 0 {
			return nil, p.fail("the name of a group is not closed")
		}
		if _, name, _ := strings.Cut(p.src[p.pos:p.pos+end], "<"); p.groups {
			wrap = func(n *node) *node { return &node{op: opGroup, name: name, subs: []*node{n}} }
		}
		p.pos += end + 1
	case p.take("?#"):
		for p.more() && !p.has(")") {
			p.pos++
		}
	case p.take("?"):
		if err := p.flags(); err != nil {
			return nil, err
		}
		if p.take(")") { // applies to the rest of the enclosing group
			return &node{op: opEmpty}, nil
		}
		p.take(":")
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	p.fold, p.dot = fold, dot
	if !p.take(")") {
		return nil, p.fail("a group is not closed")
	}
	return wrap(n), nil
}

// flags parses the letters of a group that sets flags, up to the colon or bracket after them.
func (p *parser) flags() error {
	on := true
	for ; p.more() && !p.has(":") && !p.has(")"); p.pos++ {
		switch p.src[p.pos] {
		case '-':
			on = false
		case 'i':
			p.fold = on
		case 's', 'm': // the two engines' names for it
			p.dot = on
		case 'u', 'x':
			if p.src[p.pos] == 'x' && on {
				return p.fail("flag x is not supported; allowed are i, m, s, u")
			}
		default:
			return p.fail("flag %q is not supported; allowed are i, m, s, u", p.src[p.pos])
		}
	}
	return nil
}

// property parses the {Name} of \p; neg means \P.
func (p *parser) property(neg bool) (*class, error) {
	var name string
	if p.take("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			return nil, p.fail("a property name is not closed")
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else if p.more() {
		name = string(p.next())
	}
	if n, ok := strings.CutPrefix(name, "^"); ok {
		name, neg = n, !neg
	}
	for _, prefix := range []string{"gc=", "General_Category=", "sc=", "Script=", "Is"} {
		name = strings.TrimPrefix(name, prefix)
	}
	c := &class{neg: neg}
	plain := strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name))
	switch {
	case cc.Names[name] != 0:
		c.cats = cc.Names[name]
	case longNames[plain] != "":
		c.cats = cc.Names[longNames[plain]]
	case posix[plain] != nil:
		c.subs = []*class{posix[plain]}
	case plain == "any":
		c.neg = !neg
	default:
		if c.ranges = cc.Script(name); c.ranges == nil {
			return nil, p.fail("unknown property %q; allowed are general categories and scripts", name)
		}
	}
	return c, nil
}
