package artifact

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func touch(t *testing.T, path string) {
	t.Helper()
	if err := WriteFile(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
}

// left lists the files below a directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestClearRemovesTheFilesOfAnEarlierRun(t *testing.T) {
	dir := t.TempDir()
	l := NewLayout(dir, "")
	for _, name := range []string{
		"profile_export_raw.jsonl", "profile_export_aiperf.json", "profile_export_aiperf_timeslices.csv", "phase_manifest.json", "inputs.json",
		"phases/warmup/profile_export_aiperf.json", "phases/profiling/profile_export_aiperf.csv", "phases/profiling/notes.txt", // and the user's own:
		"foo_raw.jsonl", "prompts.jsonl", "report/profile_export_aiperf.json",
	} {
		touch(t, filepath.Join(dir, name))
	}
	mine := filepath.Join(dir, "profile_export_aiperf_timeslices.csv")
	n, err := l.Clear(func(path string) bool { return path == mine })
	if err != nil || n != 6 {
		t.Errorf("%d files removed, %v", n, err)
	}
	want := []string{"foo_raw.jsonl", "phases/profiling/notes.txt", "profile_export_aiperf_timeslices.csv", "prompts.jsonl", "report/profile_export_aiperf.json"}
	if got := left(t, dir); !slices.Equal(got, want) {
		t.Errorf("left: %v", got)
	}
}

// An inputs.json alone is not the trace of a run: it may be what the user made.
func TestClearLeavesWhatNoRunMade(t *testing.T) {
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "inputs.json"))
	if n, err := NewLayout(dir, "").Clear(func(string) bool { return false }); n != 0 || err != nil {
		t.Errorf("%d files removed, %v", n, err)
	}
	if got := left(t, dir); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}

func TestADirectoryIsClaimedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	release, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); err == nil {
		t.Error("claimed twice")
	}
	release()
	again, err := Claim(dir)
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	again()
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}
