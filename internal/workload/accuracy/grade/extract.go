package grade

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/sorting"
	"aiperf/internal/text/tokenizer/regex"
	"aiperf/internal/workload/accuracy/mathtext"
)

// Patterns find the answer. The most specific kind is tried first ("the final answer is …", boxes, "answer: …", any formula), and within a kind the
// rightmost match. Patterns and priorities are those of lighteval 0.13 (extractive_match_utils.py).

// pattern finds candidates of one kind.
type pattern struct {
	re       *mathtext.Pattern
	priority int
	read     func(m *regex.Found) (*mathtext.Node, string)
}

// answerReading is the parsed answer, and the text of the first candidate that has one.
type answerReading struct {
	value *mathtext.Node // nil = nothing could be parsed
	text  string
	any   bool // there was a candidate
}

// find tries the kinds until a candidate can be parsed.
func find(patterns []pattern, text string) (answerReading, error) {
	var out answerReading
	for rest := patterns; len(rest) > 0; {
		same := 1
		for same < len(rest) && rest[same].priority == rest[0].priority {
			same++
		}
		type candidate struct {
			m    *regex.Found
			read func(m *regex.Found) (*mathtext.Node, string)
		}
		var all []candidate
		for _, p := range rest[:same] {
			found, err := p.re.All(text)
			if err != nil {
				return out, err
			}
			for i := range found {
				all = append(all, candidate{&found[i], p.read})
			}
		}
		sorting.Stable(all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.m.End, a.m.End), cmp.Compare(a.m.Begin, b.m.Begin))
		})
		for _, c := range all {
			value, said := c.read(c.m)
			if out.text == "" {
				out.text = said
			}
			if out.any = true; value != nil {
				out.value = value
				return out, nil
			}
		}
		rest = rest[same:]
	}
	return out, nil
}

// byPriority sorts patterns; patterns of the same priority keep their order.
func byPriority(list ...pattern) []pattern {
	sorting.Stable(list, func(a, b pattern) int { return cmp.Compare(a.priority, b.priority) })
	return list
}

// Pieces of the patterns.
const (
	space      = `(?:\s| )`
	fullStop   = `[\..]`
	answerWord = `(?i:answer)`
	numberRE   = `(?:(?<integer1>-?\d{1,3}(?:[ ,]\d{3})+)(?<decimal1>\.\d+)?|(?<integer2>-?\d+)(?<decimal2>[.,]\d+)|(?<decimal3>\.\d+)|` +
		`(?<integer3>-?\d+))(?<percent>\s*(?:%|[Pp]ercent|\s*[Pp]ercentage|\s*[Pp]ct))?`
	operatorRE = `\+\-\*\×\/\^\(\)\÷`
	exprChar   = `[\d\.\s` + operatorRE + `]`
	exprRE     = `(?<expr>-?\(?-?\d` + exprChar + `*[` + operatorRE + `]` + exprChar + `+\)?)`
	currency   = `[\$€£¥₹₽₪₩₫฿₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₴₵₶₷₸₹₺₻₼₽₾₿]?`
	exprBegin  = `(?:\A|` + space + `|\=)(?:\*\*)?`
	exprEnd    = `(?:\*\*)?(?:` + fullStop + `|[,,]|\s?[::]|` + space + `|\)|\$|\Z)`
	anExpr     = `(?:` + exprBegin + exprRE + exprEnd + `)`
	aNumber    = `(?:` + exprBegin + currency + numberRE + `)`
	exprOrNum  = `(?:` + anExpr + `|` + aNumber + `)`
)

// expressions returns the patterns of plain numbers and sums.
var expressions = sync.OnceValue(func() []pattern {
	return kinds(readExpression, []kind{
		{`(?i:final answer is)\:?\s*` + exprOrNum + `\.?\s?I hope`, 0},
		{`(?i:final answer.{0,100}?)\s+is\:?` + exprOrNum, 50},
		{answerWord + `\s?[::](?:.{0,100}=\s*|.{0,50}?)` + exprOrNum + `(?!\s*=)`, 100},
		{answerWord + `(?:.{0,100}=\s*|.{0,50}?)` + exprOrNum + `(?!\s*=)`, 200},
		{anExpr, 300},
		{aNumber, 300},
	})
})

// formulas returns the patterns of LaTeX. The grader sets the priority of those for boxes.
func formulas(boxed int) []pattern {
	plain := formula("first_", false) + nextFormulas(false)
	return kinds(readFormula, []kind{
		{`(?s)(?i:final answer is)\:?\s*` + plain + `\.?\s?I hope`, 0},
		{`(?s)(?i:final answer.{0,100}?)\s+is\:?\s*` + plain, 50},
		{`(?s)` + answerWord + `\s?[::].{0,50}?` + plain, 100},
		{`(?s)` + answerWord + `.{0,50}?` + plain, 200},
		{`(?s)` + plain, 300},
		{`(?s)` + formula("first_", true) + nextFormulas(true), boxed},
		{`(?s)(?<first_latexBoxed>\\boxed{.+})`, boxed},
	})
}

