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
	if n, err := NewLayout(dir, "").Clear(nobody); n != 0 || err != nil {
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

func TestClearSeries(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	run := `{"run_info":{"sweep_id":"s"}}`
	for name, text := range map[string]string{
		"profile_export_aiperf.json": "{}", "profile_export_raw.jsonl": "{}", // of a single run
		"profile_runs/run_0003/profile_export_aiperf.json": run, "profile_runs/run_0003/inputs.json": "{}", "profile_runs/run_0003/logs/aiperf.log": "x",
		"concurrency_2/profile_runs/trial_0001/profile_export_aiperf.json": run, "aggregate/profile_export_aiperf_aggregate.csv": "x",
		// and what stays: a single run in its own directory, a report, the user's files
		"other/profile_export_aiperf.json": "{}", "report/profile_runs/run_0003/profile_export_aiperf.json": run, "concurrency_2/notes.txt": "x",
	} {
		put(name, text)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := ClearSeries(dir, "", nobody)
	if err != nil || n != 6 {
		t.Errorf("%d files removed, %v", n, err)
	}
	want := []string{"concurrency_2/notes.txt", "other/profile_export_aiperf.json", "report/profile_runs/run_0003/profile_export_aiperf.json"}
	if got := left(t, dir); !slices.Equal(got, want) {
		t.Errorf("left: %v", got)
	}
	for name, stays := range map[string]bool{"profile_runs": false, "aggregate": false, "empty": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// nobody keeps no file.
func nobody(string) bool { return false }
