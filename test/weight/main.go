//go:build linux

// Weight measures what the program weighs and compares it with the limits in weight.txt: size of the binary, packages linked, resident memory of
// --version and of the main help and, with -cold, the CPU time of a build with an empty cache as a multiple of that of net/http. It runs on
// linux/amd64, for which the limits are.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// limitsFile holds the limits: "name number unit" on each line, comments begin with #.
const limitsFile = "weight.txt"

// measure is one figure of the weight.
type measure struct {
	name string
	cold bool // only with -cold, because it takes minutes
	take func(program string) (float64, error)
}

var measures = []measure{
	{name: "binary", take: binary},
	{name: "packages", take: packages},
	{name: "version_resident", take: resident("--version")},
	{name: "help_resident", take: resident("help")},
	{name: "cold_build_cpu", cold: true, take: coldBuild},
}

func main() {
	program := flag.String("aiperf", "./aiperf", "the program, made by make build")
	cold := flag.Bool("cold", false, "measure a build with an empty cache, too (minutes)")
	flag.Parse()
	if err := check(*program, *cold); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

// check measures and compares.
func check(program string, cold bool) error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("%s/%s: the limits are for linux/amd64", runtime.GOOS, runtime.GOARCH)
	}
	text, err := os.ReadFile(limitsFile)
	if err != nil {
		return err
	}
	limits, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", limitsFile, err)
	}
	var faults []error
	for _, m := range measures {
		if m.cold && !cold {
			continue
		}
		limit, known := limits[m.name]
		if !known {
			return fmt.Errorf("%s has no line %s", limitsFile, m.name)
		}
		got, err := m.take(program)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Printf("%-17s %8.1f of %g\n", m.name, got, limit)
		if got > limit {
			faults = append(faults, fmt.Errorf("%s is %.1f, the limit is %g. Make it smaller, or raise the limit in %s in a separate commit that says why", m.name, got, limit, limitsFile))
		}
	}
	return errors.Join(append(faults, ownCommit())...)
}

// parse reads limits.
func parse(text string) (map[string]float64, error) {
	limits := map[string]float64{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 2 || !slices.ContainsFunc(measures, func(m measure) bool { return m.name == words[0] }) {
			return nil, fmt.Errorf("line %d: %q; want a measure and its limit", n, strings.TrimSpace(line))
		}
		v, err := strconv.ParseFloat(words[1], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		limits[words[0]] = v
	}
	return limits, nil
}

// ownCommit returns an error if the newest change of the limits is in a commit with other changes. Without a history there is nothing to check.
func ownCommit() error {
	commit, _ := exec.Command("git", "log", "-1", "--format=%h", "--", limitsFile).Output()
	hash := strings.TrimSpace(string(commit))
	if hash == "" {
		return nil
	}
	files, err := exec.Command("git", "show", "--format=", "--name-only", hash).Output()
	if err != nil {
		return fmt.Errorf("git show %s: %w", hash, err)
	}
	if list := strings.Fields(string(files)); len(list) > 1 {
		return fmt.Errorf("commit %s changes %s and %d other files: a limit changes in a separate commit, whose message says why", hash, limitsFile, len(list)-1)
	}
	return nil
}

// binary returns the size of the program in MB.
func binary(program string) (float64, error) {
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

// packages counts the packages that are linked, the standard library included.
func packages(string) (float64, error) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/aiperf").Output()
	return float64(bytes.Count(out, []byte("\n"))), err
}

// resident returns the median of nine starts' largest resident memory with this word, in MiB. Most of it are pages of the program file. --version is
// answered before most packages are initialised; help needs them all. A copy is started, as an installation makes one: the kernel maps larger parts of
// a file that the linker has just written.
func resident(word string) func(program string) (float64, error) {
	return func(program string) (float64, error) {
		dir, err := os.MkdirTemp("", "weight")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "program")
		if err := copyProgram(program, path); err != nil {
			return 0, err
		}
		sizes := make([]float64, 9)
		for i := range sizes {
			cmd := exec.Command(path, word)
			if err := cmd.Run(); err != nil {
				return 0, err
			}
			sizes[i] = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
		}
		slices.Sort(sizes)
		return sizes[len(sizes)/2], nil
	}
}

// copyProgram copies a program without holding it: the resident memory of this process counts as that of the programs that it starts.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// coldBuild returns the CPU time of a build with an empty cache, divided by that of net/http, which is built just before: the seconds differ
// by a factor of two between machines.
func coldBuild(string) (float64, error) {
	server, err := buildCPU("net/http")
	if err != nil {
		return 0, err
	}
	program, err := buildCPU("./cmd/aiperf")
	fmt.Printf("cold builds: %.1f s of CPU, net/http %.1f s\n", program, server)
	return program / server, err
}

// buildCPU returns the CPU time of a build of a package whose cache is empty, in s.
func buildCPU(name string) (float64, error) {
	dir, err := os.MkdirTemp("", "weight")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "built"), name)
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}
