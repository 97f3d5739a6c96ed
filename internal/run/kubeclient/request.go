package kubeclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeconfig"
)

const (
	// answerLimit is the longest wait for an answer about an object, with all tries.
	answerLimit = 20 * time.Second
	// mostRetries is how often a request is repeated if the API server asks for that.
	mostRetries = 10
	// longestAnswer limits an answer about objects, bytes: a page has up to 500 objects of up to 1.5 MiB.
	longestAnswer = 1 << 30
	// longestStatus limits what is read of other answers and of errors, bytes.
	longestStatus = 64 << 10
)

// link is the way to the API server that clients of all namespaces share.
type link struct {
	access     *kubeconfig.Access
	agent      string
	identity   *identity
	transports *transports
	throttle   throttle
}

func newLink(access *kubeconfig.Access, agent string) (*link, error) {
	identity, err := newIdentity(access)
	if err != nil {
		return nil, err
	}
	transports, err := newTransports(access)
	if err != nil {
		return nil, err
	}
	return &link{access: access, agent: agent, identity: identity, transports: transports}, nil
}

// request is what is sent, except for the credentials.
type request struct {
	method string
	url    *url.URL
	body   []byte // JSON; nil = none
	header http.Header
}

func (l *link) request(method string, path []string, query url.Values, body []byte) *request {
	u := l.access.URL.JoinPath(path...)
	u.RawQuery = query.Encode()
	r := &request{method: method, url: u, body: body, header: http.Header{}}
	if body != nil {
		r.header.Set("Content-Type", "application/json")
	}
	if l.agent != "" {
		r.header.Set("User-Agent", l.agent)
	}
	return r
}

// object sends a request about an object and returns the answer.
func (l *link) object(ctx context.Context, method string, path []string, query url.Values, body []byte) (kube.Object, error) {
	r := l.request(method, path, query, body)
	r.header.Set("Accept", "application/json")
	var o kube.Object
	err := l.withCredentials(ctx, func(c *credential) (err error) {
		o, err = l.tries(ctx, r, c)
		return err
	})
	return o, err
}

// withCredentials sends a request. If the API server does not accept the credentials of a program, the program is asked again, once. client-go asks it as
// well but repeats no request, so the first one after a log-in has expired would fail.
func (l *link) withCredentials(ctx context.Context, send func(*credential) error) error {
	c, err := l.identity.get(ctx)
	if err != nil {
		return err
	}
	err = send(c)
	if !kube.Is(err, kube.Unauthorized) {
		return err
	}
	if renewed, again := l.identity.renew(ctx, c); again == nil && renewed != nil {
		return send(renewed)
	}
	return err
}

// tries sends a request until there is a final answer.
func (l *link) tries(ctx context.Context, r *request, c *credential) (kube.Object, error) {
	if err := l.throttle.wait(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for retries := 0; ; retries++ {
		o, pause, err := l.once(ctx, r, c)
		if pause < 0 || retries == mostRetries {
			return o, err
		}
		if sleep(ctx, pause) != nil || l.throttle.wait(ctx) != nil {
			return nil, fmt.Errorf("no better answer within %.0f s: %w", answerLimit.Seconds(), err)
		}
	}
}

// once sends a request. A pause that is not negative says when to try again.
func (l *link) once(ctx context.Context, r *request, c *credential) (o kube.Object, pause time.Duration, err error) {
	resp, err := l.send(ctx, l.transports.objects(c), r, c)
	if err != nil {
		if r.method == http.MethodGet && isBroken(err) {
			return nil, time.Second, err
		}
		return nil, -1, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	switch {
	case err != nil:
		return nil, -1, fmt.Errorf("the answer has broken off: %w", err)
	case len(body) > longestAnswer:
		return nil, -1, fmt.Errorf("the answer is longer than %d MiB", longestAnswer>>20)
	case isSuccess(resp.StatusCode):
		o, err = objectOf(resp.StatusCode, resp.Header, body)
		return o, -1, err
	}
	return nil, retryAfter(resp), refusal(r.method, resp.StatusCode, resp.Header, body)
}

// isSuccess reports whether a code means success.
func isSuccess(code int) bool { return code >= http.StatusOK && code <= http.StatusPartialContent }

// retryAfter returns when the API server wants a request again; negative = never.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return -1
	}
	return time.Duration(seconds) * time.Second
}

// isBroken reports whether a connection broke, so that the API server may not have got the request.
func isBroken(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return true
	}
	text := err.Error()
	for _, broken := range []string{
		"http: can't write HTTP request on broken connection", "http2: server sent GOAWAY and closed the connection", "connection reset by peer",
		"use of closed network connection", "http2: client connection lost",
	} {
		if strings.Contains(text, broken) {
			return true
		}
	}
	return false
}

// stream sends a request for output and returns the output. It has no limit of time.
func (l *link) stream(ctx context.Context, path []string, query url.Values) (io.ReadCloser, error) {
	r := l.request(http.MethodGet, path, query, nil)
	var text io.ReadCloser
	err := l.withCredentials(ctx, func(c *credential) error {
		resp, err := l.send(ctx, l.transports.objects(c), r, c)
		if err == nil && resp.StatusCode != http.StatusOK {
			return refused(r.method, resp)
		}
		if err == nil {
			text = resp.Body
		}
		return err
	})
	return text, err
}

// refused reads an answer other than success and closes it.
func refused(method string, resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestStatus))
	if err != nil {
		return err
	}
	return refusal(method, resp.StatusCode, resp.Header, body)
}

// send sends a request once. Redirects are followed on the same server only.
func (l *link) send(ctx context.Context, t http.RoundTripper, r *request, c *credential) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	l.identity.sign(req, c)
	return (&http.Client{Transport: t, CheckRedirect: sameServer}).Do(req)
}

// sameServer refuses redirects to other servers: they would get the credentials. client-go sends them. It also refuses redirects that turn a request into a GET.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("the server redirects to %s://%s; if that is the API server, write it into the kubeconfig", req.URL.Scheme, req.URL.Host)
	case req.Method != first.Method:
		return fmt.Errorf("the server redirects a %s to %s; the server in the kubeconfig may be wrong", first.Method, req.URL.Path)
	case len(via) >= mostRetries:
		return errors.New("the server redirects again and again")
	}
	return nil
}
