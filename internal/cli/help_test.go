package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/cli/resolve"
)

// page is one page of the help.
func page(t *testing.T, name string, width int) string {
	t.Helper()
	var out strings.Builder
	if err := writeHelp(&out, resolve.Flags, "aiperf", examples, name, width); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestShortHelp: the short help has the most used flags and none that is not built; no line is too wide.
func TestShortHelp(t *testing.T) {
	common := 0
	for i := range resolve.Flags.Rows {
		f := &resolve.Flags.Rows[i]
		if f.Common {
			common++
		}
		if f.Common && f.NotBuilt {
			t.Errorf("%s is in the short help and not built", f.Name())
		}
	}
	if common < 35 || common > 40 {
		t.Errorf("%d flags in the short help, want 35 to 40", common)
	}
	for _, width := range []int{80, 100} {
		text := page(t, "", width)
		if strings.Contains(text, "not built yet;") || strings.Contains(text, "[not built") {
			t.Error("the short help shows what is not built")
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// TestHelpPages: every flag is on one page and on the page of all flags.
func TestHelpPages(t *testing.T) {
	all := page(t, "all", 100)
	for i := range resolve.Flags.Rows {
		f := &resolve.Flags.Rows[i]
		pages := 0
		for _, one := range topics {
			if slices.Contains(one.groups, f.Group) {
				pages++
			}
		}
		if pages != 1 {
			t.Errorf("the group %s of %s stands on %d pages", f.Group, f.Name(), pages)
		}
		if !strings.Contains(all, "\n  "+f.Name()) {
			t.Errorf("%s is in no help", f.Name())
		}
	}
	if text := page(t, "load", 100); !strings.Contains(text, "--request-rate") || strings.Contains(text, "--tokenizer") {
		t.Errorf("the page of load flags:\n%s", text)
	}
	if text := page(t, "request-rate", 100); !strings.HasPrefix(text, "  --request-rate ") || strings.Count(text, "\n") > 3 {
		t.Errorf("the page of one flag:\n%s", text)
	}
}

// TestExamples: the command lines of the help are accepted unchanged.
func TestExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"trace.jsonl": `{"timestamp":1,"input_length":9,"hash_ids":[1]}`,
		"run.yaml":    "benchmark:\n  model: q\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 1}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range examples {
		argv := []string{"profile"}
		for i, part := range strings.Split(e[1], `"`) {
			if i%2 == 1 {
				argv = append(argv, part)
			} else {
				argv = append(argv, strings.Fields(part)...)
			}
		}
		if !slices.Contains(argv, "--config") {
			argv = append(argv, "--tokenizer", "builtin")
		}
		if !slices.Contains(argv, "--dry-run") {
			argv = append(argv, "--dry-run")
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		if status := Main(t.Context(), p, argv); status != 0 || strings.Contains(errs.String(), "warning") {
			t.Errorf("%s: status %d\n%s", e[1], status, errs.String())
		}
	}
}
