package plugin

import (
	"strings"
	"testing"
)

// FuzzManifest parses any text: it either refuses the file, with a line or a reason, or gives entries that have a category and a name.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{
		grader("a"), "endpoint:\n  x-y:\n    request: {body: '{}'}\n    response: {text: a}\n    metadata: {a: [1, {b: c}]}\n", "ui: &u\n  a: {class: a:B, metadata: *u}\n",
		"a: &a [*a]", "endpoint: {<<: {x: {class: a}}}", "? [a]\n: b", "schema_version: 3\n---\nb: c", "endpoint:\n  1: {priority: 0x7fffffffffffffff, class: x}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := manifest{file: "/a/plugins.yaml", source: text}
		m.parse()
		for _, p := range m.problems {
			if !strings.HasPrefix(p.Text, m.file+":") {
				t.Errorf("problem without a position: %q", p.Text)
			}
		}
		if m.refused() {
			return
		}
		for _, e := range m.entries {
			if _, ok := FindCategory(e.Category); !ok || !validName(e.Name) || e.Line < 1 || (e.Class == "") && len(e.Exec) == 0 && e.Category != "endpoint" {
				t.Errorf("entry %+v", e)
			}
		}
	})
}
