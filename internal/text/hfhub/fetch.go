package hfhub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Limits against a hostile or broken hub.
const (
	maxAnswer         = 64 << 20  // bytes of an API response
	maxFile           = 1 << 30   // bytes of a file of a model
	maxData           = 256 << 30 // bytes of a file of a dataset
	maxRedirects      = 5
	attempts          = 3
	parallelDownloads = 4 // parallel downloads
)

// Files returns the wanted files of a repository: name -> path in the cache. If enough returns true for the cached files, it does not use the
// network. Otherwise it downloads the missing files.
func (c Config) Files(ctx context.Context, repo, rev string, want func(string) bool, enough func(map[string]string) bool) (map[string]string, error) {
	if err := validRepo(repo); err != nil {
		return nil, c.fail(NotFound, repo, rev, err)
	}
	cached := c.Cached(repo, rev, want)
	for name, path := range cached {
		switch err := c.intact(path, ""); {
		case err != nil && c.Offline != "":
			return nil, c.damaged(repo, rev, path, err)
		case err != nil:
			c.notice("%s in the cache is damaged (%v); downloading it again", name, err)
			delete(cached, name)
		}
	}
	if enough(cached) && (c.Offline != "" || cached["tokenizer_config.json"] != "" || c.absent(repo, rev, "tokenizer_config.json")) {
		return cached, nil
	}
	if c.Offline != "" {
		e := c.fail(Offline, repo, rev, fmt.Errorf("Tokenizer '%s' (revision '%s') is not present in the HuggingFace cache", repo, rev), c.folder(repo))
		e.Advice = []string{"Run online once to populate the cache, or unset " + c.Offline, otherTokenizerAdvice}
		return nil, e
	}
	s, err := c.online(ctx, repo, rev)
	var files map[string]string
	if err == nil {
		files, err = s.Files(ctx, want)
	}
	if err != nil && enough(cached) && isTransient(err) {
		return cached, nil
	}
	return files, err
}

// isTransient reports whether a failure comes from the network or the hub, so that cached files may be used instead.
func isTransient(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == Down || e.Kind == Busy || e.Kind == Timeout || e.Kind == Offline)
}

// fetcher requests one revision of a repository from a hub.
type fetcher struct {
	Config
	http   *http.Client
	repo   string
	rev    string
	places sync.Map // address -> URL of the content after redirects
}

// disk returns the error for a cache that cannot be written.
func (f *fetcher) disk(err error) error {
	switch {
	case isPermission(err):
		return f.fail(Permission, f.repo, f.rev, err, f.Cache)
	case isFull(err):
		return f.fail(DiskFull, f.repo, f.rev, err, f.Cache)
	}
	return f.fail(Down, f.repo, f.rev, err, f.Cache)
}

// json sends a request to the hub's API.
func (f *fetcher) json(ctx context.Context, address string, v any) error {
	return f.retry(ctx, address, orDefault(f.Probe, probeTime), func(ctx context.Context) error {
		resp, _, err := f.get(ctx, address, span{})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, v); err != nil {
			return permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("the hub's answer is not JSON: %w", err), address)}
		}
		return nil
	})
}
