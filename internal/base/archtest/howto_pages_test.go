package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Bounds of a page about how to add something.
const (
	mostPageLines   = 12
	mostPageColumns = 170
)

// TestHowtoPages: a page is about ten lines, and the tests that it names exist.
func TestHowtoPages(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/howto/*.md")
	if err != nil || len(pages) < 7 {
		t.Fatal(pages, err)
	}
	tests := testNames(t)
	named := regexp.MustCompile("`(Test[A-Za-z]+)`")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) > mostPageLines {
			t.Errorf("%s has %d lines", page, len(lines))
		}
		for _, line := range lines {
			if len(line) > mostPageColumns {
				t.Errorf("%s: a line of %d columns", page, len(line))
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if !tests[m[1]] {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
}

// testNames are the tests of the packages below internal.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, top := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range top.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// changes are what docs/house.md lists: where the code of each stands, as an example's edits or as declarations of a test, and how many rows
// of tables come to those.
var changes = map[string]struct {
	example string
	file    string
	decls   []string
	rows    int
}{
	"a flag":           {example: "flag.md"},
	"a sweep":          {example: "axis.md"},
	"a column":         {example: "column.md"},
	"a metric":         {example: "metric.md"},
	"an observer":      {example: "observer.md"},
	"a telemetry":      {example: "telemetry.md"},
	"an endpoint type": {file: "internal/wire/endpoint/howto_test.go", decls: []string{"echoType"}, rows: 1},
	"an endpoint of":   {file: "internal/wire/endpoint/howto_test.go", decls: []string{"pieceLines", "pieceType"}, rows: 1},
	"an endpoint that": {file: "internal/run/exec/executor_test.go", rows: 1,
		decls: []string{"polling", "polling.Input", "polling.Encode", "polling.NewAnswer", "job", "job.Add", "job.Next", "job.Result"}},
	"a binary": {file: "internal/workload/dataset/custom/howto_test.go", decls: []string{"readColumns"}, rows: 1},
	"a type":   {file: "internal/report/plots/howto_test.go", decls: []string{"Single.ranked"}, rows: 1},
}

// TestFiguresOfChanges: docs/house.md says how many files and lines each addition takes.
func TestFiguresOfChanges(t *testing.T) {
	page, err := os.ReadFile("../../../docs/house.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \| (\d+) \|`).FindAllStringSubmatch(string(page), -1)
	if len(table) != len(changes) {
		t.Fatalf("%d rows, want %d", len(table), len(changes))
	}
	for begin, c := range changes {
		files, lines := 2, c.rows // a new file, and the one with the table
		if c.example != "" {
			files, lines = sizeOfExample(t, c.example)
		}
		for _, name := range c.decls {
			lines += sizeOfDecl(t, c.file, name)
		}
		found := false
		for _, row := range table {
			if !strings.HasPrefix(row[1], begin) {
				continue
			}
			if found = true; row[2] != strconv.Itoa(files) || row[3] != strconv.Itoa(lines) {
				t.Errorf("%s: %s files, %s lines; it takes %d and %d", row[1], row[2], row[3], files, lines)
			}
		}
		if !found {
			t.Errorf("no row %s…", begin)
		}
	}
}

// sizeOfExample is how many files and lines the edits of an example are.
func sizeOfExample(t *testing.T, name string) (files, lines int) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/howto/examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	touched := map[string]bool{}
	for _, m := range page.FindAllStringSubmatch(string(text), -1) {
		touched[m[1]], lines = true, lines+strings.Count(m[2], "\n")
	}
	for _, m := range step.FindAllStringSubmatch(string(text), -1) {
		touched[m[1]], lines = true, lines+strings.Count(m[4], "\n")
	}
	return len(touched), lines
}

// sizeOfDecl is the number of lines of a declaration, of "Type.Method" or a name.
func sizeOfDecl(t *testing.T, path, name string) int {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, filepath.Join("..", "..", "..", filepath.FromSlash(path)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if declName(d) == name {
			return set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
		}
	}
	t.Fatalf("%s has no %s", path, name)
	return 0
}

// declName is the name of the first thing that a declaration declares.
func declName(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.GenDecl:
		switch one := d.Specs[0].(type) {
		case *ast.ValueSpec:
			return one.Names[0].Name
		case *ast.TypeSpec:
			return one.Name.Name
		}
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		return of.(*ast.Ident).Name + "." + d.Name.Name
	}
	return ""
}
