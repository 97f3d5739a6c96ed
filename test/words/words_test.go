//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files below a temporary directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestTexts: strings of three words and comments of example configurations are found with their lines; imports, tags, strings of tests and data are
// not read. Comments have their lines and lack the name that a doc comment begins with.
func TestTexts(t *testing.T) {
	root := tree(t, map[string]string{
		"internal/a/a.go":                              "package a\n\nimport _ \"one two three/four five\"\n\ntype t struct {\n\tf int `a:\"b c d\" e:\"f\"`\n}\n\nvar short = \"two words\"\n\nvar joined = \"first part, \" +\n\t\"second part\"\n\nvar raw = `line one of raw\nline two`\n\nvar call = f(\"an argument in a call\" + short)\n",
		"internal/a/a_test.go":                         "package a\n\n// s is\n// a string\nvar s = \"strings of tests are ignored\" // Trailing comment\n",
		"internal/a/testdata/x.go":                     "package x\n\nvar s = \"data of tests are ignored\"\n",
		"internal/sim/mockserver/words.go":             "package mockserver\n\nvar s = \"words that are sent\"\n",
		"internal/cli/exampleconfigs/files/small.yaml": "a: 1 # two words\n# description: a small example\n",
	})
	found, remarks, err := texts(root, []string{"internal"})
	if err != nil {
		t.Fatal(err)
	}
	want := []text{
		{place{"internal/a/a.go", 11}, "first part, second part", false},
		{place{"internal/a/a.go", 14}, "line one of raw\nline two", true},
		{place{"internal/a/a.go", 17}, "an argument in a call", false},
		{place{"internal/cli/exampleconfigs/files/small.yaml", 2}, "description: a small example", false},
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v\nwant %v", found, want)
	}
	want = []text{{place{"internal/a/a_test.go", 3}, "is\na string", true}, {place{"internal/a/a_test.go", 5}, "Trailing comment", true}}
	if !slices.Equal(remarks, want) {
		t.Errorf("comments %v\nwant %v", remarks, want)
	}
}

// TestOneLine: wrapped lines are joined, indented lines are separate, and each line of the result has the place of its first word.
func TestOneLine(t *testing.T) {
	body, places := oneLine([]text{
		{place{"a.go", 3}, "a text that\nis wrapped\n\nsecond paragraph\n  indented row", true},
		{place{"b.go", 9}, "\n\nfirst\n\nlast", false},
	})
	if want := "a text that is wrapped\nsecond paragraph\nindented row\nfirst\nlast\n"; body != want {
		t.Errorf("body %q, want %q", body, want)
	}
	want := []place{{}, {"a.go", 3}, {"a.go", 6}, {"a.go", 7}, {"b.go", 9}, {"b.go", 9}}
	if !slices.Equal(places, want) {
		t.Errorf("places %v, want %v", places, want)
	}
}

// TestUnreleased: releases that were published are not checked, and the lines before them keep their numbers.
func TestUnreleased(t *testing.T) {
	root := tree(t, map[string]string{
		"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.0\n\n- old\n",
		"EMPTY.md":     "# Changelog\n",
	})
	got, err := unreleased(filepath.Join(root, "CHANGELOG.md"))
	if want := "# Changelog\n\n## Unreleased\n\n- new\n\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := unreleased(filepath.Join(root, "EMPTY.md")); err == nil || !strings.Contains(err.Error(), "has no section Unreleased") {
		t.Errorf("a page without the section: %v", err)
	}
}

// fakeVale is a program that replaces vale: it prints a finding for the first line of the first file and of README.md, and exits as vale does.
const fakeVale = `#!/bin/sh
for a in "$@"; do case "$a" in */strings.txt) s=$a;; */CHANGELOG.md) c=$a;; esac; done
printf '{"%s":[{"Check":"x.Y","Message":"m1","Severity":"SEVERITY","Line":2}],"%s":[{"Check":"x.Y","Message":"m2","Severity":"warning","Line":3}],"README.md":[]}' "$s" "$c"
exit STATUS
`

// TestCheck: a finding is reported at its place in the source; an error fails the check, a warning does not, and a vale that cannot run is an error.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		severity, status string
		failed, broken   bool
	}{{"error", "1", true, false}, {"warning", "0", false, false}, {"error", "2", false, true}} {
		root := tree(t, map[string]string{
			"CHANGELOG.md":  "# Changelog\n\n## Unreleased\n",
			"cmd/a/main.go": "package main\n\nvar a = \"the first text here\"\n\nvar b = \"the second text here\"\n",
			"internal/b.go": "package b\n",
			"test/c.go":     "package c\n",
			"contrib/d.go":  "package d\n",
			"vale":          strings.NewReplacer("SEVERITY", c.severity, "STATUS", c.status).Replace(fakeVale),
		})
		vale := filepath.Join(root, "vale")
		if err := os.Chmod(vale, 0o755); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		failed, err := check(&out, vale, root, false)
		if failed != c.failed || (err != nil) != c.broken {
			t.Errorf("%+v: failed %v, error %v", c, failed, err)
		}
		if want := "cmd/a/main.go:5: " + c.severity + ": m1 (x.Y)\n"; !c.broken && (!strings.Contains(out.String(), want) || !strings.Contains(out.String(), "CHANGELOG.md:3: warning: m2 (x.Y)\n")) {
			t.Errorf("%+v: %q lacks %q", c, out.String(), want)
		}
	}
}

// TestDataExist: every file or folder whose strings are not checked is in the project, so that the list holds no old names.
func TestDataExist(t *testing.T) {
	for _, name := range data {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}
