package run

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aiperf/internal/config"
)

// The cases of the conformance corpus (spec: transport, section 16) that need a whole run. The other cases are in package exec.

// answered is a whole answer of a chat endpoint.
const answered = `{"object":"chat.completion","choices":[{"message":{"content":"a"}}]}`

// TestConformanceOfManyConnections is case H49: 100 requests at once share at most 100 connections.
func TestConformanceOfManyConnections(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answered)) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	b := whole(t.TempDir(), s.URL, 600)
	b.Endpoint.Streaming, b.Phases[0].Concurrency = false, ptr(100)
	var told locked
	if run, err := Run(t.Context(), b, nil, Options{Err: &told}); err != nil || run.Profiling.Valid != 600 || opened.Load() > 100 {
		t.Errorf("H49: %v, %d connections for 100 requests at once\n%s", err, opened.Load(), told.String())
	}
}

// TestConformanceOfServers is case H46a: a conversation stays at one of several servers.
func TestConformanceOfServers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen, requests := map[string]int{}, [2]int{}
	urls := make([]string, 2)
	for i := range urls {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			id := r.Header.Get("X-Correlation-ID")
			if other, ok := seen[id]; ok && other != i || id == "" {
				t.Errorf("H46a: conversation %q went to both servers", id)
			}
			seen[id] = i
			requests[i]++
			_, _ = w.Write([]byte(answered))
		}))
		t.Cleanup(s.Close)
		urls[i] = s.URL
	}
	b := whole(t.TempDir(), urls[0], 12)
	b.Endpoint.URLs, b.Endpoint.Streaming = urls, false
	b.Dataset().Turns = config.Normal(3, 0)
	b.Phases[0].Requests, b.Phases[0].Sessions = nil, ptr(4) // whole conversations: a limit of requests would cut the last ones
	var told locked
	if _, err := Run(t.Context(), b, nil, Options{Err: &told}); err != nil {
		t.Fatalf("H46a: %v\n%s", err, told.String())
	}
	if requests != [2]int{6, 6} || len(seen) != 4 {
		t.Errorf("H46a: requests by server %v, %d conversations", requests, len(seen))
	}
}

// TestConformanceOfRecords holds the cases H06, R01 and R02: no file of a run contains its secrets, even if the server sends them back.
func TestConformanceOfRecords(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("you sent " + r.URL.String() + " "))
		_ = r.Header.Write(w)
	}))
	t.Cleanup(echo.Close)
	dir := t.TempDir()
	b := whole(dir, echo.URL+"/?token=S3-hidden", 4)
	b.Endpoint.APIKey, b.Endpoint.Headers = "SECRET-KEY", config.Headers{{Name: "X-API-Key", Value: "S2-hidden"}}
	b.Artifacts.Raw, b.Artifacts.Trace, b.Logging.Level = true, true, "TRACE"
	var told locked
	run, err := Run(t.Context(), b, nil, Options{Err: &told})
	if run == nil || run.Profiling.Failed != 4 {
		t.Fatalf("R01: %+v %v", run, err)
	}
	kept := told.String()
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		kept += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, secret := range map[string]string{"R01": "SECRET-KEY", "R02": "S2-hidden", "H06": "S3-hidden"} {
		if strings.Contains(kept, secret) {
			i := strings.Index(kept, secret)
			t.Errorf("%s: %q is left behind: %.200s", id, secret, kept[max(0, i-100):])
		}
	}
	if !strings.Contains(kept, `"code":401`) || !strings.Contains(kept, "you sent ") || !strings.Contains(kept, "request_headers") {
		t.Error("R01, R02: the records hold nothing that could have been hidden")
	}
}
