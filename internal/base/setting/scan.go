package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CommandLine is a parsed command line. It contains only the flags that the user gave.
type CommandLine struct {
	Words    []string // words that belong to no flag
	Warnings []string // about ignored arguments
	given    map[string]*GivenFlag
	order    []*GivenFlag
}

// GivenFlag is a flag of a command line.
type GivenFlag struct {
	Row     *Row
	Spelled []string // spellings with dashes, one for each use
	Values  []string // raw values, one for each token; a Bool has "true" or "false"
	flagValues
}

// Problems are all errors of a command line, one sentence each.
type Problems []string

func (p *Problems) addf(format string, a ...any) { *p = append(*p, fmt.Sprintf(format, a...)) }

// Scan assigns tokens to flags and checks every value. It reports all errors, not only the first.
func Scan(t *Table, tokens []string) (*CommandLine, Problems) {
	s := &scanner{table: t, args: tokens, set: &CommandLine{given: map[string]*GivenFlag{}}}
	for len(s.args) > 0 {
		s.step()
	}
	s.set.order = slices.DeleteFunc(s.set.order, func(g *GivenFlag) bool {
		absent := g.Row.Absent && len(g.Values) > 0 && strings.TrimSpace(strings.Join(g.Values, "")) == ""
		if absent {
			delete(s.set.given, g.Row.Name())
		} else {
			g.convert(&s.problems)
		}
		return absent
	})
	return s.set, s.problems
}

type scanner struct {
	table    *Table
	args     []string
	set      *CommandLine
	problems Problems
	after    *GivenFlag // the swept flag whose value is the previous token
}

// step parses one flag with its values, or one word.
func (s *scanner) step() {
	token := s.args[0]
	s.args = s.args[1:]
	after := s.after
	s.after = nil
	switch {
	case token == "--":
		s.passthrough()
	case isFlag(token):
		s.flag(token)
	case after != nil:
		s.problems.addf("%s takes one value; a list of values to sweep is one word: %s %s,%s",
			after.spelled(), after.spelled(), after.Values[len(after.Values)-1], token)
	default:
		s.set.Words = append(s.set.Words, token)
	}
}

// isFlag distinguishes flags from words; a lone "-" is a word.
func isFlag(token string) bool { return len(token) > 1 && token[0] == '-' }

func (s *scanner) flag(token string) {
	name, value, hasValue := strings.Cut(token, "=")
	f, positive, ok := s.table.Lookup(name)
	if !ok {
		s.unknown(name)
		return
	}
	g := s.use(f, name)
	switch {
	case f.Kind == Bool:
		s.boolean(g, positive, value, hasValue)
	case f.List || f.Tokens:
		s.list(g, value, hasValue)
	case f.Alone != "" && (!hasValue || value == ""):
		g.Values = append(g.Values, f.Alone)
	case hasValue && (value != "" || !f.numeric() || len(s.args) == 0 || !isNumber(s.args[0])):
		g.Values = append(g.Values, value)
	case len(s.args) > 0 && (!isFlag(s.args[0]) || f.numeric() && isNumber(s.args[0])):
		g.Values = append(g.Values, s.args[0])
		s.args = s.args[1:]
	default:
		s.problems.addf("%s needs a value%s", name, s.missingValue(f, name))
	}
	if f.Sweep && len(g.Values) > 0 {
		s.after = g
	}
}

// unknown reports an unknown flag and skips the words that look like its values.
func (s *scanner) unknown(name string) {
	s.problems.addf("unknown flag %s%s", name, s.table.Hint(name))
	for len(s.args) > 0 && !isFlag(s.args[0]) {
		s.args = s.args[1:]
	}
}

// use records one use of a flag. A second use of a flag with one value is an error.
func (s *scanner) use(f *Row, spelled string) *GivenFlag {
	g := s.set.given[f.Name()]
	if g == nil {
		g = &GivenFlag{Row: f}
		s.set.given[f.Name()] = g
		s.set.order = append(s.set.order, g)
	} else if !f.List && !f.Repeatable {
		how := ""
		if g.Spelled[0] != spelled {
			how = fmt.Sprintf(" (%s and %s)", g.Spelled[0], spelled)
		}
		s.problems.addf("%s is given twice%s; give it once", f.Name(), how)
	}
	g.Spelled = append(g.Spelled, spelled)
	return g
}

func (f *Row) numeric() bool { return f.Kind == Int || f.Kind == Float }

func isNumber(token string) bool {
	first, _, _ := strings.Cut(token, ",")
	if len(first) > 1 && first[0] == '-' {
		first = first[1:]
	}
	end := strings.IndexFunc(first, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	_, err := strconv.ParseFloat(first, 64)
	return err == nil || end > 0
}

func (s *scanner) boolean(g *GivenFlag, positive bool, value string, hasValue bool) {
	if !hasValue && g.Row.Words && len(s.args) > 0 {
		if w := strings.ToLower(s.args[0]); w == "true" || w == "false" {
			value, hasValue = w, true
			s.args = s.args[1:]
		}
	}
	if hasValue {
		b, err := ParseBool(value)
		if err != nil {
			s.problems.addf("%s: %q %v", g.spelled(), value, err)
			return
		}
		positive = positive == b
	}
	g.Values = append(g.Values, strconv.FormatBool(positive))
}

// list takes the tokens up to the next flag as values.
func (s *scanner) list(g *GivenFlag, value string, hasValue bool) {
	if hasValue {
		g.Values = append(g.Values, value)
		return
	}
	n := 0
	for len(s.args) > 0 && !isFlag(s.args[0]) {
		g.Values = append(g.Values, s.args[0])
		s.args = s.args[1:]
		n++
	}
	if n == 0 && !g.Row.Optional {
		s.problems.addf("%s needs a value%s", g.spelled(), s.missingValue(g.Row, g.spelled()))
	}
}

// missingValue returns what a flag without a value accepts, and which flag another tool means by the word.
func (s *scanner) missingValue(f *Row, name string) string {
	if write := s.table.peerOf(name); strings.HasPrefix(write, "--") {
		return f.expected() + "; or did you mean " + write + "?"
	}
	return f.expected()
}

// spelled returns the latest spelling of a flag.
func (g *GivenFlag) spelled() string { return g.Spelled[len(g.Spelled)-1] }

// expected returns, in brackets, what a flag accepts.
func (f *Row) expected() string {
	switch {
	case f.Kind == Enum:
		return ": " + strings.Join(f.Values(), ", ")
	case f.Unit != "":
		return strings.TrimRight(": a length of time "+BoundsText(f.Bounds), " ") + ", such as 500ms, 90s, 2m"
	case f.Kind == Int && f.Bounds != "":
		return ": an integer " + BoundsText(f.Bounds)
	case f.Kind == Int:
		return ": an integer"
	case f.Kind == Float && f.Bounds != "":
		return ": a number " + BoundsText(f.Bounds)
	case f.Kind == Float:
		return ": a number"
	}
	return ""
}
