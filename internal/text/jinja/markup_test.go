package jinja

import (
	"encoding/json"
	"os"
	"testing"
)

// TestAutoEscape compares with recordings of jinja2 3.1.6 with autoescape=True.
func TestAutoEscape(t *testing.T) {
	raw, err := os.ReadFile("testdata/autoescape.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][2]string
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) < 20 {
		t.Fatal(len(cases), err)
	}
	env := &Environment{AutoEscape: true}
	for _, c := range cases {
		p, err := env.Parse(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		got, err := p.Render(map[string]Value{"x": `"a<b&'`, "l": &List{Items: []Value{"<", "é'"}}})
		if err != nil || got != c[1] {
			t.Errorf("%s: %v\n got %s\nwant %s", c[0], err, got, c[1])
		}
	}
}
