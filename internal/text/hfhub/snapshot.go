package hfhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Snapshot is the content of a repository at one commit.
type Snapshot struct {
	Commit string   // "" = a directory replaces the repository
	Names  []string // all files, paths with slashes, sorted

	facts map[string]fact // the hub's data about files, by name
	root  string          // directory with the files, instead of the cache
	f     *fetcher        // nil = only the cache or the directory is read
	c     Config
	repo,
	rev string
}

// fact is an entry of a file in the hub's list.
type fact struct {
	size int64
	tag  string // name of the content, its hash
}

// Snapshot returns a revision of a repository. If the network is disabled or the hub does not answer, it contains the cached files.
func (c Config) Snapshot(ctx context.Context, repo, rev string) (*Snapshot, error) {
	if c.Dir != "" {
		return c.directory(repo)
	}
	if err := validRepo(repo); err != nil {
		return nil, c.fail(NotFound, repo, rev, err)
	}
	if c.Offline == "" {
		s, err := c.online(ctx, repo, rev)
		if err == nil || !isTransient(err) {
			return s, err
		}
		if s := c.Stored(repo, rev); s != nil {
			c.notice("%s does not answer; using the cached files", c.Endpoint)
			return s, nil
		}
		return nil, err
	}
	if s := c.Stored(repo, rev); s != nil {
		return s, nil
	}
	return nil, c.fail(Offline, repo, rev, fmt.Errorf("%s forbids the network, and the cache does not have the revision", c.Offline), c.folder(repo))
}

