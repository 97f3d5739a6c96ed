package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKubeLargeData: a data file that no ConfigMap holds reaches the controller and, through it, the workers.
func TestKubeLargeData(t *testing.T) {
	ns, server, dir := namespace(t), startTarget(t), t.TempDir()
	file := filepath.Join(t.TempDir(), "prompts.jsonl")
	row := `{"text":"` + strings.Repeat("word ", 2000) + `"}` + "\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(row, 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := profile(t, ns, "run", []string{"--url", server.url, "--model", "mock", "--streaming", "--concurrency", "3", "--request-count", "60", "--output-tokens-mean", "4",
		"--input-file", file, "--custom-dataset-type", "single_turn", "--tokenizer", "builtin", "--artifact-dir", dir})
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	says(t, c, "the run has its 1 data file")
	if got := exported(t, dir)["request_count"]["avg"]; got != 60 {
		t.Errorf("%v requests, want 60", got)
	}
	nothingLeft(t, ns)
}
