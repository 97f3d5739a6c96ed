package grade

import (
	"strings"
	"sync"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/workload/accuracy/mathtext"
	"aiperf/internal/workload/accuracy/pystring"
)

// unitWords are words that follow values in school problems and do not change them (the list of MathQA). A dot matches any character.
const unitWords = `east|degree|mph|kmph|ft|m square| m east|sq m|deg|mile|q .|monkey|prime|ratio|profit of rs|rd|o|gm|p . m|lb|tile|per|dm|lt|gain|ab|way|` +
	`west|a .|b .|c .|d .|e .|f .|g .|h .|t|a|h|no change|men|soldier|pie|bc|excess|st|inches|noon|percent|by|gal|kmh|c|acre|rise|a . m|th|π r 2|sq|mark|l|` +
	`toy|coin|sq . m|gallon|° f|profit|minw|yr|women|feet|am|pm|hr|cu cm|square|v â € ™|are|rupee|rounds|cubic|cc|mtr|s|ohm|number|kmph|day|hour|minute|` +
	`min|second|man|woman|sec|cube|mt|sq inch|mp|∏ cm ³|hectare|more|sec|unit|cu . m|cm 2|rs .|rs|kg|g|month|km|m|cm|mm|apple|liter|loss|yard|pure|year|` +
	`increase|decrease|d|less|Surface|litre|pi sq m|s .|metre|meter|inch`

// unit is the pattern of a unit word, with its replacement.
type unit struct {
	re *lazyregexp.Regexp
	by string
}

// units are compiled when an answer needs them: that takes 100 ms, for which every command would wait.
var units = sync.OnceValue(unitPatterns)

// unitPatterns returns the words, followed by their plurals. A word must not touch other word characters. A single letter, which is often a variable,
// counts only after a number and a space.
func unitPatterns() []unit {
	const apart = `[^\pL\pN_]`
	words := strings.Split(unitWords, "|")
	var list []unit
	for _, plural := range []string{"", "s"} {
		for _, w := range words {
			before := `(^|` + apart + `)`
			if len(w) == 1 {
				before = `(\p{Nd}[\s\p{Z}]+)`
			}
			list = append(list, unit{lazyregexp.New(before + w + plural + `($|` + apart + `)`), "$1$2"})
		}
	}
	return list
}

var (
	arrayBegin   = lazyregexp.New(`\\begin\{array\}\{.*?\}`)
	trailingText = lazyregexp.New(`\\text\{.*?\}$`)
	anyText      = lazyregexp.New(`\\text\{(.*?)\}`)
	mbox         = lazyregexp.New(`\\mbox\{.*?\}`)
	month        = lazyregexp.New(`(?i)\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b`)
	zerosInside  = lazyregexp.New(`(\p{Nd}+)\.0*([^\p{Nd}])`)
	zerosAtEnd   = lazyregexp.New(`(\p{Nd}+)\.0*$`)
	rootOfWord   = lazyregexp.New(`\\sqrt([\pL\pN_]+)`)
)

// normalMath converts an answer to the form in which answers are compared. It removes units, currency and percent signs, spaces, and leading variable
// names. Fractions, roots, matrices and infinity get one spelling.
func normalMath(s string) string {
	s = strings.TrimRight(strings.ReplaceAll(pystring.Strip(s), "\n", ""), ".")
	s = strings.ReplaceAll(s, `\!`, "")
	s = arrayBegin.ReplaceAllString(s, `\begin{pmatrix}`)
	s = strings.NewReplacer(`\end{array}`, `\end{pmatrix}`, "bmatrix", "pmatrix", "tfrac", "frac", "dfrac", "frac").Replace(s)
	s = strings.NewReplacer(`\neq`, `\ne`, `\leq`, `\le`, `\geq`, `\ge`).Replace(s)
	s = strings.NewReplacer(`\left`, "", `\right`, "").Replace(s)
	s = strings.NewReplacer(`\{`, "{", `\}`, "}").Replace(s)
	if bare := pystring.Strip(trailingText.ReplaceAllString(s, "")); bare != "" {
		s = bare
	}
	for _, u := range units() {
		if bare := u.re.ReplaceAllString(s, u.by); bare != "" {
			s = bare
		}
	}
	for _, drop := range []string{`^{\circ}`, `^\circ`, `\$`, `$`, `\(`, `\)`} {
		s = strings.ReplaceAll(s, drop, "")
	}
	s = anyText.ReplaceAllString(s, "$1")
	for _, name := range []string{"x=", "y=", "z=", `x\in`, `y\in`, `z\in`, `x\to`, `y\to`, `z\to`} {
		s = strings.ReplaceAll(s, name, "")
	}
	s = strings.ReplaceAll(s, `\emptyset`, "{}")
	s = strings.ReplaceAll(s, `(-\infty,\infty)`, `\mathbb{R}`)
	s = strings.NewReplacer(`\%`, "", "%", "").Replace(s)
	s = month.ReplaceAllString(s, "")
	s = strings.NewReplacer(" .", " 0.", "{.", "{0.").Replace(s)
	s = strings.ReplaceAll(s, "infinity", `\infty`)
	if !strings.Contains(s, `\infty`) {
		s = strings.ReplaceAll(s, "inf", `\infty`)
	}
	s = strings.NewReplacer("and", "", `\mathbf`, "").Replace(s)
	s = mbox.ReplaceAllString(s, "")
	if !strings.Contains(s, "i") {
		s = strings.ReplaceAll(s, "j", "i")
	}
	s = zerosAtEnd.ReplaceAllString(zerosInside.ReplaceAllString(s, "$1$2"), "$1")
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if left, right, ok := strings.Cut(s, "="); ok && len([]rune(left)) <= 2 && !strings.Contains(right, "=") {
		s = right
	}
	s = rootOfWord.ReplaceAllString(s, `\sqrt{$1}`)
	s = strings.ReplaceAll(s, " ", "")
	return slashMath(mathtext.BracedFractions(s, s))
}

var wholeOrRoot = lazyregexp.New(`^[+-]?\p{Nd}+(?:_\p{Nd}+)*$`)

// slashMath converts a ratio of whole numbers or roots to \frac.
func slashMath(s string) string {
	a, b, ok := strings.Cut(s, "/")
	if !ok || strings.Contains(b, "/") {
		return s
	}
	whole := func(t string) (string, bool) {
		if strings.Contains(t, "sqrt") {
			return t, true
		}
		n := strings.ReplaceAll(mathtext.ASCIIDigits(t), "_", "")
		sign := ""
		if strings.HasPrefix(n, "-") {
			sign = "-"
		}
		n = strings.TrimLeft(strings.TrimLeft(n, "+-"), "0")
		if n == "" {
			n, sign = "0", ""
		}
		return sign + n, wholeOrRoot.MatchString(t)
	}
	x, ok1 := whole(a)
	y, ok2 := whole(b)
	if !ok1 || !ok2 {
		return s
	}
	return `\frac{` + x + `}{` + y + `}`
}
