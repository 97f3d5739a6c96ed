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
)

// TestExportersTrustTheSameRoots: exporters with a private certificate are reached with --tls-ca-file, and not without.
func TestExportersTrustTheSameRoots(t *testing.T) {
	testhome.Slow(t)
	var pages atomic.Int64
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