type kind struct {
	expr     string
	priority int
}

func kinds(read func(m *regex.Found) (*mathtext.Node, string), list []kind) []pattern {
	out := make([]pattern, len(list))
	for i, k := range list {
		out[i] = pattern{re: mathtext.NewPattern(k.expr), priority: k.priority, read: read}
	}
	return out
}

// environments are the delimiters of LaTeX in a text: name of the group, opening, one character, closing.
var environments = []struct{ name, begin, char, end string }{
	{"latexDisplayDollar", `(?<!\\)\$\$`, `(?:[^$]|\$(?!\$))`, `(?<!\\)\$\$`},
	{"latexDisplayBracket", `(?<!\\)\\\[`, `(?:[^\\]|\\(?!\]))`, `(?<!\\)\\\]`},
	{"latexInlineDollar", `(?<!\\|\d)\$`, `(?:\\[$]|[^\n$])`, `(?<!\\)\$`},
	{"latexInlineParenthesis", `(?<!\\)\\\(`, `(?:[^\\\n]|\\(?!\)))`, `(?<!\\)\\\)`},
	{"latexInlineBracket", `\s\[`, `[^\n\]\[]`, `\]\s`},
}

// formula returns the pattern of LaTeX in one of the environments. With boxed it must contain a box. A percent sign may follow it.
func formula(prefix string, boxed bool) string {
	var list []string
	for _, e := range environments {
		inner := e.char + `+?`
		if boxed {
			inner = e.char + `*?\\boxed{` + e.char + `+?}` + e.char + `*?`
		}
		list = append(list, e.begin+`(?<`+prefix+e.name+`>`+inner+`)`+e.end)
	}
	if !boxed {
		const number = `-?\d+(?:[.,]\d+)?`
		list = append(list, `(?<`+prefix+`latexFraction>-?\\frac{`+number+`}{`+number+`})`)
	}
	return `(?:(?:` + strings.Join(list, `|`) + `)\s*(?<` + prefix + `percent>(?:\\?%|[Pp]ercent|[Pp]ercentage|[Pp]ct))?)`
}

// nextPrefixes are the groups of formulas that follow the first.
var nextPrefixes = []string{"next1_", "next2_", "next3_", "next4_", "next5_"}

func nextFormulas(boxed bool) string {
	var b strings.Builder
	for _, prefix := range nextPrefixes {
		b.WriteString(`(?:\s*(?:and|or|,)\s*` + formula(prefix, boxed) + `)?`)
	}
	return b.String()
}

// readExpression parses a number or a sum.
func readExpression(m *regex.Found) (*mathtext.Node, string) {
	whole, decimal := "", ""
	for _, n := range []string{"1", "2", "3"} {
		whole, decimal = cmp.Or(whole, m.Group("integer"+n)), cmp.Or(decimal, m.Group("decimal"+n))
	}
	if whole == "" && decimal == "" {
		said := m.Group("expr")
		n, err := mathtext.Plain(strings.NewReplacer("\n", " ", "^", "**").Replace(said))
		if err != nil {
			return nil, said
		}
		return n, said
	}
	said := cmp.Or(strings.TrimLeft(strings.NewReplacer(",", "", " ", "").Replace(whole), "0"), "0") + strings.ReplaceAll(decimal, ",", ".")
	n := mathtext.Decimal(said)
	if n != nil && m.Group("percent") != "" {
		n = mathtext.Percent(n)
	}
	return n, said
}

// readFormula parses LaTeX; several adjacent formulas are a set.
func readFormula(m *regex.Found) (*mathtext.Node, string) {
	var values []*mathtext.Node
	var texts []string
	for _, prefix := range append([]string{"first_"}, nextPrefixes...) {
		text, name := "", ""
		for _, e := range environments {
			if t := m.Group(prefix + e.name); t != "" {
				text, name = t, e.name
				break
			}
		}
		for _, other := range []string{"latexFraction", "latexBoxed"} {
			if t := m.Group(prefix + other); text == "" && t != "" {
				text, name = t, other
			}
		}
		if text == "" {
			continue
		}
		text = mathtext.Normal(text, mathtext.Norm{Boxed: true, LastBox: name == "latexBoxed", Answer: true})
		texts = append(texts, text)
		n, err := mathtext.LaTeX(text)
		switch {
		case err != nil:
			n = nil
		case m.Group(prefix+"percent") != "":
			n = mathtext.Percent(n)
		}
		values = append(values, n)
	}
	if len(values) == 0 {
		return nil, ""
	}
	if len(values) > 1 && !slices.Contains(values, nil) {
		return mathtext.SetOf(values...), strings.Join(texts, " and ")
	}
	return values[0], texts[0]
}
