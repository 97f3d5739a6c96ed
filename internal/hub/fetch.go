package hub

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's object names
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds against a hostile or broken hub.
const (
	maxAnswer    = 16 << 20  // bytes of an API answer
	maxFile      = 1 << 30   // bytes of a file of a model
	maxData      = 256 << 30 // bytes of a file of a dataset
	maxRedirects = 5
	attempts     = 3
	together     = 4 // downloads at a time
)

// Files returns the wanted files of a repository: name -> path in the cache. A complete cache (enough is true for what it holds) needs
// no network; otherwise what is missing is fetched.
func (c Config) Files(ctx context.Context, repo, rev string, want func(string) bool, enough func(map[string]string) bool) (map[string]string, error) {
	if err := validRepo(repo); err != nil {
		return nil, c.fail(NotFound, repo, rev, err)
	}
	cached := c.Cached(repo, rev, want)
	if enough(cached) && (c.Offline != "" || cached["tokenizer_config.json"] != "" || c.absent(repo, rev, "tokenizer_config.json")) {
		return cached, nil
	}
	if c.Offline != "" {
		e := c.fail(Offline, repo, rev, fmt.Errorf("Tokenizer '%s' (revision '%s') is not present in the HuggingFace cache", repo, rev), c.folder(repo))
		e.Do = []string{"Run online once to populate the cache, or unset " + c.Offline, elsewhere}
		return nil, e
	}
	s, err := c.online(ctx, repo, rev)
	var files map[string]string
	if err == nil {
		files, err = s.Files(ctx, want)
	}
	if err != nil && enough(cached) && passing(err) {
		return cached, nil
	}
	return files, err
}

// passing tells whether a failure is the network's or the hub's, so that what the cache holds may do instead.
func passing(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == Down || e.Kind == Timeout || e.Kind == Offline)
}

type fetcher struct {
	Config
	http *http.Client
	repo string
	rev  string
}

// Snapshot is what a repository held at one commit.
type Snapshot struct {
	Commit string
	Names  []string // of all files, paths with slashes, in alphabetical order

	f *fetcher // nil = only the cache is read
	c Config
	repo,
	rev string
}

// Snapshot finds a revision of a repository. Where the network is forbidden, or the hub does not answer, it is what the cache holds of it.
func (c Config) Snapshot(ctx context.Context, repo, rev string) (*Snapshot, error) {
	if err := validRepo(repo); err != nil {
		return nil, c.fail(NotFound, repo, rev, err)
	}
	if c.Offline == "" {
		s, err := c.online(ctx, repo, rev)
		if err == nil || !passing(err) {
			return s, err
		}
		if s := c.offline(repo, rev); s != nil {
			return s, nil
		}
		return nil, err
	}
	if s := c.offline(repo, rev); s != nil {
		return s, nil
	}
	return nil, c.fail(Offline, repo, rev, fmt.Errorf("%s forbids the network, and the revision is not in the cache", c.Offline), c.folder(repo))
}

// offline is what the cache holds of a revision; nil = nothing.
func (c Config) offline(repo, rev string) *Snapshot {
	cached := c.Cached(repo, rev, func(string) bool { return true })
	if len(cached) == 0 {
		return nil
	}
	return &Snapshot{Commit: c.commit(repo, rev), Names: slices.Sorted(maps.Keys(cached)), c: c, repo: repo, rev: rev}
}

// online asks the hub for the commit of a revision and the names of its files.
func (c Config) online(ctx context.Context, repo, rev string) (*Snapshot, error) {
	f := &fetcher{Config: c, http: c.client(), repo: repo, rev: rev}
	probe, cancel := context.WithTimeout(ctx, orDefault(f.Probe, 9*time.Second))
	defer cancel()
	var info struct {
		SHA      string
		Siblings []struct{ RFilename string }
	}
	api := f.Endpoint + "/api/" + string(f.content()) + "/" + f.repo + "/revision/" + url.PathEscape(f.rev)
	if err := f.json(probe, api, &info); err != nil {
		return nil, err
	}
	if !isHash(info.SHA) {
		return nil, f.fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer names the commit %q, want 40 hexadecimal digits", info.SHA), api)
	}
	s := &Snapshot{Commit: info.SHA, f: f, c: c, repo: repo, rev: rev}
	for _, file := range info.Siblings {
		if validName(file.RFilename) {
			s.Names = append(s.Names, file.RFilename)
		}
	}
	slices.Sort(s.Names)
	return s, nil
}

