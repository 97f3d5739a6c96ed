package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
)

// LockName is the usual name of a lock file.
const LockName = "plugins.lock"

// Lock records the content of plug-ins: every file of their packages, and the programs that they start. Interpreters count, too.
type Lock struct {
	Version  int             `json:"version"`
	Packages []LockedPackage `json:"packages"`
}

// LockedPackage is the content of the directory of one manifest.
type LockedPackage struct {
	Name     string            `json:"name"`
	Plugins  []string          `json:"plugins"`            // category:name, sorted
	Files    map[string]string `json:"files"`              // SHA-256 in hexadecimal, by the path below the directory
	Programs map[string]string `json:"programs,omitempty"` // the same of programs elsewhere, by the name in the manifest
}

// lockVersion is the version of the format of lock files.
const lockVersion = 1

// Bounds of what is read for a lock.
const (
	maxLockedFiles = 10_000
	maxLockedBytes = 4 << 30
	maxLockFile    = 64 << 20
)

// Lock returns the content of all plug-ins of the set. file is the lock file; where it lies in the directory of a plug-in, it does not lock itself.
func (s *Set) Lock(file string) (*Lock, error) {
	own, _ := os.Stat(file) // nil: it does not exist yet
	l := &Lock{Version: lockVersion, Packages: []LockedPackage{}}
	for i := range s.packages {
		if p := &s.packages[i]; slices.ContainsFunc(l.Packages, func(o LockedPackage) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("%s: there are two packages with the name %s; a lock needs directories with different names", p.File, p.Name)
		}
		one, err := s.lockPackage(&s.packages[i], own)
		if err != nil {
			return nil, err
		}
		l.Packages = append(l.Packages, one)
	}
	return l, nil
}

func (s *Set) lockPackage(p *Package, own fs.FileInfo) (LockedPackage, error) {
	one := LockedPackage{Name: p.Name, Plugins: []string{}}
	dir := filepath.Dir(p.File)
	var err error
	if one.Files, err = hashFiles(dir, own); err != nil {
		return one, err
	}
	for i := range s.entries {
		e := &s.entries[i]
		if e.File != p.File {
			continue
		}
		one.Plugins = append(one.Plugins, e.ID())
		command := e.Command()
		if len(command) == 0 || strings.HasPrefix(command[0], dir+string(filepath.Separator)) {
			continue
		}
		path, err := exec.LookPath(command[0])
		if err != nil {
			return one, fmt.Errorf("%s: %s: %w", e.Position(), e.ID(), err)
		}
		if one.Programs == nil {
			one.Programs = map[string]string{}
		}
		if one.Programs[e.Exec[0]], err = hashFile(path); err != nil {
			return one, err
		}
	}
	slices.Sort(one.Plugins)
	return one, nil
}

// hashFiles returns the hashes of the files below a directory. Hidden files, what Python stores for itself, results of benchmarks and the lock file
// (own) are skipped.
func hashFiles(dir string, own fs.FileInfo) (map[string]string, error) {
	hashes, bytes := map[string]string{}, int64(0)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == dir:
			return nil
		case strings.HasPrefix(d.Name(), "."), d.Name() == "__pycache__":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && onlyResults(path):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := os.Stat(path) // of what a link names
		if err != nil {
			return err
		}
		if own != nil && os.SameFile(info, own) {
			return nil
		}
		if bytes += info.Size(); !info.Mode().IsRegular() || len(hashes) >= maxLockedFiles || bytes > maxLockedBytes {
			return fmt.Errorf("%s: the directory of a plug-in may have %d files and %d bytes, all of them regular", path, maxLockedFiles, int64(maxLockedBytes))
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			hashes[filepath.ToSlash(name)], err = hashFile(path)
		}
		return err
	})
	return hashes, err
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Bytes returns the text of a lock file.
func (l *Lock) Bytes() ([]byte, error) {
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}

// ReadLock reads a lock file.
func ReadLock(file string) (*Lock, error) {
	text, err := boundedfile.ReadAll(file, maxLockFile)
	if err != nil {
		return nil, err
	}
	l := new(Lock)
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("%s is not a lock file of plug-ins: %w; write one with aiperf plugins lock", file, err)
	}
	if l.Version != lockVersion {
		return nil, fmt.Errorf("%s has version %d, but this aiperf knows version %d; write it again with aiperf plugins lock", file, l.Version, lockVersion)
	}
	return l, nil
}

// Changes says how the plug-ins that are installed differ from those that were locked; nil = they do not.
func (l *Lock) Changes(installed *Lock) (list []string) {
	for i := range installed.Packages {
		now := &installed.Packages[i]
		at := slices.IndexFunc(l.Packages, func(p LockedPackage) bool { return p.Name == now.Name })
		if at < 0 {
			list = append(list, fmt.Sprintf("package %s (%s) is not locked", now.Name, strings.Join(now.Plugins, ", ")))
			continue
		}
		then := &l.Packages[at]
		list = append(list, changed(now.Name, "file", then.Files, now.Files)...)
		list = append(list, changed(now.Name, "program", then.Programs, now.Programs)...)
	}
	for i := range l.Packages {
		then := &l.Packages[i]
		if !slices.ContainsFunc(installed.Packages, func(p LockedPackage) bool { return p.Name == then.Name }) {
			list = append(list, fmt.Sprintf("package %s is locked, but not installed", then.Name))
		}
	}
	return list
}

// changed compares two sets of hashes.
func changed(pack, what string, then, now map[string]string) (list []string) {
	for name, hash := range now {
		switch before, ok := then[name]; {
		case !ok:
			list = append(list, fmt.Sprintf("package %s: the %s %s is not locked", pack, what, name))
		case before != hash:
			list = append(list, fmt.Sprintf("package %s: the %s %s has changed", pack, what, name))
		}
	}
	for name := range then {
		if _, ok := now[name]; !ok {
			list = append(list, fmt.Sprintf("package %s: the %s %s is missing", pack, what, name))
		}
	}
	slices.Sort(list)
	return list
}
