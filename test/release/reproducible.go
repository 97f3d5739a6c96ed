package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// gitVersion returns the version of the commit that is checked out, as the Makefile finds it.
func gitVersion() string {
	out, err := exec.Command("git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "dev"
	}
	return strings.TrimSpace(string(out))
}

// releaseVersion returns the version of a release without its v: the variable VERSION, else that of the commit. The program does not tell: trimmed builds
// do not record the flags of the linker.
func releaseVersion() string {
	v := os.Getenv("VERSION")
	if v == "" {
		v = gitVersion()
	}
	return strings.TrimPrefix(v, "v")
}

// reproducible builds the last commit twice, in directories with different names and with different caches, and compares the programs. The second build
// has an empty cache, so it compiles everything.
func reproducible() error {
	root, err := os.MkdirTemp("", "reproducible")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	var first []byte
	for i, place := range []string{"a", filepath.Join("b", "another-directory")} {
		tree := filepath.Join(root, place)
		if out, err := exec.Command("git", "clone", "-q", ".", tree).CombinedOutput(); err != nil {
			return fmt.Errorf("git clone: %w: %s", err, out)
		}
		cmd := exec.Command("make", "build")
		cmd.Dir = tree
		if i > 0 {
			cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(root, "cache")) // the same settings of Go: they decide what is recorded of the commit
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("make build: %w: %s", err, out)
		}
		program, err := os.ReadFile(filepath.Join(tree, "aiperf"))
		if err != nil {
			return err
		}
		fmt.Printf("%x  %s\n", sha256.Sum256(program), place)
		if i == 0 {
			first = program
		} else if !bytes.Equal(first, program) {
			return fmt.Errorf("two builds of %s differ: %d and %d bytes", gitVersion(), len(first), len(program))
		}
	}
	return nil
}
