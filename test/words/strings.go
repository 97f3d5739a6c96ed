package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// leastWords is the number of words from which on a string counts as a text.
const leastWords = 3

// data are files and folders whose strings are sent, compared or generated, not read by users.
var data = []string{
	"internal/sim/mockserver/words.go",                                // words of simulated answers
	"internal/telemetry/otlp/instruments.go",                          // descriptions of the GenAI conventions, verbatim
	"internal/text/tokenizer/crosscheck/",                             // texts that are tokenized
	"internal/wire/openinference/openinferencepb/openinference.pb.go", // generated
	"internal/workload/accuracy/",                                     // prompts of published benchmarks
	"internal/workload/dataset/synth/coding.go",                       // texts of prompts
}

// isData reports whether the strings of a file are data.
func isData(name string) bool {
	return slices.ContainsFunc(data, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// place is a line of a file of the project.
type place struct {
	file string
	line int
}

// text is a string or a comment of the program.
type text struct {
	place
	text string
	raw  bool // in back quotes: its lines are those of the file
}

// texts returns the strings of at least three words in the Go files below the folders, with the comments of the example configurations, and the
// comments of all Go files. Strings of tests and test data are not read. Strings joined by + are one text.
func texts(root string, folders []string) (found, remarks []text, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			name, err := filepath.Rel(root, path)
			if err != nil || d.IsDir() {
				return err
			}
			name = filepath.ToSlash(name)
			switch {
			case strings.HasSuffix(name, ".go"):
				list, comments, err := goTexts(path, name)
				remarks = append(remarks, comments...)
				if !strings.HasSuffix(name, "_test.go") && !isData(name) {
					found = append(found, list...)
				}
				return err
			case strings.Contains(name, "/exampleconfigs/files/"):
				list, err := yamlComments(path, name)
				found = append(found, list...)
				return err
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return found, remarks, nil
}

// goTexts returns the strings and the comments of one Go file.
func goTexts(path, name string) (found, remarks []text, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	add := func(n ast.Expr) bool {
		s, raw, ok := joined(n)
		if ok && len(strings.Fields(s)) >= leastWords {
			found = append(found, text{place{name, files.Position(n.Pos()).Line}, s, raw})
		}
		return ok
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names[n.Name] = true
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BinaryExpr:
			return !add(n)
		case *ast.BasicLit:
			add(n)
		}
		return true
	})
	for _, group := range file.Comments {
		remarks = append(remarks, text{place{name, files.Position(group.Pos()).Line}, comment(group, names), true})
	}
	return found, remarks, nil
}

// comment returns the text of a comment, line by line, without its first word if that is a name of the code.
func comment(group *ast.CommentGroup, names map[string]bool) string {
	var lines []string
	for _, c := range group.List {
		lines = append(lines, strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*"), "*/"), "\n")...)
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	if name, rest, ok := strings.Cut(lines[0], " "); ok && names[strings.TrimSuffix(name, ":")] {
		lines[0] = rest
	}
	return strings.Join(lines, "\n")
}

// joined returns the value of a string literal or of literals joined by +, and whether it begins with a back quote.
func joined(n ast.Expr) (s string, raw, ok bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return "", false, false
		}
		s, err := strconv.Unquote(n.Value)
		return s, n.Value[0] == '`', err == nil
	case *ast.BinaryExpr:
		left, raw, ok := joined(n.X)
		if !ok || n.Op != token.ADD {
			return "", false, false
		}
		right, _, ok := joined(n.Y)
		return left + right, raw, ok
	}
	return "", false, false
}

// yamlComments returns the comments of a YAML file, each with its line.
func yamlComments(path, name string) ([]text, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found []text
	for i, line := range strings.Split(string(body), "\n") {
		_, after, ok := strings.Cut(line, "# ")
		if ok && len(strings.Fields(after)) >= leastWords {
			found = append(found, text{place{name, i + 1}, after, false})
		}
	}
	return found, nil
}

// oneLine returns the texts with a line for each paragraph, and the places of these lines by their numbers from 1 on. A line that begins with a
// space, as in a table of commands, is a separate paragraph; other lines of a text continue the one before.
func oneLine(found []text) (string, []place) {
	var body strings.Builder
	places := []place{{}}
	for _, t := range found {
		open := false
		for i, line := range strings.Split(t.text, "\n") {
			words := strings.Join(strings.Fields(line), " ")
			if words == "" {
				open = false
				continue
			}
			if open && line[0] != ' ' && line[0] != '\t' {
				body.WriteString(" " + words)
				continue
			}
			at := t.place
			if t.raw {
				at.line += i
			}
			places = append(places, at)
			body.WriteString("\n" + words)
			open = true
		}
	}
	return strings.TrimPrefix(body.String(), "\n") + "\n", places
}
