package otlp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"
)

// roundTripper answers requests.
type roundTripper func(req *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestRetryAfterTemporaryErrors: a delivery that fails for a short time is repeated, one that fails for good is not.
func TestRetryAfterTemporaryErrors(t *testing.T) {
	for name, c := range map[string]struct {
		fault    error
		requests int
	}{
		"busy name server": {&net.DNSError{Err: "server misbehaving", Name: "collector", IsTemporary: true}, 2},
		"timeout":          {&net.DNSError{Err: "i/o timeout", Name: "collector", IsTimeout: true}, 2},
		"unknown name":     {&net.DNSError{Err: "no such host", Name: "collector", IsNotFound: true}, 1},
	} {
		n := 0
		s := &sender{url: "http://collector/v1/traces", client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			if n++; n == 1 {
				return nil, c.fault
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		})}}
		err := s.deliverWithRetries(t.Context(), nil, time.Millisecond, time.Millisecond, time.Minute)
		if n != c.requests || (err == nil) != (c.requests == 2) {
			t.Errorf("%s: %d requests, %v", name, n, err)
		}
	}
}

// TestRetryAfterTheEnd: a collector that wants to be left alone for longer than a delivery may take is not asked again, and nothing waits for it.
func TestRetryAfterTheEnd(t *testing.T) {
	for _, after := range []string{"3600", "9223372037", "9223372036854775807", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		n := 0
		s := &sender{url: "http://collector/v1/traces", client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			n++
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Status: "503 Service Unavailable", Header: http.Header{"Retry-After": {after}}, Body: http.NoBody}, nil
		})}}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := s.deliverWithRetries(ctx, nil, time.Millisecond, time.Millisecond, 200*time.Millisecond)
		var later retryLaterError
		if n != 1 || !errors.As(err, &later) || ctx.Err() != nil {
			t.Errorf("%s: %d requests, %v, %v", after, n, err, ctx.Err())
		}
		cancel()
	}
}
