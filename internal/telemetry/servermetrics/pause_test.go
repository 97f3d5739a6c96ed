package servermetrics

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/telemetry"
)

// TestServerThatAsksForAPause: a server that answers 429 to the first request is not a missing endpoint; it is not asked again before its time, and the
// files say what is missing.
func TestServerThatAsksForAPause(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	client := telemetry.NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer client.Close()
	var warned []string
	c := Open(t.Context(), Options{
		Client: client, Servers: []string{s.URL}, URLs: []string{s.URL}, Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute,
		Warn: func(text string) { warned = append(warned, text) }, Log: slog.New(slog.DiscardHandler),
	})
	for range 5 {
		c.Once(t.Context(), time.Minute)
	}
	c.Stop()
	var head Head
	c.Complete(&head)
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "the server asked for a pause (429 or Retry-After) (5×)") {
		t.Errorf("warned: %q", warned)
	}
	if len(head.Lost) != 2 || head.Lost[0].Count != 5 {
		t.Errorf("lost: %+v", head.Lost)
	}
}
