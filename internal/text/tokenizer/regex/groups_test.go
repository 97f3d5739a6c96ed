package regex

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/budget"
)

// TestAll: every match, with what its named groups matched last; a group that did not match, or only in an attempt that failed later, is empty.
func TestAll(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`(?<n>\d+)(?<unit>[a-z]+)?`, "12ab 3 c", "12ab n=12 unit=ab|3 n=3"},
		{`(?:(?<a>x+)y|(?<b>x+)z)`, "xxz", "xxz b=xx"},
		{`(?<a>.)*c`, "abc", "abc a=b"},
		{`(?:(?<a>a)|b)+`, "ab", "ab a=a"},
		{`(?<a>a*?)(?<b>b|$)`, "aab b", "aab a=aa b=b|b b=b"},
		{`(?P<a>é)(?=(?:x))`, "éxé", "é a=é"},
		{`(?<a>x)?(?=y)|z`, "yz", "z"}, // the first match is empty
		{`(?<!\\|\d)\$(?<a>[^$]+)\$`, `1$2$ $a$ \$b$`, "$a$ a=a"},
		{`(?<=ab|c)d`, "abd cd d", "d|d"},
		{`(?<=a.{0,3})d`, "abbbd abbbbd", "d"},
		{`(?<=a+)d`, strings.Repeat("a", 50) + "d", "d"},
		{`(?:ab|c)+d`, "abcabd", "abcabd"},
		{`(?:(?:ab)*|c)+d`, "ababcd", "ababcd"},
	} {
		re, err := CompileGroups(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		all, err := re.All(nil, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		}
		var list []string
		for _, f := range all {
			if f.Text != c.text[f.Begin:f.End] {
				t.Errorf("%s: %q is not at %d to %d of %q", c.pattern, f.Text, f.Begin, f.End, c.text)
			}
			one := f.Text
			for _, name := range re.groups {
				if g := f.Group(name); g != "" {
					one += fmt.Sprintf(" %s=%s", name, g)
				}
			}
			list = append(list, one)
		}
		if got := strings.Join(list, "|"); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

// TestNestedGroups: a group in a look-around is an error only if groups are recorded.
func TestNestedGroups(t *testing.T) {
	for _, pattern := range []string{`a(?=(?<x>b))`, `(?>(?<x>b))`, `(?:(?<x>b))*+`} {
		if _, err := CompileGroups(pattern); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: %v", pattern, err)
		}
		if _, err := Compile(pattern); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestAllWithinBudget: a search that needs more steps than allowed returns the error of its budget.
func TestAllWithinBudget(t *testing.T) {
	re, err := CompileGroups(`(?<a>a*)*b`)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := re.All(budget.New(budget.Limits{Steps: 100_000}), strings.Repeat("a", 100_000)); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
