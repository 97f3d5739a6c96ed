package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// starting is a server whose model comes up.
type starting struct {
	silent   int64 // requests that are answered with 503 at first
	unlisted int64 // lists of models without it at first; -1 = there is no list
	refuses  int   // status of the answer after those, 0 = a good one
	asked    atomic.Int64
	listed   atomic.Int64
	based    atomic.Int64
	first    atomic.Value // body of the first request
}

func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/models" && s.unlisted < 0:
		w.WriteHeader(http.StatusNotFound)
	case r.URL.Path == "/v1/models":
		if s.listed.Add(1) <= s.unlisted {
			io.WriteString(w, `{"data":[{"id":"other"}]}`)
			return
		}
		io.WriteString(w, `{"data":[{"id":"other"},{"id":"m"}]}`)
	case r.Method == http.MethodGet:
		s.based.Add(1)
	default:
		text, _ := io.ReadAll(r.Body)
		s.first.CompareAndSwap(nil, string(text))
		switch n := s.asked.Add(1); {
		case n <= s.silent:
			w.WriteHeader(http.StatusServiceUnavailable)
		case s.refuses != 0 && n == s.silent+1:
			w.WriteHeader(s.refuses)
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
		}
	}
}

// TestReadiness: a run begins when the model answers, when it is listed, or both; nothing of the waiting is in its results.
func TestReadiness(t *testing.T) {
	const requests = 5
	for name, c := range map[string]*struct {
		server                starting
		mode                  string
		waiting, lists, based int64 // requests before the run
	}{
		"up":                {starting{}, "inference", 1, 0, 0},
		"comes up":          {starting{silent: 3}, "inference", 4, 0, 0},
		"refuses the words": {starting{silent: 1, refuses: http.StatusBadRequest}, "inference", 2, 0, 0},
		"is listed":         {starting{unlisted: 2}, "models", 0, 3, 0},
		"no list":           {starting{unlisted: -1}, "models", 0, 0, 1},
		"both":              {starting{silent: 1, unlisted: 1}, "both", 2, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &c.server
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			b := whole(t.TempDir(), server.URL, requests)
			b.Endpoint.Streaming, b.Endpoint.WaitForModelTimeout, b.Endpoint.WaitForModelEvery, b.Endpoint.WaitForModelMode = false, 20, 0.01, c.mode
			var errs locked
			run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
			if err != nil {
				t.Fatal(err, errs.String())
			}
			if got := s.asked.Load() - requests; got != c.waiting || run.Profiling.Value("request_count", metric.Avg) != requests {
				t.Errorf("%d requests before the run, want %d; %v in it", got, c.waiting, run.Profiling.Value("request_count", metric.Avg))
			}
			if waited := strings.Contains(errs.String(), "waiting for model m, at most 20s"); waited != (c.waiting > 1 || c.lists > 1) {
				t.Errorf("told %v: %s", waited, errs.String())
			}
			if s.listed.Load() != c.lists || s.based.Load() != c.based {
				t.Errorf("%d lists, %d looks at the base, want %d and %d", s.listed.Load(), s.based.Load(), c.lists, c.based)
			}
			if body, _ := s.first.Load().(string); c.waiting > 0 && (!strings.Contains(body, `"Lo"`) || !strings.Contains(body, `"max_completion_tokens":1`)) {
				t.Errorf("asked in the words %s", body)
			}
		})
	}
}

// TestNeverReady: a server that does not come up in time ends the run with what it said last, and one that is not there with that.
func TestNeverReady(t *testing.T) {
	testhome.Slow(t)
	busy := httptest.NewServer(&starting{silent: 1 << 40})
	t.Cleanup(busy.Close)
	const gone = "http://127.0.0.1:1" // nobody listens there; a port that was closed another test may get
	for url, says := range map[string]string{busy.URL: "503", gone: "refused"} {
		b := whole(t.TempDir(), url, 5)
		b.Endpoint.WaitForModelTimeout, b.Endpoint.WaitForModelEvery = config.Seconds(2), 0.01
		var errs locked
		_, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
		if err == nil || !strings.Contains(err.Error(), "is not ready at "+url) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
