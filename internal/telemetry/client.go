package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"syscall"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/measure/record"
)

// MaxBody is the size of the largest page that is read, in bytes.
const MaxBody = 64 << 20

// Answer is one page of an exporter, or the error. Instants are wall time in ns.
type Answer struct {
	Sent, FirstByte, Done int64
	ContentType           string
	Body                  []byte
	Err                   *record.Error // nil = the page was read
	TooLarge              bool          // the page has more than MaxBody bytes
	Pause                 time.Duration // requested by the server with status 429 or 503; 0 = none
}

// Client reads exporters. It follows no redirects, uses no proxy and sends none of the user's headers.
type Client struct {
	http  *http.Client
	agent string
}

// NewClient returns a client with the user agent agent. secure returns the TLS configuration for HOST:PORT, which must not change afterwards.
func NewClient(agent string, secure func(address string) *tls.Config) *Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &Client{agent: agent, http: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext,
			DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				cfg := secure(address)
				if host, _, err := net.SplitHostPort(address); err == nil && cfg.ServerName == "" {
					cfg = cfg.Clone()
					cfg.ServerName = host
				}
				return (&tls.Dialer{NetDialer: dialer, Config: cfg}).DialContext(ctx, network, address)
			},
			DisableCompression:  true,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads a page. Errors are part of the answer.
func (c *Client) Get(ctx context.Context, address string) *Answer {
	return c.get(ctx, address, make(chan struct{}, 1))
}

// patience is how long an answer waits while another one is being read.
const patience = 200 * time.Millisecond

// get is Get for pages that are read one at a time; the reader puts a token into reading. An answer that begins while another one is being read waits
// for it, and is given up after patience.
func (c *Client) get(ctx context.Context, address string, reading chan struct{}) *Answer {
	a := &Answer{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { a.FirstByte = time.Now().UnixNano() }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		a.Err = failure("InvalidURL", Shown(address), err)
		return a
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "*/*")
	a.Sent = time.Now().UnixNano()
	resp, err := c.http.Do(req)
	if err != nil {
		a.Err = failure(kind(err), Shown(address), plain(err))
		return a
	}
	defer resp.Body.Close()
	a.ContentType = resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // a short body is read, so that the connection can be reused
		a.Err = failure("ClientResponseError", Shown(address), refusal(resp))
		a.Err.Code = resp.StatusCode
		a.Pause = retryAfter(resp.StatusCode, resp.Header, time.Now())
		return a
	}
	if resp.ContentLength > MaxBody {
		a.tooLarge(address)
		return a
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-late.C:
		a.Err = failure(skipped, Shown(address), errors.New("other pages were still being read"))
		return a
	case <-ctx.Done():
		a.Err = failure(kind(ctx.Err()), Shown(address), ctx.Err())
		return a
	}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	a.Done = time.Now().UnixNano()
	switch {
	case err != nil:
		a.Err = failure(bodyKind(err), Shown(address), plain(err))
	case len(a.Body) > MaxBody:
		a.tooLarge(address)
	}
	return a
}

// refusal describes an answer without a page.
func refusal(resp *http.Response) error {
	if target := resp.Header.Get("Location"); target != "" && resp.StatusCode/100 == 3 {
		return fmt.Errorf("status %d, the redirect to %s is not followed", resp.StatusCode, redact.URL(target))
	}
	return fmt.Errorf("status %d", resp.StatusCode)
}

func (a *Answer) tooLarge(address string) {
	a.Body, a.TooLarge = nil, true
	a.Err = failure("PayloadTooLarge", Shown(address), fmt.Errorf("the page is larger than %d MiB", MaxBody>>20))
}

// failure returns an error that names its address. The types are those in the Python tool's files.
func failure(kind, address string, err error) *record.Error {
	return &record.Error{Type: kind, Message: address + ": " + err.Error(), Chain: []string{kind}}
}

// plain removes the wrapper of net/http, which contains the whole URL.
func plain(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// cancelled is the error type of a scrape that was cancelled by the end of the watch.
const cancelled = "CancelledError"

func kind(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "TimeoutError"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "ServerDisconnectedError"
	case errors.As(err, &dns):
		return "ClientConnectorDNSError"
	case errors.Is(err, context.Canceled):
		return cancelled
	case errors.Is(err, syscall.ECONNREFUSED), isDial(err):
		return "ClientConnectorError"
	}
	return "ClientError"
}

func bodyKind(err error) string {
	if k := kind(err); k == "TimeoutError" || k == cancelled {
		return k
	}
	return "ClientPayloadError"
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
