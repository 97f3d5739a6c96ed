package pluginexamples

import (
	"context"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
)

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) }

// write writes an example to a new directory.
func write(t *testing.T, e Example) string {
	t.Helper()
	files, err := e.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "package")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command runs a command of an example in its directory. go needs no network and no other toolchain for it.
func command(t *testing.T, dir, line string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	words := strings.Fields(line)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-trimpath", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "No such file") { // a test that passes prints no error
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestExamples: every example is found by its manifest, and its own test passes.
func TestExamples(t *testing.T) {
	for _, kind := range Kinds() {
		for _, language := range Languages() {
			if kind == "endpoint" && language == "bash" {
				continue // TestMistakes
			}
			t.Run(kind+" in "+language, func(t *testing.T) {
				if language == "go" { // is compiled
					testhome.Slow(t)
				}
				t.Parallel()
				e, err := New(kind, "Own-Name2", language)
				if err != nil {
					t.Fatal(err)
				}
				dir := write(t, e)
				if e.Build() != "" {
					command(t, dir, "go vet .")
					command(t, dir, e.Build())
				}
				set := plugin.Load(plugin.Places{Path: dir})
				entry, ok := set.Find(e.Category(), "own_name2")
				if !ok || len(set.Problems()) > 0 || len(set.Entries()) != 1 {
					t.Fatalf("found %v, problems %v", set.Entries(), set.Problems())
				}
				if _, err := exec.LookPath(entry.Command()[0]); err != nil {
					t.Error(err)
				}
				command(t, dir, e.Test())
			})
		}
	}
}

// TestFiles: no file has the placeholder, and those of Go are formatted.
func TestFiles(t *testing.T) {
	for _, kind := range Kinds() {
		for _, language := range Languages() {
			e, err := New(kind, "own", language)
			if err != nil {
				continue // TestMistakes
			}
			files, err := e.Files()
			if err != nil || len(files) < 5 {
				t.Fatal(err, files)
			}
			for _, f := range files {
				if strings.Contains(f.Text, placeholder) || strings.Contains(f.Text, "KIND") || strings.Contains(f.Name, "KIND") {
					t.Errorf("%s in %s: %s has a placeholder", kind, language, f.Name)
				}
				if !strings.HasSuffix(f.Name, ".go") {
					continue
				}
				if text, err := format.Source([]byte(f.Text)); err != nil || string(text) != f.Text {
					t.Errorf("%s in %s: %s is not gofmt-ed: %v", kind, language, f.Name, err)
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, one := range []struct{ kind, name, language, want string }{
		{"graders", "x", "python", `kind of plug-in "graders" is not one of endpoint, loader, grader, exporter, did you mean grader?`},
		{"grader", "x", "perl", `--language "perl" is not one of python, go, bash`},
		{"grader", "2x", "python", `name "2x": letters, digits and "_" are allowed, and a letter must be first, for example my_grader`},
		{"loader", "a/b", "go", `name "a/b": letters, digits and "_" are allowed, and a letter must be first, for example my_loader`},
		{"endpoint", "x", "bash", "--language bash has no endpoint: bash cannot read JSON, and an endpoint must read it in every answer; " +
			"use --language python or go, or describe the endpoint in plugins.yaml without a program (docs/plugins.md)"},
	} {
		if _, err := New(one.kind, one.name, one.language); err == nil || err.Error() != one.want {
			t.Errorf("%v: got %v", one, err)
		}
	}
}
