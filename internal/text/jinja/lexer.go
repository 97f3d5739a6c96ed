package jinja

import (
	"fmt"
	"strings"
)

// kind is the kind of a token.
type kind uint8

const (
	tEnd   kind = iota
	tText       // text between tags
	tOpen       // {{
	tClose      // }}
	tBlock      // {%
	tBlockEnd
	tName
	tString
	tInt
	tFloat
	tOp
)

type token struct {
	kind kind
	text string
	line int
}

// Error is a failure in a template, with its line.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("template line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

func errorAt(line int, format string, args ...any) error {
	return &Error{line, fmt.Errorf(format, args...)}
}

// lexer splits a template into tokens.
type lexer struct {
	env  *Environment
	src  string
	pos  int
	line int
	out  []token
}

func (l *lexer) add(k kind, text string) { l.out = append(l.out, token{k, text, l.line}) }

// advance skips n bytes and counts lines.
func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.pos += n
}

// tags maps the openings of tags to their ends.
var tags = map[string]string{"{{": "}}", "{%": "%}", "{#": "#}"}

// lex splits src into tokens.
func (e *Environment) lex(src string) ([]token, error) {
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src)
	if !e.KeepTrailingNewline {
		src = strings.TrimSuffix(src, "\n")
	}
	l := &lexer{env: e, src: src, line: 1}
	strip := false // the previous tag ends in a minus
	for l.pos < len(src) {
		k := l.nextTag()
		if k < 0 {
			l.text(src[l.pos:], strip, "", 0)
			l.advance(len(src) - l.pos)
			break
		}
		open := src[k : k+2]
		mod := byte(0)
		if k+2 < len(src) && (src[k+2] == '-' || src[k+2] == '+') {
			mod = src[k+2]
		}
		l.text(src[l.pos:k], strip, open, mod)
		l.advance(k + 2 - l.pos)
		if mod != 0 {
			l.advance(1)
		}
		var err error
		if open == "{#" {
			strip, err = l.comment()
		} else {
			strip, err = l.tag(open)
		}
		if err != nil {
			return nil, err
		}
	}
	l.add(tEnd, "")
	return l.out, nil
}

// nextTag finds the next {{, {% or {#.
func (l *lexer) nextTag() int {
	for i := l.pos; ; {
		k := strings.IndexByte(l.src[i:], '{')
		if k < 0 || i+k+1 >= len(l.src) {
			return -1
		}
		if i += k; tags[l.src[i:i+2]] != "" {
			return i
		}
		i++
	}
}

// text adds the text before a tag, trimmed as the tags on both sides require.
func (l *lexer) text(s string, strip bool, open string, mod byte) {
	if strip {
		s = strings.TrimLeft(s, " \t\n\r\v\f")
	}
	switch {
	case mod == '-':
		s = strings.TrimRight(s, " \t\n\r\v\f")
	case l.env.LstripBlocks && mod != '+' && (open == "{%" || open == "{#"):
		cut := strings.LastIndexByte(s, '\n') + 1
		atStart := cut > 0 || !strip && (l.pos == 0 || l.src[l.pos-1] == '\n')
		if atStart && strings.Trim(s[cut:], " \t") == "" {
			s = s[:cut]
		}
	}
	if s != "" {
		l.add(tText, s)
	}
}

// end skips the end of a tag, and the line break after it if the environment trims blocks.
func (l *lexer) end(mod byte, size int, block bool) (strip bool) {
	l.advance(size)
	if block && l.env.TrimBlocks && mod == 0 && strings.HasPrefix(l.src[l.pos:], "\n") {
		l.advance(1)
	}
	return mod == '-'
}

func (l *lexer) comment() (bool, error) {
	k := strings.Index(l.src[l.pos:], "#}")
	if k < 0 {
		return false, errorAt(l.line, "a comment is not closed")
	}
	mod := byte(0)
	if k > 0 && (l.src[l.pos+k-1] == '-' || l.src[l.pos+k-1] == '+') {
		mod = l.src[l.pos+k-1]
	}
	l.advance(k)
	return l.end(mod, 2, true), nil
}

