package run

import (
	"fmt"
	"strings"
	"sync"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// addresses holds the targets that the requests of a run are sent to.
type addresses struct {
	bases  []string            // base URLs
	full   []string            // complete URLs, one for each base URL
	list   []*transport.Target // targets of full
	fixed  bool                // the user gave the path explicitly
	others sync.Map            // complete URL -> *transport.Target, for paths that a codec names; a handful of entries
}

// newAddresses joins the base URLs with the path of the endpoint.
func newAddresses(urls []string, b *config.Benchmark, e *endpoint.Endpoint) (*addresses, error) {
	path := e.URLPath(b.Endpoint.Streaming)
	if b.Endpoint.Path != nil {
		path = *b.Endpoint.Path
	}
	a := &addresses{bases: urls, fixed: b.Endpoint.Path != nil}
	for _, base := range urls {
		full, err := transport.JoinURL(base, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.As("endpoint.urls"), err)
		}
		target, err := transport.NewTarget(full)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.As("endpoint.urls"), err)
		}
		a.full, a.list = append(a.full, full), append(a.list, target)
	}
	return a, nil
}

// of returns the target of a path that a codec gives (endpoint.Request.Path), for the base URL with the index url.
func (a *addresses) of(url int, path string) (*transport.Target, error) {
	switch below, under := strings.CutPrefix(path, "./"); {
	case path == "", strings.HasPrefix(path, "/") && a.fixed:
		return a.list[url], nil
	case under:
		return join(a.full[url], below)
	case !strings.HasPrefix(path, "/"):
		return transport.NewTarget(path)
	}
	key := a.bases[url] + " " + path
	if t, ok := a.others.Load(key); ok {
		return t.(*transport.Target), nil
	}
	t, err := join(a.bases[url], path)
	if err == nil {
		a.others.Store(key, t)
	}
	return t, err
}

func join(base, path string) (*transport.Target, error) {
	full, err := transport.JoinURL(base, path)
	if err != nil {
		return nil, err
	}
	return transport.NewTarget(full)
}
