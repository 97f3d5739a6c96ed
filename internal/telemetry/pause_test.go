package telemetry

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory answers the requests of a client over pipes, so that they belong to the test's clock.
func inMemory(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	conns := make(chan net.Conn)
	l := pipes{conns, make(chan struct{})}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Hour}
	go func() { _ = s.Serve(l) }()
	c := NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		conns <- theirs
		return ours, nil
	}
	t.Cleanup(func() {
		c.Close()
		s.Close()
	})
	return c
}

// pipes is a listener of connections in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// TestPauses: an exporter that answers 429, or 503 with Retry-After, is not asked before it wants to be; skipped scrapes are counted. Without a
// length the pauses double.
func TestPauses(t *testing.T) {
	for _, c := range []struct {
		name, after string
		status      int
		first       int64 // s after which it is asked again
		second      int64
	}{
		{"seconds", "7", 429, 7, 14},
		{"unavailable", "3", 503, 3, 6},
		{"date", "Sat, 01 Jan 2000 00:00:30 GMT", 429, 30, 31}, // passed at the second answer: without a length
		{"no length", "", 429, 1, 3},
		{"unreadable", "soon", 429, 1, 3},
		{"an error that is no pause", "9", 500, 0, 0},
		{"unavailable without a length", "", 503, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its clock begins on 1 January 2000
				var asked atomic.Int64
				client := inMemory(t, func(w http.ResponseWriter, _ *http.Request) {
					if asked.Add(1); c.after != "" {
						w.Header().Set("Retry-After", c.after)
					}
					w.WriteHeader(c.status)
					fmt.Fprint(w, "slow down")
				})
				e := NewExporter(client, "http://server/metrics", func(*Answer) {})
				began, scrapes, again := time.Now(), int64(0), []int64{}
				for range 40 {
					before := asked.Load()
					e.Scrape(t.Context(), time.Minute)
					if scrapes++; asked.Load() > before {
						again = append(again, int64(time.Since(began).Round(time.Second)/time.Second))
					}
					time.Sleep(time.Second)
				}
				_, skipped := e.Paused()
				if skipped != scrapes-asked.Load() {
					t.Errorf("%d of %d scrapes were left out, %d came", skipped, scrapes, asked.Load())
				}
				if c.first == 0 {
					if len(again) != 40 {
						t.Errorf("asked at %v s", again)
					}
				} else if len(again) < 3 || again[1] != c.first || again[2] != c.second {
					t.Errorf("asked at %v s, want 0, %d, %d", again, c.first, c.second)
				}
			})
		})
	}
}
