package mathtext

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2/v2"
)

// matchLimit is how long one search of a pattern with lookaround may take.
const matchLimit = 4 * time.Second

// Pattern compiles a pattern that needs lookaround; a search that takes too long fails.
func Pattern(expr string) *regexp2.Regexp {
	re := regexp2.MustCompile(expr)
	re.MatchTimeout = matchLimit
	return re
}

// Norm says what normalisation does beside the basics.
type Norm struct {
	Boxed   bool // take what the boxes hold: all of them, or
	LastBox bool // the last one, with those that stand beside it in a list
	Answer  bool // drop units, take the last side of a chain of equations, mend operators that lack their braces
}

var (
	leftBracket  = regexp.MustCompile(`\\m?left(\\\{|\{|\\\||\||\[|\(|\\rbracl|\\lgroup|\\lbrace|\\lbrack|\\vert|\\lvert|\\lceil|\\lfloor|\\langle|\\llcorner|\\ulcorner)`)
	rightBracket = regexp.MustCompile(`\\m?right(\\\}|\}|\\\||\||\]|\)|\\rbrack|\\rgroup|\\rbrace|\\vert|\\rvert|\\rceil|\\rfloor|\\rangle|\\lrcorner|\\urcorner)`)
	permutation  = regexp.MustCompile(`\(([a-zA-Z0-9+\-*/\\ ]+?)\)_\{([a-zA-Z0-9+\-*/\\ ]+?)\}`)
	removed      = Pattern(`\\mathrm\{th\}|\\!\s*|\\text\s*\{\s*\}|\\\$|\$|(?<!\\)["']|\\displaystyle`)
	twoSlashes   = Pattern(`\\\\(?=[a-zA-Z])`)
	equals       = Pattern(`(?<!\\|<|!|>)=`)
	unitText     = regexp.MustCompile(`(\\(?:text|mbox)\{.*?\})(\^\d|\{\^\d\})?$`)
	metresEast   = regexp.MustCompile(` m east(?:s|es)?($|\W)`)
	emptyText    = regexp.MustCompile(`\\text\s*\{\s*\}`)
	rewritten    = Pattern(rewritePattern())
)

// rewrites are replaced in one pass; the first that matches at a place counts.
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
	{"percent", `\s*percent`, `\\%`}, // two backslashes, which nothing reads: as the reference has it
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

// replaced puts another text in place of what a pattern matches; a search that takes too long changes nothing.
func replaced(re *regexp2.Regexp, text string, by func(m regexp2.Match) string) string {
	out, err := re.ReplaceFunc(text, by, -1, -1)
	if err != nil {
		return text
	}
	return out
}

func always(text string) func(regexp2.Match) string {
	return func(regexp2.Match) string { return text }
}

// Normal brings LaTeX into the form that LaTeX reads. (The normalisation of latex2sympy2-extended.)
func Normal(text string, norm Norm) string {
	if norm.Boxed || norm.LastBox {
		text = boxes(text, norm.LastBox)
	}
	text = strings.NewReplacer(`\mathrm{T}`, "T", `\mathrm{d}`, "d", `{\rm d}`, "d").Replace(text)
	text = strings.NewReplacer(`\left[\begin{matrix}`, `\begin{bmatrix}`, `\end{matrix}\right]`, `\end{bmatrix}`).Replace(text)
	text = leftBracket.ReplaceAllString(text, "$1")
	text = rightBracket.ReplaceAllString(text, "$1")
	text = permutation.ReplaceAllString(text, `\frac{($1)!}{(($1)-($2))!}`)
	text = replaced(removed, text, always(""))
	text = replaced(rewritten, text, func(m regexp2.Match) string {
		for _, r := range rewrites {
			if g := m.GroupByName(r.name); g != nil && len(g.Captures) > 0 {
				return r.by
			}
		}
		return m.String()
	})
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
	if !strings.Contains(text, "matrix") {
		text = replaced(twoSlashes, text, always(`\`))
	}
	if norm.Answer {
		text = answerPart(text)
	}
	return strings.TrimFunc(text, unicode.IsSpace)
}

// answerPart drops what stands around the value and mends its operators.
func answerPart(text string) string {
	if !strings.ContainsAny(text, ",;") {
		if at, err := equals.FindAllStringIndex(text, -1); err == nil && len(at) > 1 {
			text = text[at[len(at)-1][1]:]
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
	return mended(text)
}

// mends are operators whose braces are missing.
var mends = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\^\s?\((.*?)\)`), `^{$1}`},
	{regexp.MustCompile(`sqrt\s?\((.*?)\)`), `\sqrt{$1}`},
	{regexp.MustCompile(`\\frac\s?(\d)\s?(\d+)`), `\frac{$1}{$2}`},
	{regexp.MustCompile(`\\log_\s?(\d)\s?(\d+)`), `\log_{$1}{$2}`},
	{regexp.MustCompile(`\\frac\s?\{(.*?)\}\s?(\d)`), `\frac{$1}{$2}`},
	{regexp.MustCompile(`\\frac\s?(\d)\s?\{(.*?)\}`), `\frac{$1}{$2}`},
	{regexp.MustCompile(`\\sqrt\s?(\d)`), `\sqrt{$1}`},
}

func mended(text string) string {
	for _, m := range mends {
		text = m.re.ReplaceAllString(text, m.by)
	}
	text = strings.ReplaceAll(text, " sqrt", `\sqrt`)
	return SlashFraction(bracedFractions(bracedRoots(text)))
}

// bracedRoots gives \sqrt3 its braces.
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

// BracedFractions gives \frac12 its braces. Where a \frac lacks its parts the text is otherwise.
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

var slashed = regexp.MustCompile(`^(0|-?[1-9]\d*)/(0|-?[1-9]\d*)$`)

// SlashFraction makes a \frac of a ratio of two whole numbers.
func SlashFraction(text string) string {
	return slashed.ReplaceAllString(text, `\frac{$1}{$2}`)
}

// boxes returns what \boxed or \fbox hold, from the right: all of them, or with last the last one and those that stand before it in a list.
// A box that never closes holds the rest, if it is the only one. Without a box the text stays.
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

var listed = regexp.MustCompile(`^\s*(?:and|or|,)\s*$`)

// lastBox finds the last command that boxes, and its length.
func lastBox(text string) (at, size int) {
	boxed, fbox := strings.LastIndex(text, `\boxed`), strings.LastIndex(text, `\fbox`)
	if boxed > fbox {
		return boxed, len(`\boxed`)
	}
	return fbox, len(`\fbox`)
}
