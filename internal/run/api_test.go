package run

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/exposition"
)

// freePort is one that nobody has.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestAPI: while a run goes on its API tells how it stands, and the last request's server has seen it; it is gone with the run.
func TestAPI(t *testing.T) {
	const requests = 6
	b := whole(t.TempDir(), "", requests)
	b.Environment.API = config.APITuning{Port: freePort(t), Host: "127.0.0.1", CORSOrigins: `["http://a"]`, ShutdownTimeout: 5}
	base := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Environment.API.Port))
	get := func(path string, into any) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "http://a")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		if page, ok := into.(*string); ok {
			*page = string(text)
		} else if err := json.Unmarshal(text, into); err != nil {
			t.Errorf("%s: %v: %s", path, err, text)
		}
		return resp.Header
	}
	var progress struct{ Phases map[string]map[string]any }
	var figures struct {
		Model     string
		Streaming bool
		Metrics   map[string]map[string]any
	}
	var workers struct {
		Workers map[string]struct {
			Stats map[string]float64 `json:"task_stats"`
		}
	}
	var ready, page, settings string
	var results map[string]any
	asked := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == requests { // requests come one after the other
			get("/readyz", &ready)
			get("/api/progress", &progress)
			get("/api/metrics", &figures)
			get("/api/workers", &workers)
			get("/api/results", &results)
			get("/api/config", &settings)
			if header := get("/metrics", &page); header.Get("Access-Control-Allow-Origin") != "http://a" {
				t.Errorf("%v", header)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(model.Close)
	b.Endpoint.URLs, b.Endpoint.Streaming = []string{model.URL}, false
	b.Phases[0].Concurrency = ptr(1)
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs, InputConfig: []byte(`{"endpoint":{"urls":["u"],"api_key":"<redacted>"}}`)}); err != nil {
		t.Fatal(err, errs.String())
	}
	p := progress.Phases["profiling"]
	if ready != "ok" || p["requests_sent"] != float64(requests) || p["requests_completed"] != float64(requests-1) || p["total_expected_requests"] != float64(requests) ||
		p["requests_end_ns"] != nil || p["final_requests_completed"] != nil || p["request_errors"] != 0.0 {
		t.Errorf("%s, progress %v", ready, p)
	}
	if figures.Model != "m" || figures.Streaming || figures.Metrics == nil {
		t.Errorf("metrics %+v", figures)
	}
	for _, w := range workers.Workers {
		if w.Stats["total"] != requests || w.Stats["completed"] != requests-1 {
			t.Errorf("worker %+v", w)
		}
	}
	if len(workers.Workers) != 1 || results["status"] != "running" || settings != `{"endpoint":{"urls":["u"]}}` {
		t.Errorf("%v %v %s", workers, results, settings)
	}
	if parsed := exposition.Parse([]byte(page)); parsed.BadLines != 0 || !strings.Contains(page, "aiperf_requests_sent{") {
		t.Errorf("page %s", page)
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
		_ = c.Close()
		t.Error("the API outlives the run")
	}
}

// TestBusyAPI: a port that somebody has ends the run before it has begun, and names the flag. Flags go before variables.
func TestBusyAPI(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := whole(t.TempDir(), "http://127.0.0.1:1", 1)
	b.Environment.API = config.APITuning{Port: 1, Host: "192.0.2.1"}
	b.Runtime.APIPort, b.Runtime.APIHost = ptr(l.Addr().(*net.TCPAddr).Port), "127.0.0.1"
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &locked{}}); err == nil || !strings.Contains(err.Error(), "--api-port 127.0.0.1:") {
		t.Error(err)
	}
}