// tag splits the content of {{ }} or {% %}.
func (l *lexer) tag(open string) (bool, error) {
	kindOpen, kindClose := tOpen, tClose
	if open == "{%" {
		kindOpen, kindClose = tBlock, tBlockEnd
	}
	l.add(kindOpen, open)
	first := len(l.out)
	var nest []byte
	for {
		l.space()
		if l.pos >= len(l.src) {
			return false, errorAt(l.line, "a tag %s is not closed", open)
		}
		if len(nest) == 0 {
			if mod, size := l.closing(tags[open]); size > 0 {
				l.add(kindClose, "")
				raw := kindOpen == tBlock && len(l.out) == first+2 && l.out[first].text == "raw" && l.out[first].kind == tName
				strip := l.end(mod, size, kindOpen == tBlock)
				if raw {
					l.out = l.out[:first-1]
					return l.raw(strip)
				}
				return strip, nil
			}
		}
		if err := l.token(&nest); err != nil {
			return false, err
		}
	}
}

// closing reports whether the tag ends here, by its modifier and the size of both.
func (l *lexer) closing(end string) (mod byte, size int) {
	rest := l.src[l.pos:]
	if strings.HasPrefix(rest, end) {
		return 0, len(end)
	}
	if len(rest) > 2 && (rest[0] == '-' || rest[0] == '+' && end == "%}") && strings.HasPrefix(rest[1:], end) {
		return rest[0], 1 + len(end)
	}
	return 0, 0
}

func (l *lexer) space() {
	for l.pos < len(l.src) && strings.IndexByte(" \t\n\r\v\f", l.src[l.pos]) >= 0 {
		l.advance(1)
	}
}

// raw adds everything up to {% endraw %} as text.
func (l *lexer) raw(strip bool) (bool, error) {
	begin := l.pos
	for i := begin; ; i += 2 {
		k := strings.Index(l.src[i:], "{%")
		if k < 0 {
			return false, errorAt(l.line, "raw is not closed")
		}
		i += k
		rest := strings.TrimLeft(l.src[i+2:], "-+")
		mod := byte(0)
		if i+2 < len(l.src) && (l.src[i+2] == '-' || l.src[i+2] == '+') {
			mod = l.src[i+2]
		}
		rest, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\n"), "endraw")
		if !ok {
			continue
		}
		l.text(l.src[begin:i], strip, "{%", mod)
		l.advance(len(l.src) - len(rest) - l.pos)
		l.space()
		mod, size := l.closing("%}")
		if size == 0 {
			return false, errorAt(l.line, "endraw takes no arguments")
		}
		return l.end(mod, size, true), nil
	}
}

// operators, longest first.
var operators = []string{"==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[", "]", "{", "}",
	",", ".", ":", "|", ";"}

// pairs maps opening to closing brackets.
var pairs = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// token adds one token inside a tag.
func (l *lexer) token(nest *[]byte) error {
	rest := l.src[l.pos:]
	c := rest[0]
	switch {
	case c == '"' || c == '\'':
		return l.str(c)
	case c >= '0' && c <= '9':
		l.number(rest)
		return nil
	case letter(c):
		n := 1
		for n < len(rest) && (letter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		l.add(tName, rest[:n])
		l.advance(n)
		return nil
	}
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if end := pairs[c]; end != 0 {
			*nest = append(*nest, end)
		} else if n := len(*nest); c == ')' || c == ']' || c == '}' {
			if n == 0 || (*nest)[n-1] != c {
				return errorAt(l.line, "unexpected %q", c)
			}
			*nest = (*nest)[:n-1]
		}
		l.add(tOp, op)
		l.advance(len(op))
		return nil
	}
	return errorAt(l.line, "unexpected %q", []rune(rest)[0])
}

func letter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func (l *lexer) number(rest string) {
	n, k := 0, tInt
	digits := func() {
		for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '_') {
			n++
		}
	}
	digits()
	if n+1 < len(rest) && rest[n] == '.' && rest[n+1] >= '0' && rest[n+1] <= '9' {
		k = tFloat
		n++
		digits()
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		m := n + 1
		if m < len(rest) && (rest[m] == '+' || rest[m] == '-') {
			m++
		}
		if m < len(rest) && rest[m] >= '0' && rest[m] <= '9' {
			k, n = tFloat, m
			digits()
		}
	}
	l.add(k, strings.ReplaceAll(rest[:n], "_", ""))
	l.advance(n)
}

// str adds a string with its escapes resolved.
func (l *lexer) str(q byte) error {
	for i := l.pos + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case q:
			s, err := unescape(l.src[l.pos+1 : i])
			if err != nil {
				return errorAt(l.line, "%v", err)
			}
			l.add(tString, s)
			l.advance(i + 1 - l.pos)
			return nil
		}
	}
	return errorAt(l.line, "a string is not closed")
}
