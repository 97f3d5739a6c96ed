package grade

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/workload/accuracy/mathtext"
	"aiperf/internal/workload/accuracy/pystring"
)

const (
	mathDepth  = 5    // maximum recursion depth for the parts of an answer
	closeValue = 1e-4 // tolerance for equal values
)

var (
	choiceLetter = lazyregexp.New(`(?:^|[^\pL\pN_])([A-E])(?:$|[^\pL\pN_])`)
	choicePrefix = lazyregexp.New(`^(?:\([A-E]\)|[A-E][.):]|\*\*[A-E]\*\*)`)
)

// sameMath compares two answers in normal form, from the simplest method to the most general.
func sameMath(got, want string, depth int) bool {
	if depth > mathDepth {
		return false
	}
	if lower(got) == lower(want) || sameChoice(got, want) {
		return true
	}
	if p := choicePrefix.FindString(got); p != "" && sameMath(pystring.Strip(got[len(p):]), want, depth+1) {
		return true
	}
	if sameList(got, want, depth) {
		return true
	}
	x, okX := looseNumber(got)
	y, okY := looseNumber(want)
	if okX && okY {
		return near(x, y/100) || near(x, y) || near(x, y*100)
	}
	if got == "" {
		return false
	}
	return sameBare(got, want) || sameEquation(got, want, depth) || sameFormula(got, want)
}

func lower(s string) string { return strings.ToLower(pystring.Strip(s)) }

// sameChoice compares the last letter of a choice with a gold letter.
func sameChoice(got, want string) bool {
	if len(want) != 1 || want[0] < 'A' || want[0] > 'E' {
		return false
	}
	text := strings.ToUpper(strings.TrimLeft(strings.Trim(strings.TrimRight(strings.TrimRight(strings.Trim(got, "\n"), "."), "/"), " "), ":"))
	last := ""
	for from := 0; ; {
		at := choiceLetter.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return last == want
		}
		last = text[from+at[2] : from+at[3]]
		from += at[3] // the character after a letter may precede the next letter
	}
}

// sameList compares comma-separated lists, both sorted.
func sameList(got, want string, depth int) bool {
	if !strings.Contains(got, ",") || !strings.Contains(want, ",") {
		return false
	}
	parts := func(s string) []string {
		list := strings.Split(s, ",")
		for i := range list {
			list[i] = pystring.Strip(list[i])
		}
		slices.Sort(list)
		return list
	}
	return slices.EqualFunc(parts(got), parts(want), func(a, b string) bool { return sameMath(a, b, depth+1) })
}

// looseNumber parses a number; commas are ignored, and a percent sign divides by 100.
func looseNumber(s string) (float64, bool) {
	s = mathtext.ASCIIDigits(pystring.Strip(strings.ReplaceAll(s, ",", "")))
	if v, ok := float(s); ok {
		return v, true
	}
	if rest, ok := strings.CutSuffix(s, "%"); ok {
		v, ok := float(strings.TrimSuffix(rest, `\`))
		return v / 100, ok
	}
	return 0, false
}

// near reports whether two values are equal within the tolerances.
func near(a, b float64) bool {
	if a == b {
		return true
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= math.Max(1e-9*math.Max(math.Abs(a), math.Abs(b)), closeValue)
}

// sameBare compares the texts without surrounding braces and brackets.
func sameBare(got, want string) bool {
	square := strings.HasPrefix(got, "[") && strings.HasSuffix(got, "]") && !strings.HasPrefix(want, "(")
	round := strings.HasPrefix(got, "(") && strings.HasSuffix(got, ")") && !strings.HasPrefix(want, "[")
	if square || round {
		got, want = strings.Trim(got, "[]()"), strings.Trim(want, "[]()")
	}
	bare := strings.NewReplacer("{", "", "}", "", "(", "", ")", "")
	return strings.EqualFold(bare.Replace(got), bare.Replace(want))
}

// sameEquation compares a = b with c = d as differences, and x = v with v.
func sameEquation(got, want string, depth int) bool {
	inGot, inWant := strings.Count(got, "="), strings.Count(want, "=")
	gotLeft, gotRight, _ := strings.Cut(got, "=")
	wantLeft, wantRight, _ := strings.Cut(want, "=")
	short := func(left string) bool { return len([]rune(pystring.Strip(left))) <= 2 }
	switch {
	case inGot == 1 && inWant == 1:
		difference := func(left, right string) string { return pystring.Strip(left) + " - (" + pystring.Strip(right) + ")" }
		return sameFormula(difference(gotLeft, gotRight), difference(wantLeft, wantRight))
	case inGot == 1 && inWant == 0 && short(gotLeft):
		return sameMath(gotRight, want, depth+1)
	case inWant == 1 && inGot == 0 && short(wantLeft):
		return sameMath(got, wantRight, depth+1)
	}
	return false
}

// sameFormula compares the meaning of both sides.
func sameFormula(got, want string) bool {
	a, b := readMath(got), readMath(want)
	return a != nil && b != nil && mathtext.SameFormula(a, b, closeValue)
}

// readMath parses a program expression, otherwise LaTeX; nil = neither.
func readMath(s string) *mathtext.Node {
	for _, text := range []string{strings.ReplaceAll(s, `\\`, `\`), s} {
		if n, err := mathtext.Plain(text); err == nil {
			return n
		}
	}
	for _, text := range []string{strings.ReplaceAll(s, `\\`, `\`), s} {
		if n, err := mathtext.LaTeX(mathtext.Normal(text, mathtext.Norm{Boxed: true})); err == nil {
			return n
		}
	}
	return nil
}
