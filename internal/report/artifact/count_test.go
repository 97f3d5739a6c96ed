package artifact

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCount: a run's own files are counted, and no other files in the directory.
func TestCount(t *testing.T) {
	dir := t.TempDir()
	l := NewLayout(dir, "mine")
	own := []string{
		l.SummaryJSON(), l.Records(), l.Console(), l.Log(), l.Inputs(), l.ClientMachine(), l.Timeline(), l.ServerMetrics("csv"), filepath.Join(dir, "phase_manifest.json"),
		filepath.Join(dir, "phases", "warmup", "mine.csv"), filepath.Join(dir, "phases", "warmup", PhaseServerMetrics),
	}
	for _, path := range append(own, filepath.Join(dir, "notes.txt"), filepath.Join(dir, "profile_export.jsonl")) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Count(); n != len(own) {
		t.Errorf("%d files, want %d", n, len(own))
	}
}
