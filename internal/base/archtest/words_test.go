package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// habits are phrasings that a newcomer has to read twice, and the plain words for them.
var habits = []struct{ words, plain string }{
	{`(%[sq]|%\.\d+[sq]) (is|are) no `, `"is not a …"`},
	{`\b(goes|go|going|went) on\b`, "continue"},
	{`\bstood still\b`, "was paused"},
	{`\bso many\b`, "the number itself"},
	{`\bof (its|their|one's) own\b`, `"its own …", "separate"`},
	{`\btold of\b`, "reported"},
	{`\bit is told\b`, "reported"},
	{`\bnot told apart\b`, "not distinguishable"},
	{`\bcannot be told\b`, "the data cannot tell"},
	{`\bnothing (can be said|is settled|was learnt)\b`, "no result"},
	{`\bno evidence\b`, "not counted"},
	{`\b(spread of that|that length)\b`, "standard deviation of the …"},
	{`\bas they stand\b`, "unchanged"},
	{`\bin place of\b`, "instead of"},
	{`\broom to spare\b`, "spare capacity"},
	{`\ball the same\b`, "anyway"},
	{`\bnobody can tell\b`, "undecided"},
	{`\bis there (already|twice)\b`, `"exists", "is listed twice"`},
}

// plainWords are the folders whose texts keep to the habits above. Other folders join when their texts were rewritten.
var plainWords = []string{"internal/cli", "internal/config", "internal/measure", "internal/report/console", "internal/report/htmlreport", "internal/run", "internal/series"}

// TestPlainWords: help texts and messages use none of the phrasings above. Comments and tests are not read.
func TestPlainWords(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	found := make([]*regexp.Regexp, len(habits))
	for i, h := range habits {
		found[i] = regexp.MustCompile(h.words)
	}
	read := 0
	for _, folder := range plainWords {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(folder)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil || len(strings.Fields(text)) < 3 {
					return true
				}
				read++
				for i, h := range habits {
					if hit := found[i].FindString(text); hit != "" {
						t.Errorf("%s: %q says %q; plain: %s", files.Position(lit.Pos()), text, hit, h.plain)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 1000 {
		t.Errorf("only %d texts were read", read)
	}
}
