//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/testhome"
)

// deadAddress is an address of this machine at which nobody listens, and nobody can meanwhile.
func deadAddress(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fd)
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
}

// uncut are the lines of a report that are not broken: what they hold is copied.
var uncut = regexp.MustCompile(`^(CLI Command|[A-Z][A-Za-z ]+ (Export|File|Records)): |^(Results|Page|Compare) +`)

// TestErrorsAtATerminal: a run that comes to nothing says why: each fact once, within 80 columns, with what can be done; status 1.
func TestErrorsAtATerminal(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	answers := func(status int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"object":"list","data":[{"id":"bge-base-en"},{"id":"llama-3.1-8b"}]}`)
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	serve := func(t *testing.T, handle http.HandlerFunc) string {
		t.Helper()
		s := httptest.NewServer(handle)
		t.Cleanup(s.Close)
		return s.URL
	}
	var asked atomic.Int64
	for _, c := range []struct {
		name  string
		url   func(t *testing.T) string
		once  []string // is in the text once
		never []string
	}{
		{"dead at the start", deadAddress,
			[]string{"error: no server at http://127.0.0.1:", ": connection refused", "Nothing was sent; 3 attempts in", "/v1/models  is it up?", "--wait-for-model-timeout 120", "--url mock://"},
			[]string{"LLM Metrics", "Errors ─", "Verdict"}},
		{"unknown model", func(t *testing.T) string {
			t.Helper()
			return serve(t, answers(404, `{"error":{"message":"The model `+"`llama-3.1-8B`"+` does not exist."}}`))
		},
			[]string{"error: the server has no model llama-3.1-8B", "    llama-3.1-8b  differs in case only", "    bge-base-en", "404 Not Found: The model `llama-3.1-8B` does not exist.", "try  --model llama-3.1-8b"},
			[]string{"Errors ─", "Verdict"}},
		{"all fail", func(t *testing.T) string {
			t.Helper()
			return serve(t, answers(401, `{"error":{"message":"invalid api key"}}`))
		},
			[]string{"   20  100.0 %   401  Unauthorized  invalid api key", "All 20 requests failed; there is nothing to measure.", "The server requires a key, but none was given.", "Set --api-key", "✘ 100 % of the requests failed. Verdict: no result. No request succeeded.", "Log File:"},
			[]string{"error:", "INCOMPLETE", "they are not part of any latency", "does not accept"}},
		{"dies midway", func(t *testing.T) string {
			t.Helper()
			s := httptest.NewUnstartedServer(nil)
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) == 200 {
					s.Listener.Close() // by now nobody can connect, and no connection is kept
				}
				w.Header().Set("Connection", "close")
				answers(200, `{"choices":[{"message":{"content":"hello"}}]}`)(w, r)
			})
			s.Start()
			t.Cleanup(s.Close)
			return s.URL
		},
			[]string{"INCOMPLETE RESULTS", "Run aborted: no connection to the server could be made: ", "to continue anyway, give --no-fail-fast", "requests failed; they are not part of any latency"},
			[]string{"error:", "API Error", "Check --url"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--ui", "dashboard", "--model", "llama-3.1-8B", "--tokenizer", "builtin", "--url", c.url(t), "--concurrency", "2", "--random-seed", "1"}
			if c.name == "dies midway" {
				args = append(args, "--benchmark-duration", "600")
			} else {
				args = append(args, "--request-count", "20")
			}
			s := startScreen(t, program(t, args...), 80, 24)
			status, left := s.ends()
			if status != 1 {
				t.Errorf("status %d", status)
			}
			for _, text := range c.once {
				if n := strings.Count(strings.Join(strings.Fields(left), " "), strings.Join(strings.Fields(text), " ")); n != 1 {
					t.Errorf("%d times %q", n, text)
				}
			}
			for _, text := range c.never {
				if strings.Contains(left, text) {
					t.Errorf("there is %q", text)
				}
			}
			for line := range strings.Lines(left) {
				if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 80 && !uncut.MatchString(line) {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if t.Failed() {
				t.Log(left)
			}
		})
	}
}
