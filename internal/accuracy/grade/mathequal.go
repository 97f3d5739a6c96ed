package grade

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"aiperf/internal/mathtext"
	"aiperf/internal/pytext"
)

const (
	mathDepth  = 5    // how often an answer is taken apart
	closeValue = 1e-4 // values that differ by no more are the same
)

var (
	choiceLetter = regexp.MustCompile(`(?:^|[^\pL\pN_])([A-E])(?:$|[^\pL\pN_])`)
	choicePrefix = regexp.MustCompile(`^(?:\([A-E]\)|[A-E][.):]|\*\*[A-E]\*\*)`)
)

// sameMath compares two answers in normal form, from the plainest way to the furthest.
func sameMath(got, want string, depth int) bool {
	if depth > mathDepth {
		return false
	}
	if lower(got) == lower(want) || sameChoice(got, want) {
		return true
	}
	if p := choicePrefix.FindString(got); p != "" && sameMath(pytext.Strip(got[len(p):]), want, depth+1) {
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

func lower(s string) string { return strings.ToLower(pytext.Strip(s)) }

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
		from += at[3] // what follows a letter may stand before the next
	}
}

// sameList compares lists with commas, both sorted.
func sameList(got, want string, depth int) bool {
	if !strings.Contains(got, ",") || !strings.Contains(want, ",") {
		return false
	}
	parts := func(s string) []string {
		list := strings.Split(s, ",")
		for i := range list {
			list[i] = pytext.Strip(list[i])
		}
		slices.Sort(list)
		return list
	}
	return slices.EqualFunc(parts(got), parts(want), func(a, b string) bool { return sameMath(a, b, depth+1) })
}

// looseNumber reads a number; commas are left out, a percent sign divides.
func looseNumber(s string) (float64, bool) {
	s = mathtext.ASCIIDigits(pytext.Strip(strings.ReplaceAll(s, ",", "")))
	if v, ok := float(s); ok {
		return v, true
	}
	if rest, ok := strings.CutSuffix(s, "%"); ok {
		v, ok := float(strings.TrimSuffix(rest, `\`))
		return v / 100, ok
	}
	return 0, false
}

// near tells whether two values are the same within the tolerances.
func near(a, b float64) bool {
	if a == b {
		return true
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= math.Max(1e-9*math.Max(math.Abs(a), math.Abs(b)), closeValue)
}

// sameBare compares the texts without braces and brackets around them.
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
	short := func(left string) bool { return len([]rune(pytext.Strip(left))) <= 2 }
	switch {
	case inGot == 1 && inWant == 1:
		difference := func(left, right string) string { return pytext.Strip(left) + " - (" + pytext.Strip(right) + ")" }
		return sameFormula(difference(gotLeft, gotRight), difference(wantLeft, wantRight))
	case inGot == 1 && inWant == 0 && short(gotLeft):
		return sameMath(gotRight, want, depth+1)
	case inWant == 1 && inGot == 0 && short(wantLeft):
		return sameMath(got, wantRight, depth+1)
	}
	return false
}

// sameFormula compares what both sides mean.
func sameFormula(got, want string) bool {
	a, b := readMath(got), readMath(want)
	return a != nil && b != nil && mathtext.SameFormula(a, b, closeValue)
}

// readMath reads an expression of a program, else LaTeX; nil = neither.
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
