package mathtext

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/lazyregexp"
)

// token is a token of LaTeX.
type token struct {
	kind string // the mark itself, or "num", "pct", "letter", "accent", "diff", or the command with its backslash
	text string
	body string // the text under an accent
	tail bool   // white space precedes it
	from int    // offset of its start
}

var errSyntax = errors.New("not understood")

var (
	latexNumber = lazyregexp.New(`^(?:\d+(?:\.\d+)?|\.\d+)`)
	percentSign = lazyregexp.New(`^\s*\\?%`)
	accent      = lazyregexp.New(`^\\(text|textbf|textit|textrm|textnormal|mbox|mathrm|mathbf|mathit|mathcal|mathsf|mathbb|bm|boldsymbol|bar|overline|underline|hat|widehat|tilde|widetilde|vec|overrightarrow|dot|ddot|check|breve|acute|grave)\s*\{`)
	command     = lazyregexp.New(`^\\(?:[A-Za-z]+|.)`)
	blank       = lazyregexp.New(`^(?:\s|\\[,;:!> ]|\\quad\b|\\qquad\b|\\thinspace|\\medspace|\\thickspace|\\neg(?:thin|med|thick)space|\\\$|\$|\\displaystyle\b|\\left\b|\\right\b|~)+`)
	degrees     = lazyregexp.New(`^\^\s*(?:\\circ\b|\\degree\b|°|\{\s*(?:\\circ|\\degree|°)\s*\})`)
	primes      = lazyregexp.New(`^'+`)
	transpose   = lazyregexp.New(`^\^\s*(?:T\b|\\top\b|\{\s*(?:T|\\top)\s*\})`)
)

// longestFormula is the maximum length of a text that is parsed as a formula.
const longestFormula = 20_000

// lex splits LaTeX into tokens.
func lex(s string) ([]token, error) {
	if len(s) > longestFormula {
		return nil, fmt.Errorf("%w: more than %d bytes", errSyntax, longestFormula)
	}
	var list []token
	tail := false
	put := func(kind, text, body string, at int) {
		list = append(list, token{kind: kind, text: text, body: body, tail: tail, from: at})
		tail = false
	}
	for i := 0; i < len(s); {
		rest := s[i:]
		switch {
		case blank.MatchString(rest):
			i += len(blank.FindString(rest))
			tail = true
		case degrees.MatchString(rest):
			i += len(degrees.FindString(rest))
		case transpose.MatchString(rest):
			put("^T", "", "", i)
			i += len(transpose.FindString(rest))
		case primes.MatchString(rest):
			i += len(primes.FindString(rest))
		case latexNumber.MatchString(rest):
			text := latexNumber.FindString(rest)
			kind, size := "num", len(text)
			if p := percentSign.FindString(rest[size:]); p != "" {
				kind, size = "pct", size+len(p)
			}
			put(kind, text, "", i)
			i += size
		case accent.MatchString(rest):
			m := accent.FindStringSubmatch(rest)
			body, size := group(rest[len(m[0]):])
			if size < 0 {
				return nil, errSyntax
			}
			put("accent", m[1], body, i)
			i += len(m[0]) + size
		case rest[0] == '\\':
			text := knownCommand(command.FindString(rest))
			if text == "" {
				return nil, fmt.Errorf("%w: a backslash at the end", errSyntax)
			}
			put(plainCommand(text), text, "", i)
			i += len(text)
		default:
			r, size := utf8.DecodeRuneInString(rest)
			kind, text := mark(rest, r, size)
			if kind == "" {
				return nil, fmt.Errorf("%w: %q", errSyntax, r)
			}
			put(kind, text, "", i)
			i += len(text)
		}
	}
	return list, nil
}

// group returns the text up to the brace that closes the one before s, and its length including that brace; -1 = not closed.
func group(s string) (string, int) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return s[:i], i + 1
			}
			depth--
		}
	}
	return "", -1
}

// mark returns the token of a character that begins neither a number nor a command.
func mark(rest string, r rune, size int) (kind, text string) {
	if len(rest) > 1 {
		switch rest[:2] {
		case "<=", ">=", "!=":
			return rest[:2], rest[:2]
		}
	}
	switch {
	case r == 'd' && len(rest) > 1 && isLetter(rest[1]):
		return "diff", rest[:2]
	case r == 'd' && len(rest) > 2 && rest[1] == ' ' && isLetter(rest[2]):
		return "diff", rest[:3]
	case r < utf8.RuneSelf && isLetter(byte(r)):
		return "letter", rest[:1]
	case strings.ContainsRune("+-*/^_(){}[]|,;:=<>!&", r):
		return string(r), rest[:size]
	}
	if name, ok := unicodeMarks[r]; ok {
		return name, rest[:size]
	}
	if unicode.Is(unicode.Greek, r) {
		return "letter", rest[:size]
	}
	return "", ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

var unicodeMarks = map[rune]string{
	'×': "*", '·': "*", '÷': "/", '−': "-", '≤': "<=", '≥': ">=", '≠': "!=", '∞': `\infty`, 'π': `\pi`, '∪': `\cup`, '∩': `\cap`, '∈': `\in`, '√': `\sqrt`,
}

// commands are all commands of the grammar.
var commands = allCommands()

func allCommands() map[string]bool {
	all := map[string]bool{}
	for _, c := range strings.Fields(`\frac \binom \sqrt \infty \emptyset \begin \end \boxed \phantom \operatorname \lfloor \rfloor \lceil \rceil \approx \in \notin
		\subset \subseteq \supset \supseteq \sim \cong \setminus \cup \cap \pm \mp \mod \bmod \to \rightarrow`) {
		all[c] = true
	}
	for c := range bigOperators {
		all[c] = true
	}
	for _, list := range []map[string]string{commandMarks, functionNames, symbolNames} {
		for c := range list {
			all[c] = true
		}
	}
	return all
}

// knownCommand returns a command, or its longest known prefix if it is unknown: \lne is \ln e.
func knownCommand(c string) string {
	for end := len(c); end > 2; end-- {
		if commands[c[:end]] {
			return c[:end]
		}
	}
	return c
}

// plainCommand returns the mark for which a command stands, otherwise the command.
func plainCommand(c string) string {
	if m, ok := commandMarks[c]; ok {
		return m
	}
	return c
}

var commandMarks = map[string]string{
	`\times`: "*", `\cdot`: "*", `\ast`: "*", `\div`: "/", `\lbrace`: `\{`, `\rbrace`: `\}`, `\lbrack`: "[", `\rbrack`: "]", `\lgroup`: "(", `\rgroup`: ")",
	`\vert`: "|", `\lvert`: "|", `\rvert`: "|", `\|`: `\|`, `\le`: "<=", `\leq`: "<=", `\leqslant`: "<=", `\ge`: ">=", `\geq`: ">=", `\geqslant`: ">=",
	`\lt`: "<", `\gt`: ">", `\ne`: "!=", `\neq`: "!=", `\equiv`: "=", `\colon`: ":", `\(`: "(", `\)`: ")",
	`\dfrac`: `\frac`, `\tfrac`: `\frac`, `\cfrac`: `\frac`, `\dbinom`: `\binom`, `\tbinom`: `\binom`, `\setminus`: `\setminus`, `\backslash`: `\setminus`,
	`\bigcup`: `\cup`, `\bigcap`: `\cap`, `\ni`: `\in`,
}

// readNumber parses a decimal number.
func readNumber(text string) (*Node, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, errSyntax
	}
	return &Node{Kind: Num, Rat: r, Float: strings.Contains(text, ".")}, nil
}
