package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/models"
	"aiperf/internal/record"
	"aiperf/internal/redact"
	"aiperf/internal/run"
	"aiperf/internal/transport"
)

// lister asks for the models behind a URL.
type lister func(url string, o models.Options) (models.List, error)

// served is the lister of an invocation; nil for a dry run, which sends nothing.
func served(ctx context.Context, dry bool) lister {
	if dry {
		return nil
	}
	return func(url string, o models.Options) (models.List, error) { return models.Get(ctx, url, o) }
}

// servedModel takes the only model that the server serves when nobody named one. It reports whether there is one; else it has said why not.
func (r *resolver) servedModel() (config.Model, bool) {
	e := &r.run.Endpoint
	if len(r.problems) > 0 && len(e.URLs) == 0 { // there is nobody to ask until the URL is mended
		return config.Model{}, false
	}
	if r.ask == nil {
		r.fail("no model: name it with --model; a run asks the server for it, a dry run sends nothing")
		return config.Model{}, false
	}
	if len(r.problems) > 0 { // what is wrong already is to be mended first
		r.fail("no model: name it with --model")
		return config.Model{}, false
	}
	if e.Type == "dynamic_grpc" { // its messages name what they like
		return config.Model{Name: e.Type}, true
	}
	if e.Transport == grpcScheme { // there is no list of models over gRPC
		r.fail("no model: name it with --model")
		return config.Model{}, false
	}
	base := e.URLs[slices.IndexFunc(e.URLs, func(u string) bool { return !isMock(u) })]
	address, err := listAddress(base)
	if err != nil {
		r.fail("no model: name it with --model")
		return config.Model{}, false
	}
	shown := redact.URL(address)
	list, err := r.list(address)
	switch {
	case err != nil:
		r.fail("no model: name it with --model; %s was asked: %v%s", shown, err, hintOn(err, e))
		return config.Model{}, false
	case len(list.Names) == 0:
		r.fail("no model: name it with --model; %s lists none", shown)
		return config.Model{}, false
	case len(list.Names) > 1:
		r.fail("no model: name one with --model; %s serves %d:\n%s", redact.URL(base), len(list.Names), listed(list.Names))
		return config.Model{}, false
	}
	r.note("model: %s, the only one that %s serves; --model names another", list.Names[0], redact.URL(base))
	r.simulated = list.Simulated
	return config.Model{Name: list.Names[0]}, true
}

// list asks for the models behind an address, over connections as those of the run.
func (r *resolver) list(address string) (models.List, error) {
	target, err := transport.NewTarget(address)
	if err != nil {
		return models.List{}, err
	}
	through, address, err := run.Connections(&r.run.Benchmark, nil).RoundTripper(target)
	if err != nil {
		return models.List{}, err
	}
	return r.ask(address, models.Options{Headers: listHeaders(&r.run.Endpoint), Through: through})
}

// listAddress is the URL of the list of models of a base URL, which may name an API's root or one of its endpoints.
func listAddress(base string) (string, error) {
	head, _, _ := strings.Cut(base, "?")
	if i := strings.Index(head, "/v1/"); i >= 0 {
		head = head[:i]
	}
	return transport.JoinURL(head, models.Path)
}

// listHeaders are the headers of a run's requests that open the door.
func listHeaders(e *config.Endpoint) http.Header {
	h := http.Header{}
	h.Set("User-Agent", "aiperf/"+Version())
	for _, u := range e.Headers {
		h.Set(u.Name, u.Value)
	}
	switch kind, _, err := endpoint.Lookup(e.Type); {
	case err == nil && kind.Auth != nil:
		for _, a := range kind.Auth(e.APIKey, givenHeaders(e)) {
			h.Set(a.Name, a.Value)
		}
	case e.APIKey != "":
		h.Set("Authorization", "Bearer "+e.APIKey)
	}
	return h
}

func givenHeaders(e *config.Endpoint) (list []record.Header) {
	for _, u := range e.Headers {
		list = append(list, record.Header{Name: u.Name, Value: u.Value})
	}
	return list
}

// hintOn is what a failure asks the user to look at.
func hintOn(err error, e *config.Endpoint) string {
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "401"), strings.HasPrefix(text, "403"):
		if e.APIKey == "" {
			return "; --api-key gives the server a key"
		}
		return "; it does not take the key of --api-key"
	case strings.Contains(text, "refused"):
		return "; is the server up, and its port right? --url names it"
	case strings.Contains(text, "HTTP response to HTTPS"):
		return "; it speaks http, not https"
	case strings.Contains(text, "malformed HTTP"), strings.HasPrefix(text, "400"), strings.Contains(text, "EOF"):
		return "; does it speak https?"
	}
	return ""
}

// mostListed is how many models an error names.
const mostListed = 20

// listed shows names, one a line.
func listed(names []string) string {
	more := ""
	if n := len(names) - mostListed; n > 0 {
		names, more = names[:mostListed], fmt.Sprintf("\n  and %d more", n)
	}
	return "  " + strings.Join(names, "\n  ") + more
}
