package mathtext

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"aiperf/internal/base/budget"
	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/text/tokenizer/regex"
)

// matchLimit is the time limit for one search with a lookaround pattern.
const matchLimit = 4 * time.Second

// Pattern is a pattern that needs lookaround or many named groups.
type Pattern struct{ compiled *regex.Regexp }

// NewPattern compiles a pattern of the program.
func NewPattern(expr string) *Pattern {
	re, err := regex.CompileGroups(expr)
	if err != nil {
		panic("mathtext: " + err.Error())
	}
	return &Pattern{re}
}

// All returns the matches in a text. A search that takes too long is an error.
func (p *Pattern) All(text string) ([]regex.Found, error) {
	return p.compiled.All(budget.New(budget.Limits{Time: matchLimit}), text)
}

// Norm selects the steps of normalisation beyond the basic ones.
type Norm struct {
	Boxed   bool // use the content of the boxes: all of them, or
	LastBox bool // the last one and the boxes adjacent to it in a list
	Answer  bool // remove units, use the last side of a chain of equations, add missing braces to operators
}

var (
	leftBracket  = lazyregexp.New(`\\m?left(\\\{|\{|\\\||\||\[|\(|\\rbracl|\\lgroup|\\lbrace|\\lbrack|\\vert|\\lvert|\\lceil|\\lfloor|\\langle|\\llcorner|\\ulcorner)`)
	rightBracket = lazyregexp.New(`\\m?right(\\\}|\}|\\\||\||\]|\)|\\rbrack|\\rgroup|\\rbrace|\\vert|\\rvert|\\rceil|\\rfloor|\\rangle|\\lrcorner|\\urcorner)`)
	permutation  = lazyregexp.New(`\(([a-zA-Z0-9+\-*/\\ ]+?)\)_\{([a-zA-Z0-9+\-*/\\ ]+?)\}`)
	removed      = sync.OnceValue(func() *Pattern {
		return NewPattern(`\\mathrm\{th\}|\\!\s*|\\text\s*\{\s*\}|\\\$|\$|(?<!\\)["']|\\displaystyle`)
	})
	twoSlashes = sync.OnceValue(func() *Pattern { return NewPattern(`\\\\(?=[a-zA-Z])`) })
	equals     = sync.OnceValue(func() *Pattern { return NewPattern(`(?<!\\|<|!|>)=`) })
	unitText   = lazyregexp.New(`(\\(?:text|mbox)\{.*?\})(\^\d|\{\^\d\})?$`)
	metresEast = lazyregexp.New(` m east(?:s|es)?($|\W)`)
	emptyText  = lazyregexp.New(`\\text\s*\{\s*\}`)
	rewritten  = sync.OnceValue(func() *Pattern { return NewPattern(rewritePattern()) })
)

// rewrites are replaced in one pass; the first one that matches at a position applies.
var rewrites = []struct{ name, pattern, by string }{
	{"font", `\\math(?:rm|it|bf)`, `\text`},
	{"text", `\\text(?:normal|bf|it|rm)`, `\text`},
	{"frac", `\\(?:d|t|c)frac`, `\frac`},
	{"pointspace", `\s\.`, ` 0.`},
	{"pointbrace", `\{\.`, `{0.`},
	{"approx", `~=`, `\approx`},
	{"comma", `\s*\{\s*,\s*\}`, `,`},
	{"andor", `(?<!\w)(?:and|or)(?!\w)`, `;`},
	{"andortext", `\\text\{\s*(?:and|or)\s*\}`, `;`},
	{"space", `(?<!\\)\\\s`, ` `},
	{"infinity", `infinity`, `\infty`},
	{"dots", `,?\\ldots`, ` `},
	{"percent", `\s*percent`, `\\%`}, // two backslashes, which the parser rejects, as in the reference
	{"percenttext", `\\text\{percent\}`, `\\%`},
	{"inf", `(?<!\\)inf(?!inity)`, `\infty`},
	{"sqrt", ` sqrt`, `\sqrt`},
}

func rewritePattern() string {
	var list []string
	for _, r := range rewrites {
		list = append(list, fmt.Sprintf("(?<%s>%s)", r.name, r.pattern))
	}
	return strings.Join(list, "|")
}

// replaceMatches replaces what a pattern matches. A search that takes too long changes nothing.
func replaceMatches(p *Pattern, text string, by func(m *regex.Found) string) string {
	all, err := p.All(text)
	if err != nil || len(all) == 0 {
		return text
	}
	var out strings.Builder
	copied := 0
	for i := range all {
		out.WriteString(text[copied:all[i].Begin])
		out.WriteString(by(&all[i]))
		copied = all[i].End
	}
	return out.String() + text[copied:]
}

func always(text string) func(*regex.Found) string {
	return func(*regex.Found) string { return text }
}

