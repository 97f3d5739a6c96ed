package telemetry

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// page is a server whose answers a test writes.
func page(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// TestBounds: pages without an end, redirects, errors and silence are errors of their kinds; nobody is asked anywhere else.
func TestBounds(t *testing.T) {
	other := page(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	c := NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer c.Close()
	for kind, h := range map[string]http.HandlerFunc{
		"PayloadTooLarge": func(w http.ResponseWriter, _ *http.Request) {
			for block := bytes.Repeat([]byte("x"), 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		},
		"ClientResponseError": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) },
		"TimeoutError":        func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"ServerDisconnectedError": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		},
		"": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) },
	} {
		most := time.Minute
		if kind == "TimeoutError" {
			most = 200 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), most)
		a := c.Get(ctx, page(t, h))
		cancel()
		switch {
		case kind == "" && (a.Err != nil || string(a.Body) != "aiperf/test" || a.Sent == 0 || a.FirstByte < a.Sent || a.Done < a.FirstByte):
			t.Errorf("%+v", a)
		case kind != "" && (a.Err == nil || a.Err.Type != kind || a.TooLarge != (kind == "PayloadTooLarge")):
			t.Errorf("%s: %+v", kind, a.Err)
		}
	}
}

// TestRefusals: an error says what the exporter answered, and where a redirect leads.
func TestRefusals(t *testing.T) {
	c := NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer c.Close()
	for target, want := range map[string]string{
		"":                                "status 302",
		"/login?token=abc":                "status 302, the redirect to /login?token=<redacted> is not followed",
		"https://u:abc@exporter:9400/m?x": "status 302, the redirect to https://<redacted>@exporter:9400/m?x is not followed",
	} {
		address := page(t, func(w http.ResponseWriter, _ *http.Request) {
			if target != "" {
				w.Header().Set("Location", target)
			}
			w.WriteHeader(http.StatusFound)
		})
		if a := c.Get(t.Context(), address); a.Err == nil || a.Err.Code != 302 || a.Err.Message != address+": "+want {
			t.Errorf("%q: %+v", target, a.Err)
		}
	}
}

// TestOverlappingScrapes: of two scrapes that were under way at once one is taken, and an exporter that does not answer is asked no more than four
// times at once.
func TestOverlappingScrapes(t *testing.T) {
	release := make(chan struct{})
	var came sync.WaitGroup
	came.Add(maxParallel)
	url := page(t, func(w http.ResponseWriter, _ *http.Request) {
		came.Done()
		<-release
		fmt.Fprint(w, "a 1")
	})
	c := NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer c.Close()
	taken := 0
	e := NewExporter(c, url, func(a *Answer) {
		if a.Err == nil {
			taken++
		}
	})
	w := NewWatch([]*Exporter{e}, Cadence{Interval: time.Hour, Timeout: time.Minute})
	for range maxParallel {
		w.Kick()
	}
	came.Wait()
	w.Once(t.Context(), time.Minute) // no room: omitted
	close(release)
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
	w.Stop()
	if _, n := e.Skipped(); taken != 1 || n < 1 {
		t.Errorf("%d pages were taken, %d scrapes skipped", taken, n)
	}
}
