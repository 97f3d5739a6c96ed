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

// flagWord is a long flag in a text.
var flagWord = regexp.MustCompile(`(^|[^-A-Za-z0-9])--[a-z][a-z-]*`)

// flagsAllowed are the places below the command line that may spell flags, and why.
var flagsAllowed = map[string]string{
	"internal/config":                                 "holds the rows of the settings, their flags among them",
	"internal/base/setting":                           "reads command lines",
	"internal/sim/selfbench":                          "starts the program with command lines of its own",
	"internal/cli":                                    "is the command line",
	"internal/run/simulation/servers.go":              "starts the simulated server with a command line",
	"internal/workload/accuracy/sandbox/launchers.go": "starts bwrap with a command line",
	"internal/telemetry/gpu/smi.go":                   "starts nvidia-smi with a command line",
	"internal/telemetry/gpu/amd.go":                   "starts amd-smi with a command line",
	"internal/text/tokenizer/rankfile/pack/main.go":   "names flags of zstd, which compresses its output",
	"internal/report/console/panels.go":               "names flags of servers (vLLM, SGLang), which are no settings of ours",
}

// TestNoFlagsBelowTheCommandLine: a text below internal/cli names a setting by its key, because the user may have written a flag or a file.
// setting.Spell turns the key into the user's spelling.
func TestNoFlagsBelowTheCommandLine(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	used := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, text := range flagTexts(file) {
			place := rel
			if flagsAllowed[place] == "" {
				place = allowedFolder(rel)
			}
			if used[place] = true; place == "" {
				t.Errorf("%s: %q names a flag; name the key of the setting and word it with setting.Spell", rel, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range flagsAllowed {
		if !used[place] {
			t.Errorf("%s spells no flag any more: take it off the list", place)
		}
	}
}

// allowedFolder is the innermost listed folder that holds a file, or "".
func allowedFolder(file string) string {
	for folder := Package(file); folder != ""; folder = Package(folder) {
		if flagsAllowed[folder] != "" {
			return folder
		}
	}
	return ""
}

// flagTexts are the texts of a file that name flags.
func flagTexts(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && flagWord.MatchString(text) {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}
