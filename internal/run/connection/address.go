package connection

import (
	"fmt"
	"strings"
	"sync"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// Addresses holds the targets that the requests of a run are sent to.
type Addresses struct {
	Bases   []string            // base URLs
	Full    []string            // complete URLs, one for each base URL
	Targets []*transport.Target // targets of full
	fixed   bool                // the user gave the path explicitly
	others  sync.Map            // complete URL -> *transport.Target, for paths that a codec names; a handful of entries
}

// NewAddresses joins the base URLs with the path of the endpoint.
func NewAddresses(urls []string, b *config.Benchmark, e *endpoint.Endpoint) (*Addresses, error) {
	path := e.URLPath(b.Endpoint.Streaming)
	if b.Endpoint.Path != nil {
		path = *b.Endpoint.Path
	}
	a := &Addresses{Bases: urls, fixed: b.Endpoint.Path != nil}
	for _, base := range urls {
		full, err := transport.JoinURL(base, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.As("endpoint.urls"), err)
		}
		target, err := transport.NewTarget(full)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.As("endpoint.urls"), err)
		}
		a.Full, a.Targets = append(a.Full, full), append(a.Targets, target)
	}
	return a, nil
}

// Target returns the target of a path that a codec gives (endpoint.Request.Path), for the base URL with the index url.
func (a *Addresses) Target(url int, path string) (*transport.Target, error) {
	switch below, under := strings.CutPrefix(path, "./"); {
	case path == "", strings.HasPrefix(path, "/") && a.fixed:
		return a.Targets[url], nil
	case under:
		return join(a.Full[url], below)
	case !strings.HasPrefix(path, "/"):
		return transport.NewTarget(path)
	}
	key := a.Bases[url] + " " + path
	if t, ok := a.others.Load(key); ok {
		return t.(*transport.Target), nil
	}
	t, err := join(a.Bases[url], path)
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
