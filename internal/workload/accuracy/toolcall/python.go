package toolcall

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of values.
const maxDepth = 100

// parsePython parses one call, or a list of calls, in Python syntax.
func parsePython(text string) (calls []Call, err error) {
	p := &parser{text: strings.Trim(strings.TrimSpace(text), "'")}
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(fault)
			if !ok {
				panic(r)
			}
			calls, err = nil, fmt.Errorf("at character %d: %s", p.at, string(fault))
		}
	}()
	v := p.expression(0)
	if p.space(); p.at < len(p.text) {
		p.fail("text after the calls")
	}
	items, ok := v.([]any)
	if !ok {
		if t, isTuple := v.(tuple); isTuple {
			items = t
		} else {
			items = []any{v}
		}
	}
	for _, item := range items {
		c, ok := item.(*callNode)
		if !ok {
			p.fail("something other than a call")
		}
		calls = append(calls, c.call)
	}
	return calls, nil
}

// fault is the error that ends a parse.
type fault string

type parser struct {
	text string
	at   int
}

// callNode is a call inside values.
type callNode struct {
	call       Call
	positional bool   // it has no named argument
	source     string // its source text
}

func (p *parser) fail(what string) { panic(fault(what)) }

func (p *parser) space() {
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) && r != '\\' {
			return
		}
		p.at += n
	}
}

// next reports whether a word follows, and consumes it.
func (p *parser) next(word string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

func (p *parser) peek() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// expression parses sums and products of values.
func (p *parser) expression(depth int) any {
	if depth > maxDepth {
		p.fail("too deep")
	}
	v := p.term(depth)
	for {
		switch {
		case p.next("+"):
			v = p.operate('+', v, p.term(depth))
		case p.next("-"):
			v = p.operate('-', v, p.term(depth))
		default:
			return v
		}
	}
}

func (p *parser) term(depth int) any {
	v := p.power(depth)
	for {
		switch {
		case p.next("//"):
			v = p.operate('f', v, p.power(depth))
		case p.next("*"):
			v = p.operate('*', v, p.power(depth))
		case p.next("/"):
			v = p.operate('/', v, p.power(depth))
		case p.next("%"):
			v = p.operate('%', v, p.power(depth))
		default:
			return v
		}
	}
}

func (p *parser) power(depth int) any {
	v := p.unary(depth)
	if p.next("**") {
		v = p.operate('^', v, p.power(depth+1))
	}
	return v
}

func (p *parser) unary(depth int) any {
	if p.next("-") {
		switch v := p.power(depth + 1).(type) {
		case *big.Int:
			return new(big.Int).Neg(v)
		case float64:
			return -v
		}
		p.fail("a minus before something that is not a number")
	}
	return p.operand(depth)
}

// operate computes the result of an operator.
func (p *parser) operate(op byte, a, b any) any {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok && op == '+' {
			return s + t
		}
	}
	x, okX := a.(*big.Int)
	y, okY := b.(*big.Int)
	if okX && okY {
		if n := wholes(op, x, y); n != nil {
			return n
		}
	}
	u, v := numeric(a), numeric(b)
	if u == nil || v == nil {
		p.fail("an operation on something other than numbers")
	}
	f, _ := u.Float64()
	g, _ := v.Float64()
	if g == 0 && (op == '/' || op == 'f' || op == '%') {
		p.fail("a division by 0")
	}
	return floats(op, f, g)
}

