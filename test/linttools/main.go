// Linttools builds golangci-lint and vale from their modules, without the parts that make lint does not use. That takes a quarter less CPU time without a
// cache. Of golangci-lint it leaves out the linters that .golangci.yml does not enable; an unknown linter in that file is still an error. Of vale it
// leaves out the grammars of programming languages, which are large C files: test/words gives vale plain text and Markdown only.
//
//	go run ./test/linttools DIR    golangci-lint and vale into DIR
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// tool is a program to build from a module.
type tool struct {
	module string                 // path@version, the same as in the target tools of the Makefile
	pkg    string                 // the program in the module
	edit   func(dir string) error // removes parts from a copy of the module
}

var tools = []tool{
	{"github.com/golangci/golangci-lint/v2@v2.15.0", "./cmd/golangci-lint", func(dir string) error { return keepLinters(dir, ".golangci.yml") }},
	{"github.com/vale-cli/vale/v3@v3.20.0", "./cmd/vale", dropGrammars},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "linttools:", err)
		os.Exit(1)
	}
}

// run builds all tools into the directory that args name.
func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: linttools DIR")
	}
	dest, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	for _, t := range tools {
		if err := build(t, dest); err != nil {
			return fmt.Errorf("%s: %w", t.module, err)
		}
	}
	return nil
}

// build copies the module of a tool, edits the copy and compiles it into dest. Go checks the module against the checksum database when it downloads it.
func build(t tool, dest string) error {
	out, err := exec.Command("go", "mod", "download", "-json", t.module).Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "linttools")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	dir := filepath.Join(work, "module")
	if err := os.CopyFS(dir, os.DirFS(module.Dir)); err != nil {
		return err
	}
	if err := t.edit(dir); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dest+string(filepath.Separator), t.pkg)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return cmd.Run()
}
