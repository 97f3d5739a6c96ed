// Words checks the words of the project with vale and the rules in .vale/aiperf: README, ARCHITECTURE, CONTRIBUTING, docs, contrib/python/README.md, the unreleased part of
// CHANGELOG.md, every string of at least three words in the program, and every comment of the Go code. A finding has its place in the source. The exit status is 1 if a rule with
// the level error was broken, and 2 if the check itself failed. With -print it prints the strings and runs nothing.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pages are the files and folders that vale reads itself.
var pages = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "contrib/python/README.md"}

// code holds the folders whose strings and comments are checked.
var code = []string{"cmd", "internal", "test", "contrib"}

// alert is what the check reads of a finding in vale's JSON output.
type alert struct {
	Check, Message, Severity string
	Line                     int
}

func main() {
	vale := flag.String("vale", "vale", "the vale program")
	root := flag.String("root", ".", "the root of the project")
	list := flag.Bool("print", false, "print the strings with their places, and run nothing")
	flag.Parse()
	failed, err := check(os.Stdout, *vale, *root, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// check runs vale in root and prints its findings in the order of their places; with list it prints the strings. It reports whether one has the level error.
func check(out io.Writer, vale, root string, list bool) (bool, error) {
	found, remarks, err := texts(root, code)
	if err != nil {
		return false, err
	}
	if list {
		for _, t := range found {
			fmt.Fprintf(out, "%s:%d: %q\n", t.file, t.line, t.text)
		}
		return false, nil
	}
	dir, err := os.MkdirTemp("", "words")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	changes, err := unreleased(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return false, err
	}
	stringsFile, commentsFile, changesFile := filepath.Join(dir, "strings.txt"), filepath.Join(dir, "comments.txt"), filepath.Join(dir, "CHANGELOG.md")
	places := map[string][]place{}
	content := map[string]string{changesFile: changes}
	content[stringsFile], places[stringsFile] = oneLine(found)
	content[commentsFile], places[commentsFile] = oneLine(remarks)
	for name, content := range content {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return false, err
		}
	}
	alerts, err := run(vale, root, append([]string{stringsFile, commentsFile, changesFile}, pages...))
	if err != nil {
		return false, err
	}
	var findings []finding
	for name, list := range alerts {
		for _, a := range list {
			at := place{filepath.ToSlash(name), a.Line}
			if lines := places[name]; lines != nil {
				at = lines[a.Line]
			} else if name == changesFile {
				at.file = "CHANGELOG.md"
			}
			findings = append(findings, finding{at, a})
		}
	}
	return show(out, findings, len(found), len(remarks)), nil
}

// finding is an alert with its place in the source.
type finding struct {
	place
	alert
}

// show prints the findings and reports whether one is an error.
func show(out io.Writer, findings []finding, texts, comments int) bool {
	slices.SortFunc(findings, func(a, b finding) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return a.line - b.line
	})
	failures := 0
	for _, f := range findings {
		fmt.Fprintf(out, "%s:%d: %s: %s (%s)\n", f.file, f.line, f.Severity, f.Message, f.Check)
		if f.Severity == "error" {
			failures++
		}
	}
	fmt.Fprintf(out, "words: %d findings in the pages, %d strings and %d comments, %d of them errors\n", len(findings), texts, comments, failures)
	return failures > 0
}

// run returns the findings of vale for each file. Vale exits with 1 after findings and with 2 if it could not run.
func run(vale, root string, files []string) (map[string][]alert, error) {
	cmd := exec.Command(vale, append([]string{"--no-global", "--config", ".vale.ini", "--output=JSON"}, files...)...)
	cmd.Dir = root
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("%s: %w\n%s%s", vale, err, problems.String(), out)
	}
	alerts := map[string][]alert{}
	if err := json.Unmarshal(out, &alerts); err != nil {
		return nil, fmt.Errorf("output of %s: %w\n%s", vale, err, out)
	}
	return alerts, nil
}

// unreleased returns CHANGELOG.md without the parts of published releases. Lines keep their numbers.
func unreleased(path string) (string, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	first, rest, ok := strings.Cut(string(body), "\n## Unreleased\n")
	if !ok {
		return "", fmt.Errorf("%s has no section Unreleased", path)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return first + "\n## Unreleased\n" + part + "\n", nil
}
