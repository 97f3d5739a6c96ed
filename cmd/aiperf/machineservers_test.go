//go:build linux && !nocluster

package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// pausingServer answers at once, but once, a second after the first request, it gives no answer for 2.5 s. It reports cached prompt tokens.
func pausingServer(t *testing.T) string {
	t.Helper()
	var first sync.Once
	var begun time.Time
	server := httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		first.Do(func() { begun = time.Now() })
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if at := time.Since(begun); at > time.Second && at < 3500*time.Millisecond {
			time.Sleep(3500*time.Millisecond - at)
		}
		time.Sleep(10 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}],`,
			`"usage":{"prompt_tokens":400,"completion_tokens":2,"total_tokens":402,"prompt_tokens_details":{"cached_tokens":100}}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// serverFigures are what a run says about its servers as a whole.
type serverFigures struct {
	Stalls   int     `json:"server_silence_count"`
	Longest  float64 `json:"server_silence_longest_ms"`
	Waiting  int     `json:"server_silence_waiting"`
	Source   string  `json:"prompt_cache_source"`
	Reported float64 `json:"prompt_cache_reported_percent"`
	Expected float64 `json:"prompt_cache_expected_percent"`
	Most     float64 `json:"prompt_cache_expected_max_percent"`
}

// TestMachinesKnowTheServers: the report has two facts that no machine knows alone, as with one process: the time in which no server answered anybody, and
// how many prompt tokens begin like those of another machine's requests.
func TestMachinesKnowTheServers(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	var one, several serverFigures
	for got, machines := range map[*serverFigures][]string{&one: nil, &several: {"--machines", "local:3"}} {
		args := append([]string{
			"--url", pausingServer(t), "--model", "m", "--tokenizer", "builtin", "--random-seed", "11", "--ui", "none", "--concurrency", "6", "--request-count", "600",
			"--isl", "300", "--shared-system-prompt-length", "100", "--num-dataset-entries", "200",
		}, machines...)
		p := program(t, args...)
		if status := p.run(); status != 0 {
			t.Fatalf("%q: status %d\n%s", machines, status, p.stderr.String())
		}
		p.summary().read(t, "validity", got)
	}
	for _, f := range []serverFigures{one, several} {
		if f.Stalls != 1 || f.Longest < 2000 || f.Longest > 4000 || f.Waiting != 6 {
			t.Errorf("a stall of 2.5 s with 6 requests: %+v", f)
		}
	}
	if several.Source != "usage" || several.Reported != 25 || one.Expected < 50 || math.Abs(several.Expected-one.Expected) > 0.01 || math.Abs(several.Most-one.Most) > 0.01 {
		t.Errorf("%+v, want %+v", several, one)
	}
}
