package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpWidth: no help is wider than the terminal, apart from examples and single words. Wrapping changes only white space.
func TestHelpWidth(t *testing.T) {
	const width = 80
	for _, command := range []string{"explain", "kube", "config", "dataset", "dataset convert", "synthesize trace", "compare", "profile"} {
		help := func(width int) string {
			var out strings.Builder
			p := &Program{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &out, Width: width}}
			if status := Main(t.Context(), p, append(strings.Fields(command), "--help")); status != 0 {
				t.Fatalf("%s: status %d:\n%s", command, status, out.String())
			}
			return out.String()
		}
		text := help(width)
		if strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(help(1000)), " ") && command != "profile" { // profile omits facts in a narrow help
			t.Errorf("%s: the help at %d columns has other words:\n%s", command, width, text)
		}
		examples := false
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" && line[0] != ' ' {
				examples = strings.HasPrefix(line, "Examples")
			}
			if !examples && utf8.RuneCountInString(line) > width {
				t.Errorf("%s: a line has more than %d columns: %q", command, width, line)
			}
		}
	}
}
