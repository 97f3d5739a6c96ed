package mlops

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFiles: patterns name regular files below the directory, whole paths, ** any number of directories; links are none.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.csv", "plots/x.png", "plots/deep/y.png", "logs/run.log"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	for patterns, want := range map[string]string{
		"*.json": "a.json", "plots/**": "plots/deep/y.png plots/x.png", "**/*.png *.csv": "b.csv plots/deep/y.png plots/x.png", "./logs/*": "logs/run.log",
		"../*": "", "**": "a.json b.csv logs/run.log plots/deep/y.png plots/x.png", "plots/*": "plots/x.png",
	} {
		files, err := Files(dir, strings.Fields(patterns))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", patterns, got, want)
		}
	}
	if CheckPattern("[") == nil || CheckPattern("plots/**") != nil {
		t.Error("patterns are judged wrongly")
	}
	if _, err := Files(dir, []string{"["}); err == nil {
		t.Error("a bad pattern is no error")
	}
}

// TestPlace: what messages show of a URL holds no signature and no credentials.
func TestPlace(t *testing.T) {
	if got := place("https://me:secret@h/x?signature=secret"); got != "https://h/x" {
		t.Error(got)
	}
}

// TestRepeatedCredentials: the words of a server that repeats what it got show nothing of the credentials, although they are cut.
func TestRepeatedCredentials(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef01234567"
	for before := 0; before < 220; before += 11 {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, strings.Repeat("x", before)+" you sent "+r.Header.Get("Authorization"))
		}))
		w := WandB{Base: server.URL, Key: key, Project: "p"}
		_, err := w.Upload(t.Context(), &Report{})
		server.Close()
		if err == nil {
			t.Fatal("the server refused")
		}
		sent := base64.StdEncoding.EncodeToString([]byte("api:" + key))
		for at := 6; at+8 <= len(sent); at++ { // the user before it is none of the key
			if strings.Contains(err.Error(), sent[at:at+8]) {
				t.Fatalf("%d before: %v", before, err)
			}
		}
	}
}