// wholes computes an operation on two integers whose result is an integer; nil = it is not, or it is far too large.
func wholes(op byte, x, y *big.Int) any {
	switch op {
	case '+':
		return new(big.Int).Add(x, y)
	case '-':
		return new(big.Int).Sub(x, y)
	case '*':
		return new(big.Int).Mul(x, y)
	case '^':
		if y.Sign() >= 0 && y.IsInt64() && float64(x.BitLen())*float64(y.Int64()) < 1e5 {
			return new(big.Int).Exp(x, y, nil)
		}
	case 'f', '%':
		if y.Sign() == 0 {
			return nil
		}
		div, mod := new(big.Int).QuoRem(x, y, new(big.Int))
		if mod.Sign() != 0 && mod.Sign() != y.Sign() { // Python rounds down
			div.Sub(div, big.NewInt(1))
			mod.Add(mod, y)
		}
		if op == 'f' {
			return div
		}
		return mod
	}
	return nil
}

func floats(op byte, f, g float64) float64 {
	switch op {
	case '+':
		return f + g
	case '-':
		return f - g
	case '*':
		return f * g
	case '/':
		return f / g
	case '^':
		return math.Pow(f, g)
	case '%':
		return f - g*math.Floor(f/g)
	}
	return math.Floor(f / g)
}

// operand parses one value.
func (p *parser) operand(depth int) any {
	from := p.at
	switch c := p.peek(); {
	case c == 0:
		p.fail("unexpected end of the text")
	case c == '[':
		p.at++
		items, _ := p.items(']', depth)
		return p.suffix(from, items)
	case c == '(':
		p.at++
		items, comma := p.items(')', depth)
		if len(items) == 1 && !comma {
			return items[0]
		}
		return tuple(items)
	case c == '{':
		p.at++
		return p.dict(depth)
	case c == '"' || c == '\'':
		return p.strings(false)
	case c >= '0' && c <= '9' || c == '.' && p.at+1 < len(p.text) && p.text[p.at+1] >= '0' && p.text[p.at+1] <= '9':
		return p.number()
	case p.next("..."):
		return "..."
	}
	return p.named(depth)
}

// items parses values up to a closing character; comma = the last one is followed by a comma.
func (p *parser) items(end byte, depth int) (items []any, comma bool) {
	items = []any{}
	for p.peek() != end {
		items, comma = append(items, p.expression(depth+1)), false
		if p.peek() == end {
			break
		}
		if comma = p.next(","); !comma {
			p.fail("a comma is missing")
		}
	}
	p.at++
	return items, comma
}

func (p *parser) dict(depth int) any {
	d := dict{}
	for p.peek() != '}' {
		key := plainValue(p.expression(depth + 1))
		if !p.next(":") {
			p.fail("a colon is missing")
		}
		d = append(d, pair{key, plainValue(p.expression(depth + 1))})
		if p.peek() != '}' && !p.next(",") {
			p.fail("a comma is missing")
		}
	}
	p.at++
	return d
}

// plainValue converts a value that may be, or contain, calls to a plain value. A call with named arguments becomes a dictionary of them; another call
// becomes its text.
func plainValue(v any) any {
	switch v := v.(type) {
	case *callNode:
		if v.positional {
			return v.source
		}
		return dict{{v.call.Name, v.call.Args}}
	case []any:
		for i := range v {
			v[i] = plainValue(v[i])
		}
	case tuple:
		for i := range v {
			v[i] = plainValue(v[i])
		}
	}
	return v
}

func (p *parser) number() any {
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		sign := (c == '+' || c == '-') && p.at > from && (p.text[p.at-1] == 'e' || p.text[p.at-1] == 'E') && !strings.HasPrefix(p.text[from:], "0x")
		if c != '.' && c != '_' && !sign && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
			break
		}
		p.at++
	}
	v := number(p.text[from:p.at])
	if v == nil {
		if f, err := strconv.ParseFloat(strings.TrimSuffix(p.text[from:p.at], "."), 64); err == nil {
			return f
		}
		p.fail("no number")
	}
	return v
}

