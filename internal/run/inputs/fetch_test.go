package inputs

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/custom"
)

// TestFetch: addresses are fetched once each and become content, no more at a time than allowed; what cannot be fetched names its row.
func TestFetch(t *testing.T) {
	const most = 3
	var under, peak, asked atomic.Int64
	gate, release := make(chan struct{}), sync.Once{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if n := under.Add(1); n > peak.Load() {
			peak.Store(n)
		}
		defer under.Add(-1)
		if strings.HasPrefix(r.URL.Path, "/a") {
			if under.Load() == most {
				release.Do(func() { close(gate) }) // all that may run do: nobody waits any longer
			}
			<-gate
		}
		switch {
		case r.Header.Get("Authorization") != "" || r.UserAgent() != "a/1":
			t.Errorf("headers of a download: %v", r.Header)
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html>")) // the client sees it if it fails
		case r.URL.Path == "/large":
			_, _ = w.Write(make([]byte, 5000))
		default:
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n rest"))
		}
	}))
	defer server.Close()
	open := func(rows string) (*conversation.Conversation, error) {
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(rows, "{url}", server.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &config.Default().Benchmark
		b.Models.Items, b.Endpoint.APIKey = []config.Model{{Name: "m"}}, "secret"
		b.Environment.HTTP.MaxResponseBytes, b.Environment.Dataset.MediaDownloadMax = 4096, most
		d := b.Dataset()
		d.Type, d.Path, d.Format, d.Prompts = config.DatasetFile, path, "single_turn", nil
		e, _, err := endpoint.Lookup("image_retrieval")
		if err != nil {
			t.Fatal(err)
		}
		set, err := OpenDataset(t.Context(), "a/1", b, e, rng.New(nil), nil, nil)
		if err != nil {
			return nil, err
		}
		return set.Conversation(0), nil
	}
	c, err := open(`{"images":["{url}/a1","{url}/a2","{url}/a3","{url}/b","{url}/b","data:image/png;base64,AAAA"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if peak.Load() != most || asked.Load() != 4 {
		t.Errorf("%d downloads at once, %d in all", peak.Load(), asked.Load())
	}
	for i, p := range c.Turns[0].Parts {
		if raw, err := p.Blob.Bytes(); err != nil || !p.Blob.Inline() || p.Blob.MediaType() != "image/png" || i < 5 && (p.Blob.Address() != "" || !strings.HasSuffix(string(raw), "rest")) {
			t.Errorf("image %d: %q %v, type %q, address %q", i, raw, err, p.Blob.MediaType(), p.Blob.Address())
		}
	}
	for path, want := range map[string]string{
		"{url}/gone": "/gone: the server answered 404", "{url}/page": "/page: not an image: text/html", "{url}/large": "larger than 4096 bytes", "ftp://h/x.png": "only http and https",
	} {
		if _, err := open("\n{\"image\":\"" + path + "\"}"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "in.jsonl:2: ") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestDownloadsTrustTheSameRoots: downloads from a server with a private certificate need --tls-ca-file. They go through --proxy, or else through
// the proxy of the environment.
func TestDownloadsTrustTheSameRoots(t *testing.T) {
	var proxied atomic.Int64
	secret := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
}
