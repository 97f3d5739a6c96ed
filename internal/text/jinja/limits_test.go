package jinja

import (
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// Templates that are small to write and endless to run end with an error, and soon.
func TestEndlessTemplatesAreRefused(t *testing.T) {
	testhome.Slow(t)
	for name, src := range map[string]string{
		"big string, many times":    `{% set a = 'x' * 60000000 %}{% for i in range(100000) %}{% if a | upper | length %}{% endif %}{% endfor %}`,
		"loops in loops":            `{% for i in range(100000) %}{% for j in range(100000) %}{% for k in range(100000) %}{% endfor %}{% endfor %}{% endfor %}`,
		"conditions of a loop":      `{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}`,
		"a list in itself, printed": `{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}`,
		"and as JSON":               `{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a | tojson }}`,
		"and compared": `{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}` +
			`{% endfor %}{{ n.a == n.b }}`,
		"doubling":      `{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}{{ n.a | length }}`,
		"joining":       `{{ (['x' * 60000000] * 1000000) | join | length }}`,
		"replacing":     `{{ ('x' * 10000000) | replace('x', 'y' * 10000000) | length }}`,
		"mapping":       `{{ (['x' * 60000000] * 1000000) | map('upper') | list | length }}`,
		"sorting":       `{{ (['x' * 60000000] * 1000000) | sort | length }}`,
		"empty inserts": `{{ ('x' * 60000000) | replace('', 'yyyy') | length }}`,
	} {
		start, env := time.Now(), Chat()
		env.MaxSteps = 300_000
		got, err := render(env, src, nil)
		if err == nil {
			t.Errorf("%s: no error, %d bytes", name, len(got))
		}
		t.Logf("%-26s %v: %v", name, time.Since(start).Round(time.Millisecond), err)
	}
}