// named parses a constant, a variable, a call or a subscript.
func (p *parser) named(depth int) any {
	from := p.at
	name := p.identifier()
	switch name {
	case "":
		p.fail("no value")
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	}
	if c := p.peek(); (c == '"' || c == '\'') && len(name) <= 2 {
		switch strings.ToLower(name) {
		case "r", "u":
			return p.strings(strings.EqualFold(name, "r"))
		}
		p.fail("a text with the prefix " + name)
	}
	dotted := false
	for p.next(".") {
		part := p.identifier()
		if part == "" {
			p.fail("a name is missing")
		}
		name, dotted = name+"."+part, true
	}
	if p.peek() == '(' {
		p.at++
		c := &callNode{call: Call{Name: name}, positional: true}
		p.arguments(c, depth)
		c.source = strings.TrimSpace(p.text[from:p.at])
		return c
	}
	if p.peek() == '[' {
		return p.suffix(from, name)
	}
	if dotted {
		p.fail("a value with a dot")
	}
	return name
}

// suffix parses the subscripts of a value, which turn it into a text.
func (p *parser) suffix(from int, v any) any {
	for p.peek() == '[' {
		p.at++
		p.items(']', 1)
		v = strings.TrimSpace(p.text[from:p.at])
	}
	return v
}

func (p *parser) identifier() string {
	p.space()
	from := p.at
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if r != '_' && !unicode.IsLetter(r) && (p.at == from || !unicode.IsDigit(r)) {
			break
		}
		p.at += n
	}
	return p.text[from:p.at]
}

// arguments parses the arguments of a call.
func (p *parser) arguments(c *callNode, depth int) {
	for p.peek() != ')' {
		from := p.at
		name := p.identifier()
		if p.peek() == '=' && name != "" && !strings.HasPrefix(p.text[p.at:], "==") {
			p.at++
			if _, twice := c.call.Args.get(name); twice {
				p.fail("the argument " + name + " twice")
			}
			c.positional = false
			c.call.Args = append(c.call.Args, pair{name, plainValue(p.expression(depth + 1))})
		} else {
			p.at = from
			p.expression(depth + 1)
		}
		if p.peek() != ')' && !p.next(",") {
			p.fail("a comma is missing")
		}
	}
	p.at++
}

// strings parses adjacent string literals.
func (p *parser) strings(raw bool) any {
	var b strings.Builder
	for {
		p.string(&b, raw)
		if c := p.peek(); c != '"' && c != '\'' {
			return b.String()
		}
		raw = false
	}
}

// string parses one string literal.
func (p *parser) string(b *strings.Builder, raw bool) {
	quote := p.text[p.at : p.at+1]
	if strings.HasPrefix(p.text[p.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	p.at += len(quote)
	for {
		switch rest := p.text[p.at:]; {
		case rest == "" || len(quote) == 1 && rest[0] == '\n':
			p.fail("a string is not closed")
		case strings.HasPrefix(rest, quote):
			p.at += len(quote)
			return
		case rest[0] == '\\' && len(rest) > 1:
			if raw {
				b.WriteString(rest[:2])
				p.at += 2
				continue
			}
			p.escape(b)
		default:
			b.WriteByte(rest[0])
			p.at++
		}
	}
}

// escapes maps the letter after a backslash to its character.
var escapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

func (p *parser) escape(b *strings.Builder) {
	c := p.text[p.at+1]
	if s, ok := escapes[c]; ok {
		b.WriteString(s)
		p.at += 2
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	from, base := p.at+2, 16
	if c >= '0' && c <= '7' {
		from, base = p.at+1, 8
		for digits < 3 && from+digits < len(p.text) && p.text[from+digits] >= '0' && p.text[from+digits] <= '7' {
			digits++
		}
	}
	if digits == 0 {
		b.WriteString(p.text[p.at : p.at+2])
		p.at += 2
		return
	}
	if from+digits > len(p.text) {
		p.fail("an escape sequence is not closed")
	}
	n, err := strconv.ParseUint(p.text[from:from+digits], base, 32)
	if err != nil {
		p.fail("an invalid escape sequence")
	}
	b.WriteRune(rune(n))
	p.at = from + digits
}
