// Affected prints which packages a change can affect: those that have a changed file, or whose program or tests import such a package, directly or through
// others. CI leaves out the slow checks of the other packages. Without a commit it prints all.
//
//	go run ./test/affected [-files PATHS] [-direct] [-tests] COMMIT PACKAGES…    the change is from COMMIT to the files of now
//
// -direct prints only packages that have a changed file. -tests also prints packages whose tests read a changed file elsewhere, as far as they name a path
// that begins with "..".
// With a file or folder of -files in the change, which are separated by commas, and with go.mod or go.sum, every package is affected.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	files := flag.String("files", "", "files and folders that affect every package, separated by commas")
	direct := flag.Bool("direct", false, "only packages that have a changed file, not those that import them")
	tests := flag.Bool("tests", false, "also packages whose tests read changed files elsewhere")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: affected [-files PATHS] [-direct] [-tests] COMMIT PACKAGES…")
		os.Exit(2)
	}
	names, err := affected(flag.Arg(0), strings.Split(*files, ","), *direct, *tests, flag.Args()[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(name)
	}
}

// affected returns the packages that match patterns and that the change since a commit affects.
func affected(commit string, always []string, direct, tests bool, patterns []string) ([]string, error) {
	list, err := load(patterns)
	if err != nil {
		return nil, err
	}
	if tests {
		if err := list.addReaders(); err != nil {
			return nil, err
		}
	}
	if commit == "" {
		return list.wanted, nil
	}
	root, err := output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	changes, err := output("git", "-C", strings.TrimSpace(string(root)), "diff", "--name-only", "--no-renames", "-z", commit)
	if err != nil {
		return nil, err
	}
	return list.affectedBy(strings.Split(strings.TrimRight(string(changes), "\x00"), "\x00"), append(always, "go.mod", "go.sum"), direct), nil
}

// pkg is what is read of a package in the output of go list. The tests of a package are another package, with the suffix .test.
type pkg struct {
	ImportPath, ForTest, Dir                    string
	TestGoFiles, XTestGoFiles                   []string
	Deps                                        []string
	DepOnly                                     bool
	EmbedFiles, TestEmbedFiles, XTestEmbedFiles []string
	Module                                      *struct {
		Main bool
		Dir  string
	}
}

// graph holds the packages of this module that some packages need.
type graph struct {
	wanted []string                   // the packages in question
	needs  map[string]map[string]bool // package in question → every package that it or its tests import, itself too
	folder map[string][]string        // folder from the root of the module → its package
	embeds map[string][]string        // file from the root of the module → packages that embed it
	tests  map[string][]string        // package in question → files of its tests, with the folder of the package
	reads  map[string][]string        // file or folder from the root of the module, "." for the root → packages in question whose tests name it
	root   string                     // folder of the module
}

// load reads the packages that match patterns, with everything that they and their tests import.
func load(patterns []string) (*graph, error) {
	const fields = "-json=ImportPath,ForTest,Dir,TestGoFiles,XTestGoFiles,Deps,DepOnly,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,Module"
	out, err := output("go", append([]string{"list", "-deps", "-test", fields}, patterns...)...)
	if err != nil {
		return nil, err
	}
	g := &graph{needs: map[string]map[string]bool{}, folder: map[string][]string{}, embeds: map[string][]string{}, tests: map[string][]string{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Main {
			g.add(&p)
		}
	}
}

// add adds a package of the module, a variant of it for tests, or its tests.
func (g *graph) add(p *pkg) {
	name := plain(p.ImportPath)
	if !p.DepOnly {
		name = strings.TrimSuffix(name, ".test")
		if g.needs[name] == nil {
			g.needs[name] = map[string]bool{name: true}
			g.wanted = append(g.wanted, name)
		}
		for _, d := range p.Deps {
			g.needs[name][plain(d)] = true
		}
	}
	dir, err := filepath.Rel(p.Module.Dir, p.Dir)
	if err != nil {
		return
	}
	dir, g.root = filepath.ToSlash(dir), p.Module.Dir
	if !p.DepOnly && p.ImportPath == name {
		for _, f := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			g.tests[name] = append(g.tests[name], path.Join(dir, f))
		}
	}
	if !slices.Contains(g.folder[dir], name) {
		g.folder[dir] = append(g.folder[dir], name)
	}
	for _, f := range slices.Concat(p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles) {
		file := path.Join(dir, filepath.ToSlash(f))
		g.embeds[file] = append(g.embeds[file], name)
	}
}

// plain returns an import path without the tests for which the package was compiled: "a/b" for "a/b [a/c.test]" and "a/b_test [a/b.test]".
func plain(name string) string {
	name, _, variant := strings.Cut(name, " ")
	if variant {
		name = strings.TrimSuffix(name, "_test")
	}
	return name
}

// affectedBy returns the packages in question that changed files affect; all of them with a change in one of the files or folders of always. With
// direct, a package is not affected by a change in another one.
func (g *graph) affectedBy(files, always []string, direct bool) []string {
	var all []string // packages with changed files
	own := map[string]bool{}
	for _, file := range files {
		for _, a := range always {
			if a != "" && (file == a || strings.HasPrefix(file, strings.TrimSuffix(a, "/")+"/")) {
				return g.wanted
			}
		}
		for dir := file; ; dir = path.Dir(dir) {
			for _, n := range g.reads[dir] {
				own[n] = true
			}
			if dir == "." {
				break
			}
		}
		names := append(slices.Clone(g.embeds[file]), g.folder[g.home(file)]...)
		if !direct && !strings.HasSuffix(file, "_test.go") {
			all = append(all, names...)
		}
		for _, n := range names {
			own[n] = true // tests of a package are nothing to those that import it
		}
	}
	return slices.DeleteFunc(slices.Clone(g.wanted), func(name string) bool {
		return !own[name] && !slices.ContainsFunc(all, func(changed string) bool { return g.needs[name][changed] })
	})
}

// home returns the folder of the package that a file belongs to: its own for Go code; else the innermost that has a package, for example for testdata.
func (g *graph) home(file string) string {
	dir := path.Dir(file)
	if strings.HasSuffix(file, ".go") && !strings.Contains(file, "/testdata/") {
		return dir
	}
	for ; dir != "." && g.folder[dir] == nil; dir = path.Dir(dir) {
		if code, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go")); err == nil && len(code) > 0 && !strings.Contains(dir, "/testdata") {
			break // of a package that nobody here needs
		}
	}
	return dir
}

// output runs a program and returns what it printed.
func output(name string, args ...string) ([]byte, error) {
	var problems bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, problems.String())
	}
	return out, nil
}
