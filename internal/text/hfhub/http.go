package hfhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
)

// span is the requested part of a file, in bytes, from (included) to (excluded); open = to the end.
type span struct {
	from, to int64
	open     bool
}

// header returns the value of the Range header; "" = the whole file.
func (s span) header() string {
	switch {
	case s.open && s.from > 0:
		return fmt.Sprintf("bytes=%d-", s.from)
	case !s.open && s.to > s.from:
		return fmt.Sprintf("bytes=%d-%d", s.from, s.to-1)
	}
	return ""
}

// content describes a file in a response: its name ("" = none) and its full size (-1 = unknown).
type content struct {
	tag  string
	size int64
}

// get requests a part of a file and follows redirects. It sends the token only to the hub's host. If the hub redirected the last request to another
// host, it asks that host first, and the hub again if that host refuses.
func (f *fetcher) get(ctx context.Context, address string, part span) (*http.Response, content, error) {
	if place, known := f.places.Load(address); known {
		resp, c, err := f.follow(ctx, place.(string), address, part)
		if err == nil {
			return resp, c, nil
		}
		f.places.Delete(address)
		var gone permanentError
		if !errors.As(err, &gone) {
			return nil, c, err
		}
	}
	return f.follow(ctx, address, address, part)
}

// follow requests, at place, the content that the hub has at address.
func (f *fetcher) follow(ctx context.Context, place, address string, part span) (*http.Response, content, error) {
	c := content{size: -1}
	home, err := url.Parse(f.Endpoint)
	if err != nil || home.Host == "" {
		return nil, c, permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("HF_ENDPOINT %q is not a URL", f.Endpoint))}
	}
	for range maxRedirects + 1 {
		req, err := f.request(ctx, home, place, part)
		if err != nil {
			return nil, c, permanentError{err}
		}
		resp, err := f.http.Do(req)
		if err != nil {
			return nil, c, err
		}
		if c.tag == "" {
			c.tag = tag(resp.Header)
		}
		if n, err := strconv.ParseInt(resp.Header.Get("X-Linked-Size"), 10, 64); err == nil {
			c.size = n
		}
		switch {
		case resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.Header.Get("Location") != "":
			drain(resp)
			next, err := req.URL.Parse(resp.Header.Get("Location"))
			if err != nil {
				return nil, c, permanentError{f.fail(Down, f.repo, f.rev, err, place)}
			}
			place = next.String()
			continue
		case resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent:
			if c.size < 0 {
				c.size = whole(resp)
			}
			if req.URL.Host != home.Host {
				f.places.Store(address, place)
			}
			return resp, c, nil
		}
		drain(resp)
		return nil, c, f.refused(resp, place)
	}
	return nil, c, permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("more than %d redirects", maxRedirects), place)}
}

// whole returns the full size of the file in a complete or partial response; -1 = unknown.
func whole(resp *http.Response) int64 {
	if resp.StatusCode == http.StatusOK {
		return resp.ContentLength
	}
	_, size, _ := strings.Cut(resp.Header.Get("Content-Range"), "/")
	if n, err := strconv.ParseInt(size, 10, 64); err == nil {
		return n
	}
	return -1
}

// request returns a request for a part of a file.
func (f *fetcher) request(ctx context.Context, home *url.URL, address string, part span) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "aiperf")
	if f.Token != "" && req.URL.Host == home.Host && req.URL.Scheme == home.Scheme {
		req.Header.Set("Authorization", "Bearer "+f.Token)
	}
	if r := part.header(); r != "" {
		req.Header.Set("Range", r)
	}
	return req, nil
}

func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16)
	resp.Body.Close()
}

// tag returns the content's name in a response.
func tag(h http.Header) string {
	t := h.Get("X-Linked-Etag")
	if t == "" {
		t = h.Get("ETag")
	}
	t = strings.Trim(strings.TrimPrefix(t, "W/"), `"`)
	if !validName(t) || strings.ContainsAny(t, `/\`) {
		return ""
	}
	return t
}

// refused converts an unsuccessful response to an error.
func (f *fetcher) refused(resp *http.Response, address string) error {
	s := status{resp.StatusCode, pauseAsked(resp.Header, time.Now())}
	code := resp.Header.Get("X-Error-Code")
	kind := Down
	switch {
	case code == "GatedRepo":
		kind = Gated
	case code == "RevisionNotFound":
		kind = BadRevision
	case code == "EntryNotFound":
		if kind = NoFiles; f.content() == Datasets {
			kind = NoData
		}
	case code == "" && resp.StatusCode == http.StatusUnauthorized && f.Token != "":
		kind = Unauthorized
	case code == "RepoNotFound" || resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusUnauthorized:
		kind = NotFound
	case resp.StatusCode == http.StatusForbidden:
		kind = Gated
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return s // may be temporary
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: the file is shorter than the part already downloaded (%w)", errContent, s), address)}
	}
	e := f.fail(kind, f.repo, f.rev, s, address)
	if kind == BadRevision {
		e.Err = fmt.Errorf("the repository has no revision %q (%w)", f.rev, s)
	}
	if kind == Gated {
		e.Advice = f.gatedAdvice()
	}
	if kind == NotFound && f.Token == "" {
		e.Advice = append(e.Advice[:len(e.Advice):len(e.Advice)], "set HF_TOKEN if the repository is private")
	}
	return permanentError{e}
}

// gatedAdvice returns what to do about a repository whose terms must be accepted.
func (f *fetcher) gatedAdvice() []string {
	page, instead := f.Endpoint+"/"+f.repo, "; or give {tokenizer.name} a local directory, or builtin"
	if f.content() == Datasets {
		page, instead = f.Endpoint+"/datasets/"+f.repo, "; or give a directory with a copy of the files ({datasets.main.dataset_path}, {accuracy.dataset_path})"
	}
	accept := "accept the terms at " + page
	if f.Token == "" {
		return []string{accept, "set HF_TOKEN to a read token of the account that accepted them (no token was sent)"}
	}
	return []string{accept, "use a token of the account that accepted them (the hub refused the token from HF_TOKEN or the token file)" + instead}
}

// model is one result of the hub's search.
type model struct {
	ID        string
	Downloads int
}

// Resolve returns the repository for a short name: the one with exactly this name, otherwise the most downloaded one that ends in "/name", ignoring
// case.
func (c Config) Resolve(ctx context.Context, name string) (string, error) {
	f := &fetcher{Config: c, http: c.client(), repo: name, rev: "main"}
	address := c.Endpoint + "/api/models?limit=50&search=" + url.QueryEscape(name)
	var hits []model
	if err := f.json(ctx, address, &hits); err != nil {
		return "", err
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].Downloads > hits[j].Downloads })
	for _, h := range hits {
		if strings.EqualFold(h.ID, name) {
			return h.ID, nil
		}
	}
	for _, h := range hits {
		if _, short, _ := strings.Cut(h.ID, "/"); strings.EqualFold(short, name) {
			return h.ID, nil
		}
	}
	if len(hits) == 0 {
		return "", c.fail(NotFound, name, "main", fmt.Errorf("the hub has no repository with this name"), address)
	}
	var names []string
	for _, h := range hits[:min(5, len(hits))] {
		names = append(names, h.ID)
	}
	return "", c.fail(Ambiguous, name, "main", fmt.Errorf("candidates: %s", strings.Join(names, ", ")), address)
}
