package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
)

// TestPrivateFiles: files with bodies or headers are readable for the owner only, also if an older file was not; other files follow the umask.
func TestPrivateFiles(t *testing.T) {
	l := NewLayout(filepath.Join(t.TempDir(), "above", "run"), "")
	if err := MakeDir(l.Dir, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Raw(), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	raw, err1 := CreateRaw(l.Raw(), RawOptions{})
	records, err2 := CreateRecords(l.Records(), RecordOptions{})
	traced, err3 := CreateRecords(l.Records()+"2", RecordOptions{Trace: true})
	inputs, err4 := CreateInputs(l.Inputs(), nil)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{raw, records, traced, inputs} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(l.Console(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	open := os.FileMode(0o666)
	if f, err := os.Create(filepath.Join(l.Dir, "mask")); err == nil {
		info, _ := f.Stat()
		open = info.Mode().Perm()
		f.Close()
	}
	for path, want := range map[string]os.FileMode{
		l.Raw(): 0o600, l.Records(): open, l.Records() + "2": 0o600, l.Inputs(): 0o600, l.Console(): open, l.Dir: 0o700, filepath.Dir(l.Dir): open | open>>2&0o111 | 0o100,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", filepath.Base(path), info.Mode().Perm(), err, want)
		}
	}
	if err := MakeDir(filepath.Join(l.Dir, "mask"), false); err == nil {
		t.Error("a file passes for a directory")
	}
}

// TestReportHidesSecrets: a secret in the texts of a run is in none of its JSON files.
func TestReportHidesSecrets(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := NewLayout(t.TempDir(), "")
	l.Secrets = redact.NewSecrets("sk-0123456789")
	run := &metric.Run{Profiling: set.NewReducer().Summary(metric.Window{}), Info: metric.RunInfo{CLICommand: "aiperf sk-0123456789"}, InputConfig: []byte(`{"a":"sk-0123456789"}`)}
	if err := WriteReport(l, run, ""); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.SummaryJSON())
	if err != nil || !redactedTwice(string(text)) {
		t.Errorf("%v\n%s", err, text)
	}
}

// redactedTwice tells whether both places show the placeholder and none the secret.
func redactedTwice(text string) bool {
	return strings.Count(text, redact.Placeholder) == 2 && !strings.Contains(text, "sk-0123456789")
}
