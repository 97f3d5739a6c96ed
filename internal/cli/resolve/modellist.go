package resolve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/modellist"
	"aiperf/internal/wire/transport"
)

// ModelLister asks a server for its models.
type ModelLister func(url string, o modellist.Options) (modellist.List, error)

// NewModelLister returns a lister whose requests have this User-Agent unless the user gives another one.
func NewModelLister(ctx context.Context, userAgent string) ModelLister {
	return func(url string, o modellist.Options) (modellist.List, error) {
		if _, given := o.Headers["User-Agent"]; !given {
			o.Headers.Set("User-Agent", userAgent)
		}
		return modellist.Get(ctx, url, o)
	}
}

// OnlyModel asks the first server of a benchmark for its models. It returns a list with exactly one. spell spells a key of the configuration. The
// error says what failed and what to type.
func OnlyModel(ask ModelLister, b *config.Benchmark, spell func(key string) string) (modellist.List, error) {
	return modelFinder{ask, b, spell}.only()
}

// askModel uses the server's only model if the user named none. It is the last step, so that all errors that need no server are reported first.
func (r *resolver) askModel() {
	if !r.modelWanted || len(r.run.Models.Items) > 0 || len(r.run.Endpoint.URLs) == 0 {
		return
	}
	e := &r.run.Endpoint
	switch {
	case e.Type == "dynamic_grpc": // its messages may use any names
		r.run.Models.Items = []config.Model{{Name: e.Type}}
	case r.Ask == nil:
		r.fail("no model: name it with --model (a run asks the server for it; a dry run sends nothing)")
		return
	case e.Transport == grpcScheme: // gRPC has no list of models
		r.fail("no model: name it with --model (a server of gRPC has no list of models)")
		return
	case len(r.Problems) > 0:
		return
	default:
		found, err := OnlyModel(r.Ask, &r.run.Benchmark, r.spell)
		if err != nil {
			r.fail("%v", err)
			return
		}
		r.note("model: %s, the only one that %s serves; --model names another", found.Names[0], redact.URL(servedBase(e)))
		r.simulated, r.run.Models.Items = found.Simulated, []config.Model{{Name: found.Names[0]}}
	}
	r.nameTokenizer()
	r.directory()
}

// modelFinder asks the first server of a benchmark for its models. spell spells a key of the configuration.
type modelFinder struct {
	ask       ModelLister
	benchmark *config.Benchmark
	spell     func(key string) string
}

// servedBase returns the URL of the first server that is not simulated.
func servedBase(e *config.Endpoint) string {
	return e.URLs[max(0, slices.IndexFunc(e.URLs, func(u string) bool { return !IsMock(u) }))]
}

// only returns a list with exactly one model.
func (f modelFinder) only() (modellist.List, error) {
	base := servedBase(&f.benchmark.Endpoint)
	address, err := listAddress(base)
	if err != nil {
		return modellist.List{}, fmt.Errorf("no model: name it with --model")
	}
	list, err := f.list(address)
	switch {
	case err != nil:
		return list, f.listError(redact.URL(base), redact.URL(address), err)
	case len(list.Names) == 0:
		return list, fmt.Errorf("no model: %s lists none; name it with --model", redact.URL(address))
	case len(list.Names) > 1:
		return list, fmt.Errorf("no model: %s serves %d models; name one with --model:\n%s", redact.URL(base), len(list.Names), listed(list.Names))
	}
	return list, nil
}

// list asks for the models at an address, with connections like those of the run.
func (f modelFinder) list(address string) (modellist.List, error) {
	target, err := transport.NewTarget(address)
	if err != nil {
		return modellist.List{}, err
	}
	through, address, err := connection.Options(f.benchmark, nil).RoundTripper(target)
	if err != nil {
		return modellist.List{}, err
	}
	return f.ask(address, modellist.Options{Headers: listHeaders(&f.benchmark.Endpoint), Through: through})
}

// listAddress returns the URL of the list of models for a base URL, which may be an API's root or one of its endpoints.
func listAddress(base string) (string, error) {
	head, _, _ := strings.Cut(base, "?")
	if i := strings.Index(head, "/v1/"); i >= 0 {
		head = head[:i]
	}
	return transport.JoinURL(head, modellist.Path)
}

// listHeaders returns the headers of a run's requests that authenticate.
func listHeaders(e *config.Endpoint) http.Header {
	h := http.Header{}
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

// listError returns the error of a server without a list of models: a wrong setting, an unreachable server, or its answer.
func (f modelFinder) listError(base, address string, err error) error {
	var bad *transport.SettingError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", f.spell("endpoint."+bad.Key), bad.Err)
	}
	if cause, hint := f.unreachable(err); cause != "" {
		return fmt.Errorf("cannot reach %s: %s; %s", base, cause, hint)
	}
	return fmt.Errorf("no model: %s: %w; %s", address, err, f.hintOnAnswer(err.Error()))
}

// unreachable returns why no request got through, and what to check; "" if the server answered.
func (f modelFinder) unreachable(err error) (cause, hint string) {
	url := f.spell("endpoint.urls")
	alive := "is the server running, and is " + url + " right?"
	var dns *net.DNSError
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	text := err.Error()
	switch {
	case errors.As(err, &certificate):
		return certificate.Err.Error(), f.spell("endpoint.tls.ca_file") + " FILE names its authority, " + f.spell("endpoint.tls.insecure") + " skips the check"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no host has the name " + dns.Name, "is " + url + " right?"
	case errors.As(err, &dns):
		return dns.Err, alive
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", alive
	case errors.As(err, &dial) && dial.Op == "dial":
		return rootCause(dial).Error(), alive
	case errors.Is(err, modellist.ErrSilent):
		return text, alive
	case strings.Contains(text, "HTTP response to HTTPS"):
		return text, "it speaks http: write " + url + " http://…"
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "EOF"), errors.Is(err, syscall.ECONNRESET):
		return text, "does it speak https, and is " + url + " right?"
	}
	return "", ""
}

// rootCause returns the error at the end of the chain of wrapped errors.
func rootCause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// hintOnAnswer returns what to type after an answer that is not a list of models.
func (f modelFinder) hintOnAnswer(text string) string {
	switch locked := strings.HasPrefix(text, "401") || strings.HasPrefix(text, "403"); {
	case locked && f.benchmark.Endpoint.APIKey == "":
		return "give the key of the server with --api-key"
	case locked:
		return "the server refuses the key of --api-key"
	case strings.HasPrefix(text, "3"):
		return "give the address that answers itself with --url"
	case strings.HasPrefix(text, "400"):
		return "does the server speak https? Else name the model with --model"
	}
	return "name the model with --model"
}

// maxListed is the largest number of models in an error.
const maxListed = 20

// listed formats names, one per line.
func listed(names []string) string {
	more := ""
	if n := len(names) - maxListed; n > 0 {
		names, more = names[:maxListed], fmt.Sprintf("\n  and %d more", n)
	}
	return "  " + strings.Join(names, "\n  ") + more
}