// Normal converts LaTeX to the form that LaTeX parses. (The normalisation of latex2sympy2-extended.)
func Normal(text string, norm Norm) string {
	if norm.Boxed || norm.LastBox {
		text = boxes(text, norm.LastBox)
	}
	text = strings.NewReplacer(`\mathrm{T}`, "T", `\mathrm{d}`, "d", `{\rm d}`, "d").Replace(text)
	text = strings.NewReplacer(`\left[\begin{matrix}`, `\begin{bmatrix}`, `\end{matrix}\right]`, `\end{bmatrix}`).Replace(text)
	text = leftBracket.ReplaceAllString(text, "$1")
	text = rightBracket.ReplaceAllString(text, "$1")
	text = permutation.ReplaceAllString(text, `\frac{($1)!}{(($1)-($2))!}`)
	text = replaceMatches(removed(), text, always(""))
	text = replaceMatches(rewritten(), text, func(m *regex.Found) string {
		for _, r := range rewrites {
			if m.Group(r.name) != "" {
				return r.by
			}
		}
		return m.Text
	})
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
	if !strings.Contains(text, "matrix") {
		text = replaceMatches(twoSlashes(), text, always(`\`))
	}
	if norm.Answer {
		text = answerPart(text)
	}
	return strings.TrimFunc(text, unicode.IsSpace)
}

// answerPart removes what surrounds the value and repairs its operators.
func answerPart(text string) string {
	if !strings.ContainsAny(text, ",;") {
		if at, err := equals().All(text); err == nil && len(at) > 1 {
			text = text[at[len(at)-1].End:]
		}
	}
	if bare := strings.TrimFunc(unitText.ReplaceAllString(text, ""), unicode.IsSpace); bare != "" {
		text = bare
	}
	for range 2 {
		if bare := metresEast.ReplaceAllString(text, "$1"); bare != "" {
			text = bare
		}
	}
	text = emptyText.ReplaceAllString(text, " ")
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	if text == "0.5" {
		text = `\frac{1}{2}`
	}
	return repairOperators(text)
}

// operatorRepairs lists the repairs for operators without braces.
var operatorRepairs = []struct {
	re *lazyregexp.Regexp
	by string
}{
	{lazyregexp.New(`\^\s?\((.*?)\)`), `^{$1}`},
	{lazyregexp.New(`sqrt\s?\((.*?)\)`), `\sqrt{$1}`},
	{lazyregexp.New(`\\frac\s?(\d)\s?(\d+)`), `\frac{$1}{$2}`},
	{lazyregexp.New(`\\log_\s?(\d)\s?(\d+)`), `\log_{$1}{$2}`},
	{lazyregexp.New(`\\frac\s?\{(.*?)\}\s?(\d)`), `\frac{$1}{$2}`},
	{lazyregexp.New(`\\frac\s?(\d)\s?\{(.*?)\}`), `\frac{$1}{$2}`},
	{lazyregexp.New(`\\sqrt\s?(\d)`), `\sqrt{$1}`},
}

func repairOperators(text string) string {
	for _, m := range operatorRepairs {
		text = m.re.ReplaceAllString(text, m.by)
	}
	text = strings.ReplaceAll(text, " sqrt", `\sqrt`)
	return SlashFraction(bracedFractions(bracedRoots(text)))
}

// bracedRoots adds the braces of \sqrt3.
func bracedRoots(text string) string {
	parts := strings.Split(text, `\sqrt`)
	for i := 1; i < len(parts); i++ {
		p := strings.TrimLeftFunc(parts[i], unicode.IsSpace)
		if r := []rune(p); len(r) > 0 && r[0] != '{' && r[0] != '[' {
			p = "{" + string(r[0]) + "}" + string(r[1:])
		}
		parts[i] = p
	}
	return strings.Join(parts, `\sqrt`)
}

func bracedFractions(text string) string {
	parts := strings.Split(text, `\frac`)
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.TrimLeftFunc(parts[i], unicode.IsSpace)
	}
	return BracedFractions(strings.Join(parts, `\frac`), text)
}

// BracedFractions adds the braces of \frac12. If a \frac lacks its parts, it returns otherwise.
func BracedFractions(text, otherwise string) string {
	parts := strings.Split(text, `\frac`)
	for i := 1; i < len(parts); i++ {
		r := []rune(parts[i])
		switch {
		case len(r) > 0 && r[0] == '{':
		case len(r) < 2:
			return otherwise
		case r[1] == '{':
			parts[i] = "{" + string(r[0]) + "}" + string(r[1:])
		default:
			parts[i] = "{" + string(r[0]) + "}{" + string(r[1]) + "}" + string(r[2:])
		}
	}
	return strings.Join(parts, `\frac`)
}

var slashed = lazyregexp.New(`^(0|-?[1-9]\d*)/(0|-?[1-9]\d*)$`)

// SlashFraction converts a ratio of two whole numbers to \frac.
func SlashFraction(text string) string {
	return slashed.ReplaceAllString(text, `\frac{$1}{$2}`)
}

// boxes returns the contents of \boxed or \fbox, from the right: all of them, or with last the last one and those before it in a list. A box that is
// not closed holds the rest of the text if it is the only one. A text without a box is returned unchanged.
func boxes(text string, last bool) string {
	var found []string
	end, behind := len(text), -1
	for {
		box, size := lastBox(text[:end])
		if box < 0 {
			break
		}
		open := box + size
		open += len(text[open:]) - len(strings.TrimLeftFunc(text[open:], unicode.IsSpace))
		if open >= end {
			break
		}
		body, length := "", -1
		if text[open] == '{' {
			body, length = group(text[open+1 : end])
		}
		if length < 0 {
			if len(found) == 0 {
				found = append(found, text[open:])
			}
			break
		}
		if last && behind >= 0 && !listed.MatchString(text[open+1+length:behind]) {
			break
		}
		found = append(found, strings.TrimFunc(body, unicode.IsSpace))
		end, behind = box, box
	}
	if len(found) == 0 {
		return text
	}
	var out strings.Builder
	for i := len(found) - 1; i >= 0; i-- {
		out.WriteString(found[i])
		if i > 0 {
			out.WriteByte(',')
		}
	}
	return out.String()
}

var listed = lazyregexp.New(`^\s*(?:and|or|,)\s*$`)

// lastBox finds the last box command and its length.
func lastBox(text string) (at, size int) {
	boxed, fbox := strings.LastIndex(text, `\boxed`), strings.LastIndex(text, `\fbox`)
	if boxed > fbox {
		return boxed, len(`\boxed`)
	}
	return fbox, len(`\fbox`)
}
