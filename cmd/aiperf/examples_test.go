package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fenced are the blocks of commands of a page.
var fenced = regexp.MustCompile("(?s)```sh\n(.*?)```")

// quoted words of a command line.
var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// finished are the words of an example of another command, so that it ends here: a search or turns show their plan, a page goes beside the run. nil: it
// talks to somebody who is not here, or waits for somebody.
func finished(words []string) (args []string) {
	switch words[0] {
	case "report", "plot":
		return words
	case "find-capacity", "ab":
		for _, w := range words {
			if w == "…" {
				args = append(args, "--model", "m", "--tokenizer", "builtin", "--streaming")
				if words[0] == "find-capacity" {
					args = append(args, "--url", "mock://")
				}
				continue
			}
			args = append(args, strings.Trim(w, `'"`))
		}
		return append(args, "--dry-run")
	}
	return nil
}

// inFolder carries a command out in a folder and returns what it said.
func inFolder(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := command(t, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestExamples: the command lines of profile in the README and the pages are accepted as they stand, where the part that is left out (…) names a model
// and a server.
func TestExamples(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, tried, others := t.TempDir(), 0, 0
	for name, text := range map[string]string{
		"prompts.jsonl": `{"text":"one two"}` + "\n", "trace.jsonl": `{"timestamp":0,"input_length":20,"output_length":4}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := inFolder(t, dir, "profile", "--model", "m", "--url", "mock://?ttft=1ms&itl=1ms", "--tokenizer", "builtin", "--streaming", "--request-count", "4", "--concurrency", "2",
		"--export-level", "raw", "--artifact-dir", "artifacts/RUN", "--ui", "none"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.SplitSeq(strings.ReplaceAll(block[1], "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				line, _, _ = strings.Cut(line, " > ")
				words := shellWord.FindAllString(line, -1)
				if len(words) < 2 || filepath.Base(words[0]) != "aiperf" {
					continue
				}
				if words[1] != "profile" {
					if args := finished(words[1:]); args != nil {
						others++
						if out, err := inFolder(t, dir, args...); err != nil {
							t.Errorf("%s: %s\n%v: %s", page, line, err, out)
						}
					}
					continue
				}
				args := []string{"profile", "--dry-run"}
				for _, w := range words[2:] {
					if w == "…" {
						args = append(args, "--model", "m", "--url", "mock://", "--tokenizer", "builtin", "--streaming")
						continue
					}
					if w == "--dry-run" {
						continue
					}
					args = append(args, strings.Trim(w, `'"`))
				}
				if strings.Contains(line, "--config") || strings.Contains(line, "--help") || strings.Contains(line, "ORT") {
					continue
				}
				if !strings.Contains(line, "…") && !strings.Contains(line, "--model") { // nobody can be asked for it here
					args = append(args, "--model", "m", "--tokenizer", "builtin")
				}
				tried++
				cmd := command(t, args...)
				var errs bytes.Buffer
				cmd.Dir, cmd.Stderr = dir, &errs
				if err := cmd.Run(); err != nil {
					t.Errorf("%s: %s\n%v: %s", page, line, err, errs.String())
				}
			}
		}
	}
	if tried < 5 || others < 5 {
		t.Errorf("%d and %d examples only", tried, others)
	}
}
