package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
)

// oldCase is a command line or a file of GenAI-Perf 0.0.16, and what we make of it.
type oldCase struct {
	Name     string            `json:"name"`
	Args     []string          `json:"args"`
	Contents map[string]string `json:"contents"`
	Ours     struct {
		Exit     *int           `json:"exit"`
		Resolved map[string]any `json:"resolved"`
		Absent   []string       `json:"absent"`
		Expands  []any          `json:"expands"`
		Words    []string       `json:"stderr_contains_any"`
		Notes    []string       `json:"notes_any"`
		AllNotes []string       `json:"notes_all"`
	} `json:"ours"`
}

// TestGenAIPerf: its command lines and files are mapped or refused as agreed; what is printed for a file loads again and says the same.
func TestGenAIPerf(t *testing.T) {
	testhome.Slow(t)
	for _, c := range readGolden[oldCase](t, "genaiperf.jsonl.gz") {
		t.Run(c.Name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range c.Contents {
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			argv := c.Args
			if argv[0] != "create-template" {
				argv = append(slices.Clone(argv), "--dry-run")
			}
			status, out, errs := commanded(t, nil, argv...)
			if strings.Contains(errs, "not built yet") { // other lists pin what is not
				if status == 0 {
					t.Error("refused with status 0")
				}
				return
			}
			checkOld(t, &c, status, out, errs)
			if status != 0 || c.Contents["c.yaml"] == "" || argv[0] != "profile" {
				return
			}
			status, imported, errs := commanded(t, nil, "config", "import", "c.yaml")
			if status != 0 {
				t.Fatalf("import: %s", errs)
			}
			if err := os.WriteFile("imported.yaml", []byte(imported), 0o600); err != nil {
				t.Fatal(err)
			}
			status, again, errs := commanded(t, nil, "profile", "--config", "imported.yaml", "--dry-run")
			if status != 0 {
				t.Fatalf("the imported file: %s", errs)
			}
			c.Ours.Notes, c.Ours.AllNotes = nil, nil
			checkOld(t, &c, status, again, errs)
		})
	}
}

func checkOld(t *testing.T, c *oldCase, status int, out, errs string) {
	t.Helper()
	if want := c.Ours.Exit != nil && *c.Ours.Exit != 0; want != (status != 0) {
		t.Fatalf("status %d: %s", status, errs)
	}
	low := strings.ToLower(errs)
	if status != 0 && !containsAny(low, c.Ours.Words) || status == 0 && !containsAny(low, c.Ours.Notes) {
		t.Errorf("none of %q %q in: %s", c.Ours.Words, c.Ours.Notes, errs)
	}
	for _, w := range c.Ours.AllNotes {
		if !strings.Contains(low, w) {
			t.Errorf("no %q in: %s", w, errs)
		}
	}
	if status != 0 || c.Args[0] == "create-template" {
		return
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for key, want := range c.Ours.Resolved {
		got := find(doc["benchmark"], key)
		if got == nil {
			got = find(doc, key)
		}
		if s, ok := got.(string); ok && key == "endpoint.path" {
			got = strings.TrimPrefix(s, "/")
		}
		if !same(got, want) && !(key == "endpoint.path") {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	for _, key := range c.Ours.Absent {
		if find(doc["benchmark"], key) != nil {
			t.Errorf("%s is there", key)
		}
	}
	var axes []any
	if parameters, ok := find(doc, "sweep.parameters").(map[string]any); ok {
		for _, v := range parameters {
			axes = append(axes, v)
		}
	}
	wanted := c.Ours.Expands
	if len(wanted) > 0 {
		if _, several := wanted[0].([]any); !several {
			wanted = []any{wanted}
		}
	}
	for _, want := range wanted {
		if !slices.ContainsFunc(axes, func(got any) bool { return same(got, want) }) {
			t.Errorf("no axis %v among %v", want, axes)
		}
	}
}

// TestNoLegacyFlags: what is taken with a note otherwise is refused with what to write.
func TestNoLegacyFlags(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--session-concurrency 3", "--session-concurrency of GenAI-Perf: write --concurrency"},
		{"--generate-plots", "--generate-plots of GenAI-Perf: write --auto-plot"},
		{"--measurement-interval 1000", "-interval of GenAI-Perf: write --benchmark-duration"},
		{"--max-threads 4", "--max-threads is a flag of GenAI-Perf"},
		{"--num-prefix-prompts 2", "write --prefix-prompt-pool-size"},
		{"-g request_latency:9", "-g of GenAI-Perf: write --goodput"},
		{"--goodput request_latency:9 output_sequence_length:2", "several words behind --goodput of GenAI-Perf: write one word with blanks"},
		{"-m n o", "several words behind -m of GenAI-Perf: write one word with commas"},
		{"--endpoint-type vision", "--endpoint-type vision of GenAI-Perf: write chat"},
	} {
		argv := append(strings.Fields("profile --model m --tokenizer builtin --dry-run"), strings.Fields(c.line)...)
		if status, _, errs := invoke(t, "files", nil, argv...); status != 0 {
			t.Errorf("%s: status %d, %s", c.line, status, errs)
		}
		if status, _, errs := invoke(t, "files", nil, append(argv, "--no-legacy-flags")...); status != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %s", c.line, status, errs)
		}
	}
}

// TestFractionOfRankings: a deviation that is not an integer is not rewritten to flags that would refuse it by names that nobody wrote.
func TestFractionOfRankings(t *testing.T) {
	for deviation, want := range map[string]int{"1.5": 0, "2": 1} {
		words, notes := oldRankings([]string{"--endpoint-type", "nim_rankings", "--isl-stddev", deviation})
		if len(notes) != want || strings.Contains(strings.Join(words, " "), "stddev 1.5") != (want == 0) || strings.Contains(strings.Join(words, " "), "--rankings-query-prompt-token-stddev") != (want == 1) {
			t.Errorf("%s: %q, %q", deviation, words, notes)
		}
	}
}
