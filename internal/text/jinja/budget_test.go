package jinja

import (
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// heavy are templates that are small to write and that nobody could render: each one is an error, whatever it multiplies.
var heavy = map[string]string{
	"repeat":                  `{{ 'x' * 10000000000 }}`,
	"repeat at the overflow":  `{{ 'xx' * 9223372036854775807 }}`,
	"repeated list":           `{{ [1] * 10000000000 }}`,
	"list of a repeat":        `{{ ('x' * 30000000) | list | length }}`,
	"center":                  `{{ 'a'.center(1000000000) }}`,
	"center filter":           `{{ 'a' | center(1000000000) }}`,
	"ljust":                   `{{ 'a'.ljust(1000000000) }}`,
	"zfill":                   `{{ 'a'.zfill(1000000000) }}`,
	"wide fill":               `{{ 'a'.center(100000, 'x' * 1000000) }}`,
	"nested ranges":           `{% for i in range(99999) %}{% for j in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}{% endfor %}`,
	"ranges in a macro":       `{% macro m(n) %}{% for i in range(99999) %}{{ m(n) }}{% endfor %}{% endmacro %}{{ m(1) }}`,
	"doubling by +":           `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = n.a + n.a %}{% endfor %}`,
	"doubling by ~":           `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = n.a ~ n.a %}{% endfor %}`,
	"doubling by format":      `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = '%s%s' % (n.a, n.a) %}{% endfor %}`,
	"doubling by str.format":  `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = '{0}{0}'.format(n.a) %}{% endfor %}`,
	"doubling by replace":     `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = n.a | replace('x', 'xx') %}{% endfor %}`,
	"doubling by join":        `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = [n.a, n.a] | join %}{% endfor %}`,
	"doubling by str.join":    `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = n.a.join(['', n.a, '']) %}{% endfor %}`,
	"doubling by sum":         `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = [n.a, n.a] | sum(start='') %}{% endfor %}`,
	"doubling of lists":       `{% set n = namespace(a=[1, 2]) %}{% for i in range(99) %}{% set n.a = n.a + n.a %}{% endfor %}`,
	"doubling of tuples":      `{% set n = namespace(a=(1, 2)) %}{% for i in range(99) %}{% set n.a = n.a + n.a %}{% endfor %}`,
	"doubling of blocks":      `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set b %}{{ n.a }}{{ n.a }}{% endset %}{% set n.a = b %}{% endfor %}`,
	"doubling by tojson":      `{% set n = namespace(a='""""""""') %}{% for i in range(99) %}{% set n.a = n.a | tojson %}{% endfor %}`,
	"doubling by escape":      `{% set n = namespace(a='&&&&') %}{% for i in range(99) %}{% set n.a = (n.a ~ n.a) | e %}{% endfor %}`,
	"doubling by urlencode":   `{% set n = namespace(a='%%%%') %}{% for i in range(99) %}{% set n.a = (n.a ~ n.a) | urlencode %}{% endfor %}`,
	"doubling by indent":      `{% set n = namespace(a='x\nx\nx') %}{% for i in range(99) %}{% set n.a = n.a | indent(n.a, true, true) %}{% endfor %}`,
	"doubling by truncate":    `{% set n = namespace(a='xxxxxxxx') %}{% for i in range(99) %}{% set n.a = (n.a ~ n.a) | truncate(30000000, true, n.a) %}{% endfor %}`,
	"wide indent":             `{{ ('x\n' * 1000000) | indent(1000, true, true) }}`,
	"indent of JSON":          `{{ [[[[[[[[1]]]]]]]] | tojson(indent='x' * 30000000) }}`,
	"escapes of JSON":         `{{ ('"' * 30000000) | tojson }}`,
	"join of many":            `{{ (['x' * 1000000] * 1000000) | join }}`,
	"wide separator":          `{{ range(99999) | join('x' * 1000000) }}`,
	"growing map":             `{{ range(99999) | map('string') | map('center', 10000000) | list }}`,
	"width by name":           `{{ ('%(a)999999s' * 1000) % {'a': 1} }}`,
	"split in characters":     `{{ ('x ' * 15000000).split() | length }}`,
	"split by text":           `{{ ('x,' * 15000000).split(',') | length }}`,
	"rsplit":                  `{{ ('x,' * 15000000).rsplit(',', 100000000) | length }}`,
	"splitlines":              `{{ ('\n' * 30000000).splitlines() | length }}`,
	"reverse":                 `{{ ('x' * 30000000) | reverse | length }}`,
	"running total of text":   `{{ (['x' * 1000] * 100000) | sum(start='') | length }}`,
	"running total of lists":  `{{ ([[1, 2, 3]] * 100000) | sum(start=[]) | length }}`,
	"output without end":      `{% for i in range(99999) %}` + strings.Repeat("x", 10_000) + `{% endfor %}`,
	"output in macros":        `{% macro m(n) %}{% for i in range(9999) %}` + strings.Repeat("x", 1000) + `{% endfor %}{{ m(n) }}{% endmacro %}{{ m(1) }}`,
	"recursion":               `{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}`,
	"recursive loop":          `{% for i in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}`,
	"lists kept in a list":    `{% set n = namespace(a=[]) %}{% for i in range(99999) %}{% set n.a = n.a + [range(99999)] %}{% endfor %}`,
	"dicts copied in a loop":  `{% set n = namespace(a={}) %}{% for i in range(99999) %}{% set n.a = dict(n.a, **{i | string: 1}) %}{{ n.a | length }}{% for j in range(99999) %}{% set b = dict(n.a) %}{% endfor %}{% endfor %}`,
	"search in a long list":   `{% set a = [0] * 1000000 %}{% for i in range(99999) %}{% if 1 in a %}{% endif %}{% endfor %}{% for i in range(99999) %}{% for j in range(99999) %}{% if 1 in a %}{% endif %}{% endfor %}{% endfor %}`,
	"lower case of long text": `{% set a = 'X' * 30000000 %}{% for i in range(99999) %}{% set b = a | lower %}{% endfor %}`,
}

// TestHeavyTemplates: a small template with a huge result is an error and does not use up the memory.
func TestHeavyTemplates(t *testing.T) {
	testhome.Slow(t)
	for name, src := range heavy {
		t.Run(name, func(t *testing.T) {
			got, err := render(Chat(), src, nil)
			if err == nil {
				t.Fatalf("no error, %d bytes", len(got))
			}
			t.Log(err)
		})
	}
	if _, err := Chat().Parse(strings.Repeat("x", maxSource+1)); err == nil || !strings.Contains(err.Error(), "at most 4194304 are allowed") {
		t.Errorf("a template of 4 MiB: %v", err)
	}
}

// TestNothingRepeated: repeating an empty text gives an empty text, at once.
func TestNothingRepeated(t *testing.T) {
	for src, want := range map[string]string{
		`{{ [] * 1000000000000000000 }}`: "[]", `{{ '' * 1000000000000000000 }}`: "", `{{ 'x' * -1 }}`: "", `{{ [1] * -5 }}`: "[]",
		`{{ 'ab' * 3 }}`: "ababab", `{{ [1, 2] * 2 }}`: "[1, 2, 1, 2]", `{{ 'a'.center(5, '*') }}`: "**a**", `{{ 'a,b,c'.rsplit(',', 1) }}`: "['a,b', 'c']",
		`{{ ['b', 'A', 'c'] | min }}{{ ['b', 'A', 'c'] | max }}`: "Ac", `{{ 'some words  here' | wordcount }}`: "3",
	} {
		if got, err := render(Chat(), src, nil); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", src, got, err, want)
		}
	}
}