// directory returns a copy of a repository in a directory: every file below it whose path has no part with a leading dot.
func (c Config) directory(repo string) (*Snapshot, error) {
	s := &Snapshot{root: c.Dir, c: c, repo: repo, rev: "main"}
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != c.Dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(c.Dir, path)
		if info, serr := os.Stat(path); err == nil && serr == nil && info.Mode().IsRegular() && rel != "." { // entries may be links
			s.Names = append(s.Names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(s.Names) == 0 {
		return nil, fmt.Errorf("%s: the directory is empty; copy the files of the repository %s into it", c.Dir, repo)
	}
	slices.Sort(s.Names)
	return s, nil
}

// Stored returns the cached files of a revision; nil = none.
func (c Config) Stored(repo, rev string) *Snapshot {
	cached := c.Cached(repo, rev, func(string) bool { return true })
	if len(cached) == 0 {
		return nil
	}
	return &Snapshot{Commit: c.commit(repo, rev), Names: slices.Sorted(maps.Keys(cached)), c: c, repo: repo, rev: rev}
}

// online requests the commit of a revision and the names of its files from the hub; for datasets also sizes and hashes.
func (c Config) online(ctx context.Context, repo, rev string) (*Snapshot, error) {
	f := &fetcher{Config: c, http: c.client(), repo: repo, rev: rev}
	var info struct {
		SHA      string
		Siblings []struct {
			RFilename string
			Size      int64
			BlobID    string
			LFS       *struct {
				SHA256 string
				Size   int64
			}
		}
	}
	api := f.Endpoint + "/api/" + string(f.content()) + "/" + f.repo + "/revision/" + url.PathEscape(f.rev)
	if c.content() == Datasets {
		api += "?blobs=true"
	}
	if err := f.json(ctx, api, &info); err != nil {
		return nil, err
	}
	if !isHash(info.SHA) {
		return nil, f.fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer has the commit %q, which must have 40 hexadecimal digits", info.SHA), api)
	}
	s := &Snapshot{Commit: info.SHA, facts: map[string]fact{}, f: f, c: c, repo: repo, rev: rev}
	for _, file := range info.Siblings {
		if !validName(file.RFilename) {
			continue
		}
		s.Names = append(s.Names, file.RFilename)
		switch {
		case file.LFS != nil && isSum(file.LFS.SHA256):
			s.facts[file.RFilename] = fact{file.LFS.Size, file.LFS.SHA256}
		case isHash(file.BlobID):
			s.facts[file.RFilename] = fact{file.Size, file.BlobID}
		}
	}
	slices.Sort(s.Names)
	return s, nil
}

// Files downloads the wanted files to the cache, small ones in parallel: name -> path.
func (s *Snapshot) Files(ctx context.Context, want func(name string) bool) (map[string]string, error) {
	found := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	bring := func(name string) {
		path, err := s.File(ctx, name)
		mu.Lock()
		defer mu.Unlock()
		if found[name] = path; err != nil {
			errs = append(errs, err)
		}
	}
	free := make(chan struct{}, parallelDownloads)
	for _, name := range s.Names {
		if !want(name) || s.facts[name].size >= inPartsFrom {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			bring(name)
			<-free
		})
	}
	wg.Wait()
	for _, name := range s.Names { // large files have parallel parts
		if want(name) && s.facts[name].size >= inPartsFrom && len(errs) == 0 {
			bring(name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return found, nil
}

// local returns the path of a file on this machine, if it exists and is intact.
func (s *Snapshot) local(name string) (path string, there bool, err error) {
	path = filepath.Join(s.Folder(), filepath.FromSlash(name))
	if s.root != "" {
		_, err = os.Stat(path)
		return path, err == nil, err
	}
	if !isFile(path) {
		return path, false, nil
	}
	err = s.c.intact(path, s.facts[name].tag)
	switch {
	case err == nil:
		return path, true, nil
	case s.f == nil || !errors.Is(err, errContent):
		return path, false, s.c.damaged(s.repo, s.rev, path, err)
	}
	s.c.notice("%s in the cache is damaged (%v); downloading it again", name, err)
	return path, false, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// File downloads one file to the cache and returns its path.
func (s *Snapshot) File(ctx context.Context, name string) (string, error) {
	path, there, err := s.local(name)
	if err != nil {
		return "", err
	}
	if there {
		return path, s.noteRef()
	}
	if s.f == nil {
		return "", s.c.fail(Offline, s.repo, s.rev, fmt.Errorf("%s is not in the cache", name), path)
	}
	if path, err = s.f.file(ctx, s.Commit, name, s.facts[name]); err != nil {
		return "", err
	}
	return path, s.noteRef()
}

// Local reports whether an intact file is on this machine, and its size in bytes, -1 = unknown.
func (s *Snapshot) Local(name string) (there bool, size int64, err error) {
	path, there, err := s.local(name)
	if there {
		info, err := os.Stat(path)
		if err != nil {
			return false, -1, err
		}
		return true, info.Size(), nil
	}
	if f, ok := s.facts[name]; ok {
		return false, f.size, err
	}
	return false, -1, err
}

// Size returns the size of a file in bytes, -1 = unknown, and whether it is on this machine. It does not check the content.
func (s *Snapshot) Size(name string) (size int64, local bool) {
	path := filepath.Join(s.Folder(), filepath.FromSlash(name))
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return info.Size(), true
	}
	if f, ok := s.facts[name]; ok {
		return f.size, false
	}
	return -1, false
}

// Folder returns the directory of the revision's files on this machine.
func (s *Snapshot) Folder() string {
	if s.root != "" {
		return s.root
	}
	return filepath.Join(s.c.folder(s.repo), "snapshots", s.Commit)
}

// CopyTo copies the cached files of the revision to a directory, which can then replace the repository (Config.Dir). It returns the number of files.
func (s *Snapshot) CopyTo(dir string) (n int, err error) {
	for name, path := range s.c.Cached(s.repo, s.rev, func(string) bool { return true }) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if path, err = filepath.EvalSymlinks(path); err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = place(path, to)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// place copies a file atomically.
func place(from, to string) error {
	tmp, err := os.CreateTemp(filepath.Dir(to), ".copy*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename
	in, err := os.Open(from)
	if err == nil {
		defer in.Close()
		_, err = io.Copy(tmp, in)
	}
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// noteRef records the commit of the revision in the cache, once a file of it is there.
func (s *Snapshot) noteRef() error {
	if s.f == nil {
		return nil
	}
	if err := s.c.setRef(s.repo, s.rev, s.Commit); err != nil {
		return s.f.disk(err)
	}
	return nil
}
