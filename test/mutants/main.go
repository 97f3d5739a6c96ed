// Command mutants plants the faults of list.txt one at a time and runs the tests of the package with each, first the fast ones (-short), then all. It
// prints the test that kills a mutant. It ends with status 1 if a mutant survives or does not fit the code any more, with 2 if it cannot test at all.
//
// The tree is not changed: go test gets the mutant as an overlay.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed list.txt
var list string

func main() {
	only := flag.String("only", "", "regular expression of the file and the name of mutants; others are not planted")
	file := flag.String("list", "", "file of mutants (default: list.txt of this program)")
	flag.Parse()
	text := list
	if *file != "" {
		b, err := os.ReadFile(*file)
		if err != nil {
			stop(err)
		}
		text = string(b)
	}
	all, err := parse(text)
	if err != nil {
		stop(err)
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		stop(fmt.Errorf("-only: %w", err))
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		stop(err)
	}
	alive, planted := plantAll(all, chosen, dir)
	os.RemoveAll(dir)
	fmt.Printf("%d of %d mutants killed\n", planted-alive, planted)
	if alive > 0 || planted == 0 {
		os.Exit(1)
	}
}

func stop(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// plantAll plants the chosen mutants and prints what came of each.
func plantAll(all []mutant, chosen *regexp.Regexp, dir string) (alive, planted int) {
	sound := map[string]bool{}
	for _, m := range all {
		if !chosen.MatchString(m.file + ": " + m.name) {
			continue
		}
		if pkg := m.pkg(); !sound[pkg] {
			if out, err := test(pkg); err != nil {
				stop(fmt.Errorf("the tests of %s fail without a mutant; make them pass first:\n%s", pkg, out))
			}
			sound[pkg] = true
		}
		planted++
		begin := time.Now()
		killed, how := m.plant(dir)
		if !killed {
			alive++
		}
		fmt.Printf("%s  %s: %s (%.0f s)\n", how, m.file, m.name, time.Since(begin).Seconds())
	}
	return alive, planted
}

// mutant is a fault: old occurs once in a file of internal/ and becomes new.
type mutant struct{ file, name, old, new string }

func (m *mutant) pkg() string { return "./internal/" + path.Dir(m.file) }

// parse reads mutants. Each has a line "file: name", lines "- old" and lines "+ new". Empty lines and lines with # are skipped.
func parse(text string) (all []mutant, err error) {
	for i, line := range strings.Split(text, "\n") {
		file, name, head := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case len(all) > 0 && strings.HasPrefix(line, "- "):
			all[len(all)-1].old = joined(all[len(all)-1].old, line[2:])
		case len(all) > 0 && strings.HasPrefix(line, "+ "):
			all[len(all)-1].new = joined(all[len(all)-1].new, line[2:])
		case len(all) > 0 && line == "+": // the old text goes
		case head && strings.HasSuffix(file, ".go"):
			all = append(all, mutant{file: file, name: name})
		default:
			return nil, fmt.Errorf("line %d: %q is not a line of a mutant; write \"file.go: name\", \"- old text\" or \"+ new text\"", i+1, line)
		}
	}
	return all, nil
}

func joined(before, line string) string {
	if before == "" {
		return line
	}
	return before + "\n" + line
}

// source returns the text of the mutant's file, which is at where. It returns an error if the old text does not occur there exactly once.
func (m *mutant) source(where string) (string, error) {
	b, err := os.ReadFile(where)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(b), m.old); n != 1 || m.old == "" {
		return "", fmt.Errorf("%s has the old text of %q %d times, not once", m.file, m.name, n)
	}
	return string(b), nil
}

// plant tests with the mutant instead of its file. how is a test that failed, or what else happened.
func (m *mutant) plant(dir string) (killed bool, how string) {
	where, err := filepath.Abs(filepath.Join("internal", m.file))
	if err != nil {
		stop(err)
	}
	text, err := m.source(where)
	if err != nil {
		return false, "STALE: " + err.Error()
	}
	overlay := filepath.Join(dir, "overlay.json")
	mutated := filepath.Join(dir, filepath.Base(where))
	places, err := json.Marshal(map[string]any{"Replace": map[string]string{where: mutated}})
	if err != nil {
		stop(err)
	}
	for name, content := range map[string]string{mutated: strings.Replace(text, m.old, m.new, 1), overlay: string(places)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			stop(err)
		}
	}
	killed, how = verdict(test(m.pkg(), "-short", "-overlay", overlay))
	if !killed && how == survived { // the slow tests may kill it
		killed, how = verdict(test(m.pkg(), "-overlay", overlay))
	}
	return killed, how
}

// test runs the tests of a package with more arguments of go test.
func test(pkg string, args ...string) (string, error) {
	args = append([]string{"test", "-vet=off", "-failfast", "-timeout", "300s"}, append(args, pkg)...)
	out, err := exec.Command("go", args...).CombinedOutput()
	return string(out), err
}

const survived = "SURVIVED"

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// verdict reads the output of a test run.
func verdict(out string, err error) (killed bool, how string) {
	one := failed.FindStringSubmatch(out)
	switch {
	case err == nil:
		return false, survived
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		return false, "DOES NOT COMPILE"
	case one != nil:
		return true, "killed by " + one[1]
	case strings.Contains(out, "panic: test timed out"):
		return true, "killed by the time limit"
	}
	return true, "killed by a crash"
}
