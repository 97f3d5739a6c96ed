package mathtext

import (
	"strings"
	"testing"
)

// TestEqual: pairs that say the same, and pairs that just do not. (What latex2sympy2-extended and lighteval 0.13 make of them, but for the last group.)
func TestEqual(t *testing.T) {
	for _, c := range []struct {
		gold, answer string
		want         bool
	}{
		{"5", "05", true},
		{"5", "5.00000", true},
		{"5", "5.0001", false},
		{`\frac{1}{3}`, "0.33333", true},
		{`\frac{1}{3}`, "0.333", false},
		{"0.5", `50\%`, true},
		{"50", `50\%`, false},
		{"1234", "1,234", true},
		{"1234", "1, 234", false},
		{"999999999999999999999", "999999999999999999998", false},
		{`2\sqrt{3}`, `\sqrt{12}`, true},
		{`2\sqrt{3}`, "3.4641016", false},
		{`\frac{5}{2}`, `2 \frac{1}{2}`, true},
		{"x^2-1", "(x-1)(x+1)", true},
		{"x^2-1", "(x-1)(x+2)", false},
		{"x+1", `\frac{x^2-1}{x-1}`, true},
		{"|x|", `\sqrt{x^2}`, true},
		{"x", `\sqrt{x^2}`, false},
		{"1", `\sin^2 x + \cos^2 x`, true},
		{"3", `\log_{2} 8`, true},
		{"3", `\log_{2} 9`, false},
		{"10", `\binom{5}{2}`, true},
		{"6", `\sum_{i=1}^{3} i`, true},
		{`\frac{1}{2}x`, `\frac{x}{2}`, true},
		{"1/(2x)", "1/2x", true},
		{"5", "x=5", true},
		{"x=5", "5", true},
		{"y=2x+1", "y=1+2x", true},
		{"x+y=2", "2=x+y", true},
		{"x+y=2", "2x+2y=4", false},
		{`x \ge 3`, `3 \le x`, true},
		{`x \ge 3`, "x > 3", false},
		{"1 < x < 2", "2 > x > 1", true},
		{"x > 3", `(3,\infty)`, true},
		{`(3,\infty)`, "x > 3", false},
		{"1 < x < 2", "(1,2)", true},
		{"1,2", `\{2,1\}`, true},
		{"1,2", `\{2,1,3\}`, false},
		{"3,-3", "x=3,x=-3", true},
		{"x=3,-3", "3,-3", true},
		{"(1,2)", "(2,1)", false},
		{"(2,1)", "(2,1)", true},
		{"1,2", "(1,2)", true},
		{"[1,2]", "(1,2]", false},
		{"[1,2]", "[1,1+1]", true},
		{`(-\infty,\infty)`, `\mathbb{R}`, true},
		{`[0,3]`, `[0,2]\cup[1,3]`, true},
		{`[0,1)`, `[0,2]\setminus[1,3]`, true},
		{`[1,2]`, `[0,2]\cap[1,3]`, true},
		{`\{1,2\}`, `\{1\}\cup\{2\}`, true},
		{`\emptyset`, "{}", true},
		{`4 - \sqrt{2}, 4+\sqrt{2}`, `4 \pm \sqrt{2}`, true},
		{`\begin{pmatrix}1\\2\end{pmatrix}`, `\begin{bmatrix}1\\2\end{bmatrix}`, true},
		{`\begin{pmatrix}1\\2\end{pmatrix}`, `\begin{pmatrix}1&2\end{pmatrix}`, false},
		{`\begin{pmatrix}2\\4\end{pmatrix}`, `2\begin{pmatrix}1\\2\end{pmatrix}`, true},
		{"-2", `\begin{vmatrix}1&2\\3&4\end{vmatrix}`, true},
		{`\text{Evelyn}`, "Evelyn", true},
		{`\text{Evelyn}`, "Eve", false},
		{"f(x)+1", "1+f(x)", true},
		{"f(x)", "g(x)", false},
		{"10^{100}", "10^{101}", false},
		{`\int x dx`, `\int x dx`, true},
		{`\int x dx`, `\int y dy`, false},
		// A product, where the reference adds.
		{"6", "2(3)", true},
		{"5", "2(3)", false},
	} {
		gold, err := LaTeX(c.gold)
		if err != nil {
			t.Errorf("%s: %v", c.gold, err)
			continue
		}
		answer, err := LaTeX(c.answer)
		if err != nil {
			t.Errorf("%s: %v", c.answer, err)
			continue
		}
		if got := Equal(gold, answer, 5); got != c.want {
			t.Errorf("%s = %s: %v, want %v (%s, %s)", c.gold, c.answer, got, c.want, gold.Key(), answer.Key())
		}
	}
}

