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
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Bounds against a hostile or broken hub.
const (
	maxAnswer    = 16 << 20 // bytes of an API answer
	maxFile      = 1 << 30  // bytes of a file
	maxRedirects = 5
	attempts     = 3
)

// Files returns the wanted files of a repository: name -> path in the cache. A complete cache (enough is true for what it holds) needs
// no network; otherwise what is missing is fetched.
func (c Config) Files(ctx context.Context, repo, rev string, want func(string) bool, enough func(map[string]string) bool) (map[string]string, error) {
	if err := validRepo(repo); err != nil {
		return nil, fail(NotFound, repo, rev, err)
	}
	cached := c.Cached(repo, rev, want)
	if enough(cached) && (c.Offline != "" || cached["tokenizer_config.json"] != "" || c.absent(repo, rev, "tokenizer_config.json")) {
		return cached, nil
	}
	if c.Offline != "" {
		e := fail(Offline, repo, rev, fmt.Errorf("Tokenizer '%s' (revision '%s') is not present in the HuggingFace cache", repo, rev), c.folder(repo))
		e.Do = []string{"Run online once to populate the cache, or unset " + c.Offline, elsewhere}
		return nil, e
	}
	f := &fetcher{Config: c, http: c.client(), repo: repo, rev: rev}
	files, err := f.all(ctx, want)
	if err != nil && enough(cached) {
		var e *Error
		if errors.As(err, &e) && (e.Kind == Down || e.Kind == Timeout || e.Kind == Offline) {
			return cached, nil
		}
	}
	return files, err
}

type fetcher struct {
	Config
	http *http.Client
	repo string
	rev  string
}

// all asks for the list of files and fetches those that are wanted, side by side.
func (f *fetcher) all(ctx context.Context, want func(string) bool) (map[string]string, error) {
	probe, cancel := context.WithTimeout(ctx, orDefault(f.Probe, 9*time.Second))
	defer cancel()
	var info struct {
		SHA      string
		Siblings []struct{ RFilename string }
	}
	api := f.Endpoint + "/api/models/" + f.repo + "/revision/" + url.PathEscape(f.rev)
	if err := f.json(probe, api, &info); err != nil {
		return nil, err
	}
	if !isHash(info.SHA) {
		return nil, fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer names the commit %q, want 40 hexadecimal digits", info.SHA), api)
	}
	var names []string
	for _, s := range info.Siblings {
		if want(s.RFilename) && validName(s.RFilename) {
			names = append(names, s.RFilename)
		}
	}
	paths := make([]string, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { paths[i], errs[i] = f.file(ctx, info.SHA, name) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := f.setRef(f.repo, f.rev, info.SHA); err != nil {
		return nil, f.disk(err)
	}
	found := map[string]string{}
	for i, name := range names {
		found[name] = paths[i]
	}
	return found, nil
}

// disk is the error of a cache that cannot be written to.
func (f *fetcher) disk(err error) error {
	if isPermission(err) {
		return fail(Permission, f.repo, f.rev, err, f.Cache)
	}
	return fail(Down, f.repo, f.rev, err, f.Cache)
}

// file brings one file of a commit into the cache.
func (f *fetcher) file(ctx context.Context, commit, name string) (string, error) {
	final := filepath.Join(f.folder(f.repo), "snapshots", commit, filepath.FromSlash(name))
	if info, err := os.Stat(final); err == nil && info.Mode().IsRegular() {
		return final, nil
	}
	blobs := filepath.Join(f.folder(f.repo), "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return "", f.disk(err)
	}
	tmp, err := os.CreateTemp(blobs, "*.incomplete")
	if err != nil {
		return "", f.disk(err)
	}
	defer os.Remove(tmp.Name()) // gone already when it was stored
	defer tmp.Close()
	address := f.Endpoint + "/" + f.repo + "/resolve/" + commit + "/" + (&url.URL{Path: name}).EscapedPath()
	etag, err := f.download(ctx, address, name, tmp)
	if err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", f.disk(err)
	}
	path, err := f.store(f.repo, commit, name, tmp.Name(), etag)
	if err != nil {
		return "", f.disk(err)
	}
	return path, nil
}

// download fetches address into tmp, picking up where a cut connection has left off, and returns the blob's name.
func (f *fetcher) download(ctx context.Context, address, name string, tmp *os.File) (etag string, err error) {
	done := int64(0)
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
		if etag = tag; size > maxFile {
			return permanent{fail(Down, f.repo, f.rev, fmt.Errorf("%s has %d bytes, at most %d are allowed", name, size, int64(maxFile)), address)}
		}
		if _, err := tmp.Seek(done, io.SeekStart); err != nil {
			return permanent{f.disk(err)}
		}
		if err := tmp.Truncate(done); err != nil {
			return permanent{f.disk(err)}
		}
		body := &meter{r: io.LimitReader(resp.Body, maxFile), tick: func(n int) {
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
		return "", fail(Down, f.repo, f.rev, fmt.Errorf("the content's hash is %s, the hub says %s", got, etag), address)
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
			return permanent{fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer is no JSON: %w", err), address)}
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
	return fail(kind, f.repo, f.rev, err, address, f.folder(f.repo))
}
