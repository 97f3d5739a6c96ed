package hfhub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folder returns the cache directory of a repository.
func (c Config) folder(repo string) string {
	return filepath.Join(c.Cache, string(c.content())+"--"+strings.ReplaceAll(repo, "/", "--"))
}

func (c Config) content() Content {
	if c.Content == "" {
		return Models
	}
	return c.Content
}

// validRepo rejects names that would lead outside the cache directory.
func validRepo(repo string) error {
	parts := strings.Split(repo, "/")
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || strings.ContainsAny(p, `\:`) || strings.Contains(p, "--") && len(parts) > 2 {
			return fmt.Errorf("%q is not a repository name; write owner/name", repo)
		}
	}
	if len(parts) > 2 {
		return fmt.Errorf("%q is not a repository name; write owner/name", repo)
	}
	return nil
}

// validName rejects file names that would lead outside a snapshot.
func validName(name string) bool { return name != "" && filepath.IsLocal(filepath.FromSlash(name)) }

// commit returns the commit of a revision, according to the cache; "" if it is not cached.
func (c Config) commit(repo, rev string) string {
	dir := c.folder(repo)
	if validName(rev) {
		if b, err := os.ReadFile(filepath.Join(dir, "refs", filepath.FromSlash(rev))); err == nil {
			if hash := strings.TrimSpace(string(b)); validName(hash) {
				return hash
			}
		}
	}
	if isHash(rev) {
		return rev
	}
	return ""
}

func isHash(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// Cached returns the wanted files of a revision that are in the cache: name -> path.
func (c Config) Cached(repo, rev string, want func(name string) bool) map[string]string {
	hash := c.commit(repo, rev)
	if validRepo(repo) != nil || hash == "" {
		return nil
	}
	root := filepath.Join(c.folder(repo), "snapshots", hash)
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if info, err := os.Stat(path); want(name) && err == nil && info.Mode().IsRegular() { // entries are links
			found[name] = path
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

// absent reports whether the cache has recorded that a file does not exist in a revision.
func (c Config) absent(repo, rev, name string) bool {
	_, err := os.Stat(filepath.Join(c.folder(repo), ".no_exist", c.commit(repo, rev), name))
	return err == nil
}

// Alias returns the only cached repository with a given name, ignoring owner and case; "" if there is none or more than one.
func (c Config) Alias(name string) string {
	entries, err := os.ReadDir(c.Cache)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), string(c.content())+"--")
		if !ok {
			continue
		}
		repo := strings.Replace(rest, "--", "/", 1)
		if _, short, _ := strings.Cut(repo, "/"); !strings.EqualFold(repo, name) && !strings.EqualFold(short, name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = repo
	}
	return found
}

// store adds a downloaded blob to the snapshot of a commit: as a link to blobs/etag, or as a copy if links are not possible.
func (c Config) store(repo, hash, name, tmp, etag string) (string, error) {
	dir := c.folder(repo)
	blob := filepath.Join(dir, "blobs", etag)
	if err := os.Rename(tmp, blob); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "snapshots", hash, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	target, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return "", err
	}
	next := path + ".link"
	_ = os.Remove(next)
	if err := os.Symlink(target, next); err != nil {
		b, err := os.ReadFile(blob)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(next, b, 0o644); err != nil {
			return "", err
		}
	}
	return path, os.Rename(next, path)
}

// setRef records the commit of a revision.
func (c Config) setRef(repo, rev, hash string) error {
	if rev == hash || !validName(rev) {
		return nil
	}
	path := filepath.Join(c.folder(repo), "refs", filepath.FromSlash(rev))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".ref*")
	if err != nil {
		return err
	}
	_, werr := tmp.WriteString(hash)
	if err := errors.Join(werr, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func isPermission(err error) bool { return errors.Is(err, fs.ErrPermission) }