// Files brings the wanted files into the cache, some side by side: name -> path.
func (s *Snapshot) Files(ctx context.Context, want func(name string) bool) (map[string]string, error) {
	var names []string
	for _, name := range s.Names {
		if want(name) {
			names = append(names, name)
		}
	}
	paths, errs := make([]string, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	free := make(chan struct{}, together)
	for i, name := range names {
		free <- struct{}{}
		wg.Go(func() {
			paths[i], errs[i] = s.File(ctx, name)
			<-free
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for i, name := range names {
		found[name] = paths[i]
	}
	return found, nil
}

// File brings one file into the cache and returns its path there.
func (s *Snapshot) File(ctx context.Context, name string) (string, error) {
	final := filepath.Join(s.c.folder(s.repo), "snapshots", s.Commit, filepath.FromSlash(name))
	if info, err := os.Stat(final); err == nil && info.Mode().IsRegular() {
		return final, s.noteRef()
	}
	if s.f == nil {
		return "", s.c.fail(Offline, s.repo, s.rev, fmt.Errorf("%s is not in the cache", name), final)
	}
	path, err := s.f.file(ctx, s.Commit, name)
	if err != nil {
		return "", err
	}
	return path, s.noteRef()
}

// noteRef notes in the cache which commit the revision stands for, once a file of it is there.
func (s *Snapshot) noteRef() error {
	if s.f == nil {
		return nil
	}
	if err := s.c.setRef(s.repo, s.rev, s.Commit); err != nil {
		return s.f.disk(err)
	}
	return nil
}

// disk is the error of a cache that cannot be written to.
func (f *fetcher) disk(err error) error {
	if isPermission(err) {
		return f.fail(Permission, f.repo, f.rev, err, f.Cache)
	}
	return f.fail(Down, f.repo, f.rev, err, f.Cache)
}

// address is where a file of a commit lies.
func (f *fetcher) address(commit, name string) string {
	repo := f.repo
	if f.content() != Models {
		repo = string(f.content()) + "/" + repo
	}
	return f.Endpoint + "/" + repo + "/resolve/" + commit + "/" + (&url.URL{Path: name}).EscapedPath()
}

// file brings one file of a commit into the cache.
func (f *fetcher) file(ctx context.Context, commit, name string) (string, error) {
	blobs := filepath.Join(f.folder(f.repo), "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return "", f.disk(err)
	}
	tmp, err := openPartial(blobs, commit+"/"+name)
	if err != nil {
		return "", f.disk(err)
	}
	defer tmp.Close()
	etag, err := f.download(ctx, f.address(commit, name), name, tmp.File)
	if err != nil {
		return "", tmp.giveUp(err)
	}
	path, err := f.store(f.repo, commit, name, tmp.Name(), etag)
	if err != nil {
		return "", f.disk(err)
	}
	tmp.kept = true // under another name
	return path, nil
}

// download fetches address into tmp, picking up where a cut connection has left off, and returns the blob's name.
func (f *fetcher) download(ctx context.Context, address, name string, tmp *os.File) (etag string, err error) {
	done, err := tmp.Seek(0, io.SeekEnd)
	if err != nil {
		return "", f.disk(err)
	}
	limit := int64(maxFile)
	if f.content() == Datasets {
		limit = maxData
	}
	err = f.retry(ctx, address, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stall := orDefault(f.Stall, 30*time.Second)
		watch := time.AfterFunc(stall, cancel)
		defer watch.Stop()
		resp, tag, size, err := f.get(ctx, address, done)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusPartialContent {
			done = 0
		}
		if etag = tag; size > limit {
			return permanent{f.fail(Down, f.repo, f.rev, fmt.Errorf("%s has %d bytes, at most %d are allowed", name, size, limit), address)}
		}
		if _, err := tmp.Seek(done, io.SeekStart); err != nil {
			return permanent{f.disk(err)}
		}
		if err := tmp.Truncate(done); err != nil {
			return permanent{f.disk(err)}
		}
		body := &meter{r: io.LimitReader(resp.Body, limit-done), tick: func(n int) {
			watch.Reset(stall)
			if done += int64(n); f.Progress != nil {
				f.Progress(name, done, size)
			}
		}}
		if _, err := io.Copy(tmp, body); err != nil {
			return fmt.Errorf("%s: after %d bytes: %w", name, done, err)
		}
		if size >= 0 && done != size {
			return fmt.Errorf("%s: got %d bytes, the hub says %d", name, done, size)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return f.verify(tmp, etag, done, address)
}

// errContent is the failure of content that is not what the hub announced.
var errContent = errors.New("the content is damaged")

// verify compares the content with the name that the hub gave it: SHA-256 for large files, git's blob hash for others.
func (f *fetcher) verify(tmp *os.File, etag string, size int64, address string) (string, error) {
	var h hash.Hash
	switch {
	case len(etag) == 64 && strings.Trim(etag, "0123456789abcdef") == "":
		h = sha256.New()
	case isHash(etag):
		h = sha1.New() //nolint:gosec // git's object names
		fmt.Fprintf(h, "blob %d\x00", size)
	}
	sum := sha256.New()
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return "", f.disk(err)
	}
	w := io.Writer(sum)
	if h != nil {
		w = io.MultiWriter(sum, h)
	}
	if _, err := io.Copy(w, tmp); err != nil {
		return "", f.disk(err)
	}
	if h == nil {
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != etag {
		return "", f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: its hash is %s, the hub says %s", errContent, got, etag), address)
	}
	return etag, nil
}

// meter counts what is read.
type meter struct {
	r    io.Reader
	tick func(n int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.tick(n)
	return n, err
}

// json asks the hub's API.
func (f *fetcher) json(ctx context.Context, address string, v any) error {
	return f.retry(ctx, address, func(ctx context.Context) error {
		resp, _, _, err := f.get(ctx, address, 0)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, v); err != nil {
			return permanent{f.fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer is no JSON: %w", err), address)}
		}
		return nil
	})
}

// permanent marks an error that a retry cannot mend.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// retry calls f up to three times, with pauses, until it succeeds or fails for good.
func (f *fetcher) retry(ctx context.Context, address string, do func(context.Context) error) error {
	pause := orDefault(f.Backoff, 500*time.Millisecond)
	var err error
	for i := range attempts {
		if i > 0 {
			select {
			case <-ctx.Done():
				return f.network(ctx, address, err)
			case <-time.After(pause):
			}
			pause *= 2
		}
		if err = do(ctx); err == nil {
			return nil
		}
		var p permanent
		if errors.As(err, &p) {
			return p.error
		}
		if ctx.Err() != nil {
			break
		}
	}
	return f.network(ctx, address, err)
}

// network is the error of a hub that did not answer.
func (f *fetcher) network(ctx context.Context, address string, err error) error {
	kind := Offline
	var s status
	switch {
	case errors.As(err, &s):
		kind = Down
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		kind = Timeout
	}
	return f.fail(kind, f.repo, f.rev, err, address, f.folder(f.repo))
}
