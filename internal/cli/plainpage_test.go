package cli

import (
	"bytes"
	"strings"
	"testing"

	"aiperf/docs"
)

// TestPlainPage: links, bold words, tables, lists, code and headings of a page become plain lines.
func TestPlainPage(t *testing.T) {
	const page = "# Title\n\nA **bold** word and a [link](x.md#y)\nthat goes on.\n\n## Part\n\n| verdict | meaning | do |\n|---|---|---|\n| valid | all is [well](z.md) | use it |\n\n- one\n  more\n- two\n\n```sh\naiperf x | y\n```\n"
	const want = "Title\n\nA bold word and a link that goes on.\n\nPart:\n\n  valid\n      meaning: all is well\n      do: use it\n\n- one more\n- two\n\n  aiperf x | y"
	if got := plainPage(page); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPageTopics: help shows every word of the page, in lines of at most 96 columns, except in code.
func TestPageTopics(t *testing.T) {
	for name, page := range map[string]string{"verdict": docs.Verdict, "gates": docs.Gates, "coordinated-omission": docs.Loops, "instants": docs.Instants} {
		var out bytes.Buffer
		p := &Program{Streams: Streams{Out: &out, Err: &out}}
		if err := p.helpOn(p.root(), name); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Contains(text, "](") || strings.Contains(text, "|---") {
			t.Errorf("%s has marks:\n%s", name, text)
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > pageWidth && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		for word := range strings.FieldsSeq(strings.NewReplacer("|", " ", "---", " ", "#", " ", "**", "").Replace(markdownLink.ReplaceAllString(page, "$1"))) {
			if !strings.HasPrefix(word, "```") && !strings.Contains(text, word) {
				t.Errorf("%s: help lacks %q", name, word)
			}
		}
	}
}
