//go:build unix

package main

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"aiperf/internal/base/testhome"
	"aiperf/internal/cli"
	"aiperf/internal/series/plan"
)

// TestNothingIsLeftRunning: a whole invocation in this process, whatever becomes of it, ends all its goroutines.
func TestNothingIsLeftRunning(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		name   string
		server func(t *testing.T) string
		args   []string
		status int
	}{
		{"answers", func(t *testing.T) string { return newScripted(t, 1<<30).URL }, []string{"--request-count", "50"}, 0},
		{"a rate", func(t *testing.T) string { return newScripted(t, 1<<30).URL }, []string{"--request-count", "50", "--request-rate", "500"}, 0},
		{"new connections", func(t *testing.T) string { return newScripted(t, 1<<30).URL }, []string{"--request-count", "20", "--connection-reuse-strategy", "never"}, 0},
		{"several turns", func(t *testing.T) string { return newScripted(t, 1<<30).URL }, []string{"--num-sessions", "5", "--session-turns-mean", "3"}, 0},
		{"refused", deadPort, []string{"--request-count", "50"}, 1},
		{"cut", func(t *testing.T) string { return newScripted(t, 3).URL }, []string{"--benchmark-duration", "1", "--benchmark-grace-period", "0"}, 0},
		{"timeouts", func(t *testing.T) string { return newScripted(t, 0).URL }, []string{"--request-count", "6", "--request-timeout-seconds", "0.1"}, 1},
		{"aborted by the client", func(t *testing.T) string { return newScripted(t, 0).URL }, []string{"--request-count", "6", "--request-cancellation-rate", "100", "--request-cancellation-delay", "0.02"}, 1},
		{"refused by itself", func(t *testing.T) string { return newScripted(t, 0).URL }, []string{"--request-count", "6", "--endpoint-type", "tensorrtllm_engine"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := c.server(t)
			before := goleak.IgnoreCurrent()
			var out, err bytes.Buffer
			p := &cli.Program{Profile: profile, Watch: plan.Watch, Streams: cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &err, Width: 100}}
			args := append(towards(url, "--artifact-dir", t.TempDir(), "--concurrency", strconv.Itoa(4)), c.args...)
			if got := cli.Main(context.Background(), p, append([]string{"profile"}, args...)); got != c.status {
				t.Errorf("exit status %d, want %d\n%s", got, c.status, err.String())
			}
			http.DefaultClient.CloseIdleConnections()
			var left error
			if !within(patience, func() bool {
				left = goleak.Find(before,
					goleak.IgnoreTopFunction("os/signal.signal_recv"),                     // the runtime's, once it has listened
					goleak.IgnoreAnyFunction("net/http.(*conn).serve"),                    // of the server in this process
					goleak.IgnoreAnyFunction("net/http.(*connReader).backgroundRead"),     // likewise
					goleak.IgnoreAnyFunction("net/http/httptest.(*Server).goServe.func1"), // likewise
				)
				return left == nil
			}) {
				t.Error(left)
			}
		})
	}
}
