package cli

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSupportBundle: the command writes one private archive, overwrites nothing, and a list writes nothing.
func TestSupportBundle(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("run", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("run", "aiperf.log"), []byte("key is planted-secret-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(words ...string) (out string, status int) {
		var b strings.Builder
		p := &Program{Streams: Streams{Out: &b, Err: &b, Environ: []string{"SOME_API_KEY=planted-secret-1", "AIPERF_X=1", "OTHER=private words"}}}
		status = Main(t.Context(), p, append([]string{"support-bundle", "--no-doctor"}, words...))
		return b.String(), status
	}
	if out, status := run("--list", "run"); status != 0 || !strings.Contains(out, "credentials replaced in 1 line") {
		t.Errorf("status %d: %s", status, out)
	}
	if _, err := os.Stat("support-run.zip"); err == nil {
		t.Error("--list wrote a file")
	}
	if out, status := run("run"); status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	info, err := os.Stat("support-run.zip")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	before, err := os.ReadFile("support-run.zip")
	if err != nil {
		t.Fatal(err)
	}
	if out, status := run("run"); status != 1 || !strings.Contains(out, "exists already; choose another file with --output") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := run("run", "--output", "second.zip"); status != 0 {
		t.Errorf("status %d: %s", status, out)
	}
	if after, err := os.ReadFile("second.zip"); err != nil || string(after) != string(before) {
		t.Error("two bundles of the same run differ", err)
	}
	z, err := zip.OpenReader("second.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		text, err := readZip(f)
		if err != nil || strings.Contains(text, "planted-secret-1") || strings.Contains(text, "private words") {
			t.Errorf("%s: %v, %s", f.Name, err, text)
		}
		if f.Name == "program.json" && !strings.Contains(text, `"AIPERF_X": "1"`) {
			t.Error(text)
		}
	}
	for _, words := range [][]string{{}, {"run", "other"}, {"missing"}, {"second.zip"}, {"run", "--max-size", "0"}} {
		if out, status := run(words...); status != 1 {
			t.Errorf("%v: status %d: %s", words, status, out)
		}
	}
}

// readZip returns the content of a file of an archive.
func readZip(f *zip.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}
