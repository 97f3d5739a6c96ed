package main

import (
	"slices"
	"strings"
	"testing"
)

// TestAffectedBy follows changes of files through the imports of this repository. transport imports clock, its tests import testhome; sobol imports neither.
func TestAffectedBy(t *testing.T) {
	t.Chdir("../..")
	const transport, sobol, docs = "aiperf/internal/wire/transport", "aiperf/internal/base/sobol", "aiperf/docs"
	g, err := load([]string{"./internal/wire/transport", "./internal/base/sobol", "./docs"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, files string
		want        []string
	}{
		{"an import", "internal/base/clock/deleted.go", []string{transport}},
		{"an import of tests", "internal/base/testhome/new.go", []string{transport}},
		{"its own code", "internal/base/sobol/sobol.go", []string{sobol}},
		{"its own tests", "internal/base/sobol/new_test.go", []string{sobol}},
		{"tests of an import", "internal/base/clock/new_test.go", nil},
		{"data of an import", "internal/base/clock/testdata/x/y.json", []string{transport}},
		{"code of a package below", "internal/base/clock/below/new.go", nil},
		{"data of another package", "internal/cli/testdata/x", nil},
		{"an embedded page", "docs/glossary.md", []string{docs}},
		{"a page of the root", "README.md", nil},
		{"the modules", "README.md go.sum", []string{transport, sobol, docs}},
		{"the files of a check", "test/browser/x.js", []string{transport, sobol, docs}},
	} {
		got := g.affectedBy(strings.Fields(c.files), []string{"go.mod", "go.sum", "test/browser"}, false)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestReaders: a package whose tests name a path outside of their folder is affected by a change of files there.
func TestReaders(t *testing.T) {
	t.Chdir("../..")
	g, err := load([]string{"./internal/workload/accuracy", "./internal/base/archtest", "./internal/base/sobol"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.addReaders(); err != nil {
		t.Fatal(err)
	}
	const accuracy, archtest = "aiperf/internal/workload/accuracy", "aiperf/internal/base/archtest"
	for file, want := range map[string][]string{
		"docs/howto/benchmark.md":       {archtest, accuracy},
		"docs/glossary.md":              {archtest},
		"internal/base/rng/rng.go":      {archtest, accuracy, "aiperf/internal/base/sobol"},
		"internal/base/rng/rng_test.go": {archtest},
	} {
		got := g.affectedBy([]string{file}, nil, false)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func TestOutsidePaths(t *testing.T) {
	text := `f("../../docs/*.md", filepath.Join("..", "report", "x"), "../../.." + name, ` + "`../y`" + `, "../z/"+name, "a/../b", "../../../../x")`
	want := []string{"docs", "internal/report/x", ".", "internal/y", "internal/z", "."}
	if got := outsidePaths("internal/cli", text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDirect asks for the packages with changed files only.
func TestDirect(t *testing.T) {
	t.Chdir("../..")
	g, err := load([]string{"./internal/wire/transport", "./internal/base/clock"})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"internal/base/clock/clock.go":           "aiperf/internal/base/clock", // transport imports it
		"internal/wire/transport/basic_test.go":  "aiperf/internal/wire/transport",
		"internal/wire/transport/testdata/x":     "aiperf/internal/wire/transport",
		"internal/measure/metric/a_new_file.go":  "",
		"internal/base/clock/testdata/new/x.txt": "aiperf/internal/base/clock",
	} {
		if got := strings.Join(g.affectedBy([]string{file}, nil, true), " "); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestAllWithoutACommit(t *testing.T) {
	t.Chdir("../..")
	got, err := affected("", nil, false, false, []string{"./internal/base/sobol", "./internal/base/rng"})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"aiperf/internal/base/rng", "aiperf/internal/base/sobol"}) {
		t.Errorf("%v %v", got, err)
	}
}
