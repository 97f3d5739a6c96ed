package run

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
)

// TestSideRequestsTrustTheSameRoots: downloads and exporters behind a certificate of one's own are reached with --tls-ca-file, and not without;
// downloads go through --proxy, or else through the proxy of the environment.
func TestSideRequestsTrustTheSameRoots(t *testing.T) {
	testhome.Slow(t)
	var pages, proxied atomic.Int64
	secret := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages.Add(1)
		_, _ = io.WriteString(w, "# TYPE up gauge\nup 1\n") // the client sees it if it fails
	}))
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	t.Cleanup(secret.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secret.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "pictures.invalid" && r.Header.Get("Proxy-Authorization") == "Basic dTpw" {
			proxied.Add(1)
			_, _ = io.WriteString(w, "a picture")
		}
	}))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	address := strings.Replace(proxy.URL, "http://", "http://u:p@", 1)
	download := func(from string, change func(b *config.Benchmark)) (string, error) {
		b := &config.Default().Benchmark
		change(b)
		var text string
		var err error
		fetcher(t.Context(), "a/1", b)([]string{from}, func(_ int, d custom.Download) { text, err = string(d.Content), d.Err })
		return text, err
	}
	trusting := func(b *config.Benchmark) { b.Endpoint.TLS.CAFile = ca }
	if text, err := download(secret.URL, trusting); err != nil || !strings.Contains(text, "up 1") {
		t.Errorf("with the root: %q %v", text, err)
	}
	if _, err := download(secret.URL, func(*config.Benchmark) {}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the root: %v", err)
	}
	if _, err := download(secret.URL, func(b *config.Benchmark) { b.Endpoint.TLS.CAFile = "/nowhere" }); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("with a file that is not there: %v", err)
	}
	if text, err := download("http://pictures.invalid/a.png", func(b *config.Benchmark) { b.Endpoint.Proxy = address }); err != nil || text != "a picture" {
		t.Errorf("through --proxy: %q %v", text, err)
	}
	t.Setenv("HTTP_PROXY", address)
	if text, err := download("http://pictures.invalid/a.png", func(*config.Benchmark) {}); err != nil || text != "a picture" || proxied.Load() != 2 {
		t.Errorf("through the proxy of the environment: %q %v", text, err)
	}
	t.Setenv("HTTP_PROXY", "")
	for _, root := range []string{ca, ""} {
		pages.Store(0)
		b := whole(t.TempDir(), "mock://?ttft=0&itl=0", 1)
		b.Endpoint.TLS.CAFile = root
		b.ServerMetrics.Enabled, b.ServerMetrics.URLs = true, []string{secret.URL + "/metrics"}
		var told locked
		if _, err := Run(t.Context(), b, nil, Options{Err: &told}); err != nil {
			t.Fatal(err)
		}
		host, _ := url.Parse(secret.URL) // of the standard library's server
		if reached := pages.Load() > 0; reached != (root != "") || reached == strings.Contains(told.String(), host.Port()) {
			t.Errorf("root %q: %d pages, told %s", root, pages.Load(), told.String())
		}
	}
}
