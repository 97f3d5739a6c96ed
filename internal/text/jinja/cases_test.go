package jinja

import (
	"encoding/json"
	"os"
	"testing"
)

// TestCases renders small templates as a plain environment and as one that trims blocks, and compares with what Python's jinja2 made
// of them (testdata/oracle.py). Where Python fails, ours must fail.
func TestCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vars  json.RawMessage
		Cases []struct {
			Src         string
			Plain, Trim *string
			PlainError  string `json:"plain_error"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) < 50 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		for name, e := range map[string]struct {
			env  *Environment
			want *string
		}{"plain": {&Environment{}, c.Plain}, "trim": {&Environment{TrimBlocks: true, LstripBlocks: true}, c.Trim}} {
			v, err := FromJSON(file.Vars)
			if err != nil {
				t.Fatal(err)
			}
			vars := map[string]Value{}
			for _, k := range v.(*Dict).Keys() {
				vars[k.(string)], _ = v.(*Dict).Get(k)
			}
			got, err := render(e.env, c.Src, vars)
			switch {
			case e.want == nil && err == nil:
				t.Errorf("%s %q: got %q, want an error (%s)", name, c.Src, got, c.PlainError)
			case e.want != nil && err != nil:
				t.Errorf("%s %q: %v", name, c.Src, err)
			case e.want != nil && got != *e.want:
				t.Errorf("%s %q\n got %q\nwant %q", name, c.Src, got, *e.want)
			}
		}
	}
}

func render(e *Environment, src string, vars map[string]Value) (string, error) {
	t, err := e.Parse(src)
	if err != nil {
		return "", err
	}
	return t.Render(vars)
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"{{ a }}", "{% for x in y %}{{ loop.index }}{% endfor %}", "{{ 'a' * 3 | upper }}", "{# c #}{% raw %}x{% endraw %}",
		"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1) }}", "{{ {'a': [1, (2,)]} | tojson }}", "{% set ns = namespace(a=1) %}{% set ns.a = 2 %}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 300 {
			return
		}
		chat := Chat()
		chat.MaxSteps = 50_000
		_, _ = render(chat, src, map[string]Value{"y": int64(3)})
		_, _ = render(&Environment{MaxSteps: 50_000}, src, nil)
	})
}
