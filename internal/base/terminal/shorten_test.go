package terminal

import "testing"

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "ab…efg"}, {"abcdefg", 0, "a…g"}, {"", 0, ""}, {"ääääöööö", 5, "ää…öö"}} {
		if got := Shorten(c.text, c.most); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
