package endpoint

import (
	"encoding/json"
	"testing"
)

// TestLiteralsWithoutQuotes: the values are those of Python's jmespath 1.0.1; "error" = it refuses the expression.
func TestLiteralsWithoutQuotes(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte("{\"a\":[{\"b\":\"x\",\"c\":1},{\"b\":1,\"c\":2},{\"b\":\"x`y\",\"c\":3},{\"b\":\"it's\",\"c\":4}]}"), &doc); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		"a[?b==`x`].c":                "[1]",
		"a[?b==`\"x\"`].c":            "[1]",
		"a[?b=='x'].c":                "[1]",
		"a[?b==`1`].c":                "[2]",
		"a[?b==` x`].c":               "[1]",
		"a[?b==`x\\`y`].c":            "[3]",
		"a[?b==`it's`].c":             "[4]",
		"a[?b=='it\\'s' || b=='`'].c": "[4]",
		"`foo bar`":                   `"foo bar"`,
		"`[1, 2]`":                    "[1,2]",
		"`a\"b`":                      "error",
		"a[?b==`x].c":                 "error",
	} {
		path, err := compilePath(expression)
		if err != nil {
			if want != "error" {
				t.Errorf("%s: %v", expression, err)
			}
			continue
		}
		v, err := path.Search(doc)
		if got, _ := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", expression, got, err, want)
		}
	}
}
