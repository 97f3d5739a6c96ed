package hub

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
)

// status is an answer that may pass: the hub is overloaded or broken.
type status int

func (s status) Error() string { return fmt.Sprintf("HTTP %d %s", int(s), http.StatusText(int(s))) }

// get asks for address from byte from on and follows redirects; the token goes to the hub's own host only. It returns the answer,
// the name that the hub gives the content, and the size of the whole, -1 if it is not known.
func (f *fetcher) get(ctx context.Context, address string, from int64) (*http.Response, string, int64, error) {
	home, err := url.Parse(f.Endpoint)
	if err != nil || home.Host == "" {
		return nil, "", 0, permanent{f.fail(Down, f.repo, f.rev, fmt.Errorf("HF_ENDPOINT %q is no URL", f.Endpoint))}
	}
	etag, size := "", int64(-1)
	for range maxRedirects + 1 {
		req, err := f.request(ctx, home, address, from)
		if err != nil {
			return nil, "", 0, permanent{err}
		}
		resp, err := f.http.Do(req)
		if err != nil {
			return nil, "", 0, err
		}
		if etag == "" {
			etag = tag(resp.Header)
		}
		if n, err := strconv.ParseInt(resp.Header.Get("X-Linked-Size"), 10, 64); err == nil {
			size = n
		}
		switch {
		case resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.Header.Get("Location") != "":
			drain(resp)
			next, err := req.URL.Parse(resp.Header.Get("Location"))
			if err != nil {
				return nil, "", 0, permanent{f.fail(Down, f.repo, f.rev, err, address)}
			}
			address = next.String()
			continue
		case resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent:
			if size < 0 && resp.ContentLength >= 0 {
				size = resp.ContentLength
				if resp.StatusCode == http.StatusPartialContent {
					size += from
				}
			}
			return resp, etag, size, nil
		}
		drain(resp)
		return nil, "", 0, f.refused(resp, address)
	}
	return nil, "", 0, permanent{f.fail(Down, f.repo, f.rev, fmt.Errorf("more than %d redirects", maxRedirects), address)}
}

// request asks for address from byte from on.
func (f *fetcher) request(ctx context.Context, home *url.URL, address string, from int64) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "aiperf")
	if f.Token != "" && req.URL.Host == home.Host && req.URL.Scheme == home.Scheme {
		req.Header.Set("Authorization", "Bearer "+f.Token)
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	return req, nil
}

func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16)
	resp.Body.Close()
}

// tag is the content's name in an answer.
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

// refused turns an answer that is no success into the error to show.
func (f *fetcher) refused(resp *http.Response, address string) error {
	s := status(resp.StatusCode)
	code := resp.Header.Get("X-Error-Code")
	kind := Down
	switch {
	case code == "GatedRepo":
		kind = Gated
	case code == "RevisionNotFound":
		kind = BadRevision
	case code == "EntryNotFound":
		kind = NoFiles
	case code == "RepoNotFound" || resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusUnauthorized:
		kind = NotFound
	case resp.StatusCode == http.StatusForbidden:
		kind = Gated
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return s // may pass
	}
	e := f.fail(kind, f.repo, f.rev, s, address)
	if kind == BadRevision {
		e.Err = fmt.Errorf("the repository has no revision %q (%w)", f.rev, s)
	}
	if kind == Gated {
		e.Do = f.gatedAdvice()
	}
	if kind == NotFound && f.Token == "" {
		e.Do = append(e.Do[:len(e.Do):len(e.Do)], "set HF_TOKEN if the repository is private")
	}
	return permanent{e}
}

// gatedAdvice is what to do about a repository whose terms must be accepted.
func (f *fetcher) gatedAdvice() []string {
	accept := "accept the terms at " + f.Endpoint + "/" + f.repo
	if f.Token == "" {
		return []string{accept, "set HF_TOKEN to a read token of the account that did (no token was sent)"}
	}
	return []string{accept, "with the account whose token is used: the token that was sent (HF_TOKEN, else the token file) was refused; " +
		"or pass {tokenizer.name} with a local directory, or builtin"}
}

// model is one hit of the hub's search.
type model struct {
	ID        string
	Downloads int
}

// Resolve finds the repository that a short name means: one of that very name, else the most downloaded one whose name ends in
// "/name", whatever the case.
func (c Config) Resolve(ctx context.Context, name string) (string, error) {
	f := &fetcher{Config: c, http: c.client(), repo: name, rev: "main"}
	ctx, cancel := context.WithTimeout(ctx, orDefault(c.Probe, 9*time.Second))
	defer cancel()
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
		return "", c.fail(NotFound, name, "main", fmt.Errorf("the hub knows no repository of this name"), address)
	}
	var names []string
	for _, h := range hits[:min(5, len(hits))] {
		names = append(names, h.ID)
	}
	return "", c.fail(Ambiguous, name, "main", fmt.Errorf("candidates: %s", strings.Join(names, ", ")), address)
}