// TestNotUnderstood: a text that is not a formula is recognised at once.
func TestNotUnderstood(t *testing.T) {
	for _, s := range []string{
		"", `\`, "5.", "x+", "(1", "1)", `\frac{1}`, `\begin{cases} x & y \end{cases}`, `\begin{pmatrix}1&2\\3\end{pmatrix}`, "x^", "|x", "[1,2,3)",
		"5°", "答", `\unknown`, "{1", `\{x | x>1\}`, strings.Repeat("(", 100_000), strings.Repeat("(", 60) + "5" + strings.Repeat(")", 60),
	} {
		if n, err := LaTeX(s); err == nil {
			t.Errorf("%.40q: %.80s", s, n.Key())
		}
	}
}

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		"3-5": "-2", "10/12": "5/6", "2**10": "1024", "5!": "120", "3^2": "1", "-2**2": "-4", "7//2": "3", "7%4": "3", "1e3": "1000", "sqrt(16)": "4", "Abs(-3)": "3",
	} {
		n, err := Plain(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if v, ok := n.exact(); !ok || v.RatString() != want {
			t.Errorf("%s: %v, want %s", s, v, want)
		}
	}
	for _, s := range []string{"", "2x", "05-1", "(1)(2)", "x y", "x^2", "3×5", "if", "1e9999", "f("} {
		if n, err := Plain(s); err == nil {
			t.Errorf("%q: %s", s, n.Key())
		}
	}
}

// TestTowers: powers beyond all bounds end at once, and are equal only to themselves.
func TestTowers(t *testing.T) {
	tower, err := LaTeX("9^{9^{9^{9}}}")
	if err != nil {
		t.Fatal(err)
	}
	other, err := LaTeX("9^{9^{9^{8}}}")
	if err != nil {
		t.Fatal(err)
	}
	if !Equal(tower, tower, 5) || Equal(tower, other, 5) || SameFormula(tower, other, 1e-4) {
		t.Error("a tower of powers has no value to compare")
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		`\boxed{5}`: "5", `\boxed{1}, \boxed{2}`: "1,2", `\frac12`: `\frac{1}{2}`, `\tfrac{1}2`: `\frac{1}{2}`, `\sqrt3`: `\sqrt{3}`, "3/4": `\frac{3}{4}`,
		`5\text{ cm}^2`: "5", `\text{cm}`: `\text{cm}`, "a=b=c": "c", "a=b": "a=b", ".5": `\frac{1}{2}`, "0.5": `\frac{1}{2}`, `x \text{ or } y`: "x ; y", `1{,}000`: "1,000",
		`\left(1,2\right)`: "(1,2)", "infinity": `\infty`, `\$5`: "5", `\\frac{1}{2}`: `\frac{1}{2}`, `\boxed{5`: "{5",
	} {
		if got := Normal(in, Norm{Boxed: true, Answer: true}); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := Normal(`\boxed{1} no, \boxed{2}, \boxed{3}`, Norm{LastBox: true}); got != "2,3" {
		t.Errorf("last box: %q", got)
	}
}

// TestSameFormula: infinite values are near no other, the elements of sets have no order, and a number may stand in a text.
func TestSameFormula(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"7", `\infty`, false}, {"7", `-\infty`, false}, {`\infty`, `-\infty`, false}, {`\infty`, `\infty`, true}, {`\infty`, `\infty+7`, true}, {`\infty`, `2\infty`, true},
		{`-\infty`, `-2\infty`, true}, {`\infty`, `\infty-\infty`, false}, {"0", `0\infty`, false}, {"7", `\frac{1}{0}`, false}, {"x", `\infty`, false},
		{`\{1,2\}`, `\{2,1\}`, true}, {`\{1,2\}`, `\{2,1,1\}`, true}, {`\{1,2\}`, `\{1,3\}`, false}, {`\{1,2\}`, "(1,2)", false}, {`\{\frac{1}{2}\}`, `\{0.5\}`, false},
		{`(1,2)\cup(3,4)`, `(3,4)\cup(1,2)`, true}, {`(1,2)\cup(3,4)`, `[3,4]\cup(1,2)`, false}, {`(-\infty,1)\cup(2,\infty)`, `(2,\infty)\cup(-\infty,1)`, true},
		{`(-\infty,1)`, `(-\infty,1]`, false}, {`(1,\infty)`, `(1,+\infty)`, true}, {`\emptyset`, `\emptyset`, true}, {`\emptyset`, `\{0\}`, false}, {`\emptyset`, "0", false},
		{"5", `\text{5}`, true}, {"5", `\text{ 5 }`, true}, {"-5", `\text{-5}`, true}, {"5", `\mbox{6}`, false}, {"5", `\text{x}`, false},
		{"1000", "1 000", false}, {"0", "1 000", false}, {"1", "1 000", false}, {"234", `1\,234`, false}, {"1 000", "1 000", true}, {"6", "2 3", false}, {"1000", "1,000", true},
	} {
		a, err := LaTeX(c.a)
		if err != nil {
			t.Fatal(c.a, err)
		}
		b, err := LaTeX(c.b)
		if err != nil {
			t.Fatal(c.b, err)
		}
		for _, got := range []bool{SameFormula(a, b, 1e-4), SameFormula(b, a, 1e-4)} {
			if got != c.want {
				t.Errorf("%s and %s: %v, want %v (%s, %s)", c.a, c.b, got, c.want, a.Key(), b.Key())
			}
		}
	}
}
