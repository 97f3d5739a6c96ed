package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// entries are the entries of one or more files.
type entries struct {
	current  string
	clusters map[string]cluster
	contexts map[string]inContext
	users    map[string]user
}

func newEntries() *entries {
	return &entries{clusters: map[string]cluster{}, contexts: map[string]inContext{}, users: map[string]user{}}
}

// add adds what another file has and this one has not: the first file with an entry wins, and the first with a current context.
func (e *entries) add(other *entries) {
	if e.current == "" {
		e.current = other.current
	}
	addMissing(e.clusters, other.clusters)
	addMissing(e.contexts, other.contexts)
	addMissing(e.users, other.users)
}

func addMissing[T any](to, from map[string]T) {
	for name, one := range from {
		if _, ok := to[name]; !ok {
			to[name] = one
		}
	}
}

// load returns the entries of all files that count. A file that the user names must exist; others may be missing.
//
// client-go also copies ~/.kube/.kubeconfig, the place of 2015, to ~/.kube/config if that is missing. A program that reads should write nothing, so this one
// does not.
func (p *Places) load(path string) (*entries, error) {
	all := newEntries()
	if path != "" {
		one, err := read(path)
		if err != nil {
			return nil, err
		}
		all.add(one)
		return all, nil
	}
	var errs []error
	for _, name := range p.files() {
		one, err := read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		default:
			all.add(one)
		}
	}
	return all, joined(errs)
}

// files returns the files that count without --kubeconfig.
func (p *Places) files() (names []string) {
	if list := p.Getenv("KUBECONFIG"); list != "" {
		for _, name := range filepath.SplitList(list) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	}
	// Without a home, client-go reads .kube/config in the working directory. This program does not: such a file may come from a stranger, and it can name a
	// program to run.
	if home := p.home(); home != "" {
		names = append(names, filepath.Join(home, ".kube", "config"))
	}
	return names
}

// home returns the folder of the user. On Windows several variables may name it: the first that has a kubeconfig wins.
func (p *Places) home() string {
	if runtime.GOOS != "windows" {
		return p.Getenv("HOME")
	}
	var first string
	for _, dir := range []string{p.Getenv("HOME"), p.Getenv("HOMEDRIVE") + p.Getenv("HOMEPATH"), p.Getenv("USERPROFILE")} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, ".kube", "config")); err == nil {
			return dir
		}
		if first == "" {
			first = dir
		}
	}
	return first
}

// noSuch says that a name is in no list, and which names are.
func noSuch[T any](what, name string, all map[string]T) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no %s %q; the kubeconfig has none", what, name)
	}
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	const most = 10
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return fmt.Errorf("there is no %s %q; the kubeconfig has %q", what, name, names)
}
