package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestFoldersWithoutRuns: commands that read finished runs say that a folder has none, what to name instead, and write nothing into it.
func TestFoldersWithoutRuns(t *testing.T) {
	for command, want := range map[string]string{
		"support-bundle":        "error: DIR has no files of a run; name the directory",
		"plot":                  "error: DIR has no run: a run has the files",
		"speed-bench-report":    "Error: no aiperf run directories found. A run has the file profile_export_aiperf.json, and DIR has none.",
		"analyze turn-messages": "error: DIR: raw export (profile_export_raw.jsonl) missing; repeat the run with --export-level raw",
	} {
		dir := t.TempDir()
		status, out, errs := say(t, nil, command+" "+dir)
		list, err := os.ReadDir(dir)
		if err != nil || status != 1 || !strings.Contains(errs, strings.ReplaceAll(want, "DIR", dir)) || len(list) > 0 || strings.Contains(out, "Using config") {
			t.Errorf("%s: status %d, %d files, %v: %s%s, want %q", command, status, len(list), err, out, errs, want)
		}
	}
}

// TestJoinedHelp: no line of a description ends inside a sentence, so that every width of a terminal fits.
func TestJoinedHelp(t *testing.T) {
	const text = "Reads rows,\nand writes\nothers. Then:\nit ends.\n\nA list:\n  one\n  two\n\nUsage:\n  x,\n"
	if got, want := joined(text), "Reads rows, and writes others. Then:\nit ends.\n\nA list:\n  one\n  two\n\nUsage:\n  x,\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(joined(cmd.Long)) {
			if end := strings.TrimSuffix(line, "\n"); end != line && end != "" && end[0] != ' ' && !strings.HasSuffix(end, ".") && !strings.HasSuffix(end, ":") && !strings.Contains(cmd.Long, end+"\n\n") && !strings.Contains(cmd.Long, end+"\n  ") {
				t.Errorf("%s: %q ends inside a sentence", cmd.CommandPath(), end)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&Program{}).root())
}
