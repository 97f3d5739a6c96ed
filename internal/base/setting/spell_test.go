package setting

import "testing"

func TestSpell(t *testing.T) {
	flags := Spell(func(key string) string { return "--" + key })
	for _, c := range []struct {
		spell      Spell
		text, want string
	}{
		{nil, "check {endpoint.api_key}, or {tables}", "check endpoint.api_key, or tables"},
		{flags, "check {endpoint.api_key}, or {tables}", "check --endpoint.api_key, or --tables"},
		{flags, `{"a":{}} {A} { b}`, `{"a":{}} {A} { b}`},
	} {
		if got := c.spell.Text(c.text); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
