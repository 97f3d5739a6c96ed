package api

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// serve answers about a run whose folder holds a few files.
func serve(t *testing.T, change func(*Source)) *httptest.Server {
	t.Helper()
	outer := t.TempDir()
	dir := filepath.Join(outer, "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run/b.json": "{}", "run/a.csv": "x,y", "secret.txt": "no", "run/c.bin": strings.Repeat("z", 5000), "run/logs/l.txt": "line"} {
		path := filepath.Join(outer, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	s := &Source{
		Ready: func() bool { return true }, Config: json.RawMessage(`{"a":1}`), Run: map[string]int{"trial": 2}, Page: func() []byte { return []byte("a 1\n") },
		Metrics: func() any { return map[string]any{"metrics": map[string]any{}} }, Progress: func() any { return map[string]any{"phases": nil} },
		Workers: func() any { return 3 }, Results: func() Results { return Results{Status: "running"} }, Dir: dir,
	}
	if change != nil {
		change(s)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

// ask sends a request as it is written and reads the answer.
func ask(t *testing.T, server *httptest.Server, head string) (status int, header http.Header, text string) {
	t.Helper()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%s\r\nHost: h\r\nConnection: close\r\n\r\n", head); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(head, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// TestRoutes: what is asked is answered, what climbs out of the folder is refused, and nothing can be changed.
func TestRoutes(t *testing.T) {
	server := serve(t, nil)
	for _, c := range []struct {
		head   string
		status int
		body   string // "" = whatever
	}{
		{"GET /healthz HTTP/1.1", 200, "ok"}, {"GET /readyz HTTP/1.1", 200, "ok"}, {"GET /metrics HTTP/1.1", 200, "a 1\n"}, {"GET /api/config HTTP/1.1", 200, `{"a":1}`},
		{"GET /api/run HTTP/1.1", 200, `{"trial":2}`}, {"GET /api/metrics HTTP/1.1", 200, `{"metrics":{}}`}, {"GET /api/progress HTTP/1.1", 200, `{"phases":null}`},
		{"GET /api/workers HTTP/1.1", 200, "3"}, {"GET /api/results HTTP/1.1", 200, `{"status":"running","results":null}`},
		{"GET /api/results/list HTTP/1.1", 200, `{"files":[{"name":"a.csv","size":3},{"name":"b.json","size":2},{"name":"c.bin","size":5000}]}`},
		{"GET /api/results/files/a.csv HTTP/1.1", 200, "x,y"}, {"GET /api/results/files/logs/l.txt HTTP/1.1", 200, "line"}, {"HEAD /healthz HTTP/1.1", 200, ""},
		{"GET /api/results/files/../../etc/passwd HTTP/1.1", 400, `{"detail":"Invalid filename"}`}, {"GET /api/results/files/../secret.txt HTTP/1.1", 400, ""},
		{"GET /api/results/files/%2e%2e/secret.txt HTTP/1.1", 400, ""}, {"GET /api/results/files/..%2fsecret.txt HTTP/1.1", 400, ""},
		{"GET /api/results/files//etc/passwd HTTP/1.1", 400, ""}, {"GET /api/results/files/..%5csecret.txt HTTP/1.1", 400, ""}, {"GET /api/results/files/a%00 HTTP/1.1", 400, ""},
		{"GET /api/results/files/link.txt HTTP/1.1", 404, ""}, {"GET /api/results/files/none HTTP/1.1", 404, `{"detail":"Result file not found: none"}`},
		{"GET /api/results/files/logs HTTP/1.1", 404, ""}, {"GET /other HTTP/1.1", 404, `{"detail":"Not Found"}`}, {"POST /api/shutdown HTTP/1.1", 405, ""},
		{"DELETE /api/results HTTP/1.1", 405, ""}, {"OPTIONS /api/results HTTP/1.1", 405, ""},
	} {
		status, header, body := ask(t, server, c.head)
		if status != c.status || c.body != "" && body != c.body || strings.Contains(body, "root:") || body == "no" {
			t.Errorf("%s: %d %q, want %d %q", c.head, status, body, c.status, c.body)
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other pages may read it", c.head)
		}
	}
	_, h, _ := ask(t, server, "GET /api/results/files/logs/l.txt HTTP/1.1")
	if h.Get("Content-Type") != "text/plain" || h.Get("X-Filename") != "l.txt" || h.Get("Content-Disposition") != "attachment; filename=l.txt" {
		t.Errorf("%v", h)
	}
	idle := serve(t, func(s *Source) { s.Ready = func() bool { return false }; s.Dir = filepath.Join(s.Dir, "none") })
	if status, _, body := ask(t, idle, "GET /readyz HTTP/1.1"); status != 503 || body != "not ready" {
		t.Error(status, body)
	}
	if _, _, body := ask(t, idle, "GET /api/results/list HTTP/1.1"); body != `{"files":[]}` {
		t.Error(body)
	}
}

// TestCodings: bodies are compressed as the client likes it, and read the same.
func TestCodings(t *testing.T) {
	server := serve(t, nil)
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "gzip, zstd": "zstd", "zstd;q=0, gzip": "gzip", "*": "zstd", "*;q=0": "", "gzip;q=0.0, *": "zstd", "br": "", "GZIP; Q=0.5": "gzip",
		"zstd;q=0, gzip;q=0": "",
	} {
		_, header, body := ask(t, server, "GET /api/results/files/c.bin HTTP/1.1\r\nAccept-Encoding: "+accept)
		var plain io.Reader = strings.NewReader(body)
		var err error
		switch want {
		case "gzip":
			plain, err = gzip.NewReader(plain)
		case "zstd":
			plain, err = zstd.NewReader(plain)
		}
		if err != nil || header.Get("Content-Encoding") != want {
			t.Errorf("%q: %q, want %q: %v", accept, header.Get("Content-Encoding"), want, err)
			continue
		}
		if text, err := io.ReadAll(plain); err != nil || string(text) != strings.Repeat("z", 5000) {
			t.Errorf("%q: %d bytes: %v", accept, len(text), err)
		}
	}
}

// TestOrigins: pages that the user names may read the answers.
func TestOrigins(t *testing.T) {
	server := serve(t, func(s *Source) { s.Origins = []string{"http://a"} })
	for origin, want := range map[string]string{"http://a": "http://a", "http://b": "", "": ""} {
		_, header, _ := ask(t, server, "GET /healthz HTTP/1.1\r\nOrigin: "+origin)
		if got := header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%q: %q", origin, got)
		}
	}
	status, header, _ := ask(t, server, "OPTIONS /healthz HTTP/1.1\r\nOrigin: http://a\r\nAccess-Control-Request-Method: GET")
	if status != http.StatusNoContent || header.Get("Access-Control-Allow-Origin") != "http://a" {
		t.Error(status, header)
	}
}
