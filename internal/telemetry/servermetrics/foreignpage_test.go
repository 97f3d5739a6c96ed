package servermetrics

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aiperf/internal/telemetry"
)

// TestForeignPage: an answer that is not a metrics page is named by what it is. TensorRT-LLM is mentioned only after JSON, which its server answers.
func TestForeignPage(t *testing.T) {
	client := telemetry.NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer client.Close()
	for _, c := range []struct{ contentType, body, want string }{
		{"text/html; charset=utf-8", "<html></html>", "the answer is an HTML page. If the Prometheus metrics are at another address, give it with --server-metrics. --off"},
		{"text/plain", "hello", "line 1 is not a metric: expected a number. If the Prometheus metrics are at another address, give it with --server-metrics. --off"},
		{"application/json", "[]", "/prometheus/metrics: the answer is JSON. For TensorRT-LLM, set return_perf_metrics: true in the server. --off"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.contentType)
			fmt.Fprint(w, c.body)
		}))
		var warned []string
		o := Open(t.Context(), Options{
			Client: client, Servers: []string{s.URL}, Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute,
			Warn: func(text string) { warned = append(warned, text) }, Log: slog.New(slog.DiscardHandler), Silence: "--off", Addresses: "--server-metrics",
		})
		o.Once(t.Context(), time.Minute)
		o.Stop()
		s.Close()
		if len(warned) != 1 || !strings.HasSuffix(warned[0], c.want) {
			t.Errorf("%s: %q, want %q", c.contentType, warned, c.want)
		}
	}
}

// TestMissingPages: the warning about metrics pages that the user named says what is wrong with each.
func TestMissingPages(t *testing.T) {
	client := telemetry.NewClient("aiperf/test", func(string) *tls.Config { return new(tls.Config) })
	defer client.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/good/metrics" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	denied := s.URL + "/denied/metrics"
	for good, want := range map[string]string{
		"":                      "server metrics are off: no Prometheus endpoints reachable: " + denied + ": status 401",
		s.URL + "/good/metrics": "Unreachable endpoints: " + denied + ": status 401",
	} {
		urls := []string{denied}
		if good != "" {
			urls = append(urls, good)
		}
		var warned []string
		o := Open(t.Context(), Options{
			Client: client, URLs: urls, Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute,
			Warn: func(text string) { warned = append(warned, text) }, Log: slog.New(slog.DiscardHandler), Silence: "--off", Addresses: "--server-metrics",
		})
		o.Stop()
		if len(warned) == 0 || warned[0] != want {
			t.Errorf("%q, want %q", warned, want)
		}
	}
}
