package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAnswer limits how much of a collector's answer is read, in bytes.
const maxAnswer = 1 << 20

// sender delivers the messages of one signal.
type sender struct {
	url     string
	headers map[string]string
	agent   string
	client  *http.Client
}

func newSender(o *Options, to target, path string, headers map[string]string) *sender {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if to.tls {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: !o.VerifyTLS} //nolint:gosec // the user decides
	}
	return &sender{url: to.base + path, headers: to.with(headers), agent: "aiperf/" + o.Run.Version, client: &http.Client{Transport: transport, Timeout: o.Timeout}}
}

// retryLaterError is a failure after which a retry may succeed.
type retryLaterError struct {
	error
	after time.Duration // as the collector requested; 0 = unspecified
}

func (e retryLaterError) Unwrap() error { return e.error }

// deliver sends a message once. It returns an error if the collector rejects a part.
func (s *sender) deliver(ctx context.Context, body []byte) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(body); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, &packed)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", s.agent)
	for name, value := range s.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "gzip")
	resp, err := s.client.Do(req)
	var failed interface{ Temporary() bool } // a timeout, a name server that is busy, or no free descriptor
	if errors.As(err, &failed) && failed.Temporary() {
		return retryLaterError{error: err}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	return s.classify(resp, answer)
}

// classify returns the error that an answer means; nil = success.
func (s *sender) classify(resp *http.Response, answer []byte) error {
	if resp.StatusCode/100 == 2 {
		if resp.Header.Get("Content-Type") != "application/x-protobuf" {
			return nil
		}
		if n, why := rejected(answer); n != 0 || why != "" {
			return fmt.Errorf("the collector rejected %d items: %s", n, why)
		}
		return nil
	}
	text := strings.TrimSpace(string(answer))
	if text == "" {
		text = "no reason given"
	}
	err := fmt.Errorf("%s answered %s: %.300s", s.url, resp.Status, text)
	switch resp.StatusCode { // those of OTLP 1.9, "Retryable Response Codes"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryLaterError{err, retryAfter(resp.Header.Get("Retry-After"))}
	}
	return err
}

// retryAfter parses how long to wait: seconds, or an instant.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// deliverWithRetries delivers a message with retries after temporary failures, for at most most. The pauses grow from first to longest.
func (s *sender) deliverWithRetries(ctx context.Context, body []byte, first, longest, most time.Duration) error {
	begun, pause := time.Now(), first
	for {
		err := s.deliver(ctx, body)
		var later retryLaterError
		if !errors.As(err, &later) {
			return err
		}
		wait := max(later.after, time.Duration(float64(pause)*(.5+rand.Float64()))) // random, so that clients do not retry at the same time
		if wait > most-time.Since(begun) {                                          // a sum could overflow
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause = min(pause*3/2, longest)
	}
}
