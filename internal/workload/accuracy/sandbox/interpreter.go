package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// interpreter is the machine's python3: its path, and the directories that it reads.
type interpreter struct {
	Path     string
	Prefixes []string // root directories of the installation and of a virtual environment
	Modules  []string // directories and archives with modules
}

// pythonFacts is a program that prints an interpreter as JSON.
const pythonFacts = `import sys, json
print(json.dumps({"Path": sys.executable, "Prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix], "Modules": sys.path}))`

// findInterpreter asks the python3 in PATH for the places of its files.
func findInterpreter(ctx context.Context) (p interpreter, err error) {
	out, err := exec.CommandContext(ctx, "python3", "-I", "-c", pythonFacts).Output()
	if err != nil || json.Unmarshal(out, &p) != nil || p.Path == "" {
		return p, errors.New("python3 is not installed or does not start, but the generated programs need it; install Python 3")
	}
	return p, nil
}

// systemPaths are the directories in which a Linux system keeps the libraries of every program.
var systemPaths = []string{"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/zoneinfo", "/bin", "/lib", "/lib32", "/lib64",
	"/etc/ld.so.cache", "/etc/alternatives"}

// packageStores are the package directories of systems with one directory per package.
var packageStores = []string{"/nix/store", "/gnu/store"}

// paths returns the files and directories that the interpreter needs.
func (p interpreter) paths() []string {
	list := slices.Clone(systemPaths)
	resolved, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		resolved = p.Path
	}
	for _, store := range packageStores {
		if strings.HasPrefix(resolved, store+"/") {
			list = append(list, store)
		}
	}
	for _, prefix := range p.Prefixes {
		for _, name := range []string{"bin", "lib", "lib64", "pyvenv.cfg"} {
			list = append(list, filepath.Join(prefix, name))
		}
	}
	for _, path := range p.Modules {
		if slices.ContainsFunc(p.Prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix+"/") }) {
			list = append(list, path) // excludes projects that are installed by reference
		}
	}
	return list
}

// share is one file or directory of the machine that a sandbox shows read-only.
type share struct {
	Source string // "" = Target is a symbolic link to Link
	Target string
	Link   string
}

// shares returns what a sandbox shows for the interpreter, parents before children.
func (p interpreter) shares() []share {
	var list []share
	paths := p.paths()
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if filepath.IsAbs(path) && path != "/" {
			list = appendShare(list, path)
		}
	}
	return p.withLinks(list)
}

// appendShare adds a path to the shares, and the target if the path is a link. A link in the root directory stays a link.
func appendShare(list []share, path string) []share {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return list
	}
	link, err := os.Readlink(path)
	if err == nil && filepath.Dir(path) == "/" {
		return append(appendShare(list, resolved), share{Target: path, Link: link})
	}
	for _, target := range []string{resolved, path} {
		if !covered(list, target) {
			list = append(list, share{Source: resolved, Target: target})
		}
	}
	return list
}

// covered reports whether the shares already contain a path.
func covered(list []share, path string) bool {
	return slices.ContainsFunc(list, func(s share) bool {
		return path == s.Target || strings.HasPrefix(path, s.Target+"/")
	})
}

// withLinks adds the links between the name of the interpreter and its file.
func (p interpreter) withLinks(list []share) []share {
	resolved, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return list
	}
	const mostLinks = 40 // the kernel's limit for following links
	path := p.Path
	for range mostLinks {
		if !covered(list, path) {
			list = append(list, share{Source: resolved, Target: path})
		}
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return list
}
