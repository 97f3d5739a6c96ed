package run

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/interrupt"
)

// heard is what some servers were asked, in order, as "NAME PATH".
type heard struct {
	mu   sync.Mutex
	list []string
}

func (a *heard) add(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, text)
}

func (a *heard) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// hooked is a server of chat that can be asked for more. says gives the status of what it is asked for; 0 = 200.
func hooked(t *testing.T, name string, log *heard, says func(path string) int) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.add(name + " " + r.URL.RequestURI())
		if strings.HasPrefix(r.URL.Path, "/base/") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`))
			return
		}
		if r.Method != http.MethodPost || r.ContentLength != 0 || r.Header.Get("Authorization") != "Bearer k" || r.Header.Get("X-Mine") != "1" {
			t.Errorf("%s %s: %d bytes, %v", r.Method, r.URL, r.ContentLength, r.Header)
		}
		if status := says(r.URL.Path); status != 0 {
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// hookedRun is a run against servers that are asked with a key and a header.
func hookedRun(t *testing.T, requests int, servers ...*httptest.Server) *config.Benchmark {
	t.Helper()
	b := whole(t.TempDir(), "", requests)
	b.Endpoint.URLs = nil
	for _, s := range servers {
		b.Endpoint.URLs = append(b.Endpoint.URLs, s.URL+"/base")
	}
	b.Endpoint.Streaming, b.Endpoint.APIKey, b.Endpoint.Headers = false, "k", config.Headers{{Name: "X-Mine", Value: "1"}}
	return b
}

func fine(string) int { return 0 }

// TestHooks: each server is asked once, in the order of the URLs: for an empty cache before the warm-up, for its profile around every measured
// phase. None of it is in the results.
func TestHooks(t *testing.T) {
	var log heard
	one, two := hooked(t, "one", &log, fine), hooked(t, "two", &log, fine)
	b := hookedRun(t, 2, one, two, one)
	b.Endpoint.ResetKVCache = &config.ResetKVCache{Path: "/flush_cache?all=1"}
	b.Endpoint.ServerProfiler = &config.ServerProfiler{StopPath: "/halt"}
	warm, second := b.Phases[0], b.Phases[0]
	warm.Name, warm.Kind, warm.ExcludeFromResults = "warmup", config.KindWarmup, true
	second.Name = "again"
	b.Phases = []config.Phase{warm, b.Phases[0], second}
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if n := run.Profiling.Value("request_count", metric.Avg); n != 4 {
		t.Errorf("%v requests in the results, want 4", n)
	}
	var got []string
	for _, text := range log.all() {
		if _, path, _ := strings.Cut(text, " "); strings.HasPrefix(path, "/base/") {
			text = "load"
		}
		if text != "load" || len(got) == 0 || got[len(got)-1] != "load" {
			got = append(got, text)
		}
	}
	want := []string{
		"one /flush_cache?all=1", "two /flush_cache?all=1", "load",
		"one /start_profile", "two /start_profile", "load", "one /halt", "two /halt",
		"one /start_profile", "two /start_profile", "load", "one /halt", "two /halt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("asked\n%q, want\n%q", got, want)
	}
}

// TestSeamlessProfile: phases that follow each other at once have one profile.
func TestSeamlessProfile(t *testing.T) {
	var log heard
	b := hookedRun(t, 2, hooked(t, "one", &log, fine))
	b.Endpoint.ServerProfiler = &config.ServerProfiler{}
	second := b.Phases[0]
	second.Name, second.Seamless = "again", true
	b.Phases = append(b.Phases, second)
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &locked{}}); err != nil {
		t.Fatal(err)
	}
	if asked := log.all(); len(asked) != 6 || asked[0] != "one /start_profile" || asked[5] != "one /stop_profile" {
		t.Errorf("asked %q", asked)
	}
}

// TestFailedHooks: a cache that is not emptied and a profiler that does not start end the run before a measured request, those that started
// are stopped in the opposite order; one that does not stop is reported.
func TestFailedHooks(t *testing.T) {
	for name, c := range map[string]struct {
		fails    string // server and path
		profile  bool
		err, say string
		want     []string
	}{
		"reset":    {"two /reset_prefix_cache", false, "500 Internal Server Error", "", []string{"one /reset_prefix_cache", "two /reset_prefix_cache"}},
		"start":    {"three /start_profile", true, "three", "", []string{"one /start_profile", "two /start_profile", "three /start_profile", "two /stop_profile", "one /stop_profile"}},
		"stop":     {"one /stop_profile", true, "", "the server's profiler may still be running: POST ", []string{"one /stop_profile", "two /stop_profile", "three /stop_profile"}},
		"redirect": {"one /reset_prefix_cache 307", false, "307 Temporary Redirect", "", []string{"one /reset_prefix_cache"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log heard
			var servers []*httptest.Server
			for _, server := range []string{"one", "two", "three"} {
				servers = append(servers, hooked(t, server, &log, func(path string) int {
					switch c.fails {
					case server + " " + path:
						return http.StatusInternalServerError
					case server + " " + path + " 307":
						return http.StatusTemporaryRedirect
					}
					return 0
				}))
			}
			b := hookedRun(t, 3, servers...)
			if b.Endpoint.ServerProfiler = (&config.ServerProfiler{}); !c.profile {
				b.Endpoint.ServerProfiler, b.Endpoint.ResetKVCache = nil, &config.ResetKVCache{}
			}
			var errs locked
			_, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
			says := strings.ReplaceAll(c.err, "three", servers[2].URL+"/start_profile: 500")
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
			if !strings.Contains(errs.String(), c.say) {
				t.Errorf("%q is not told:\n%s", c.say, errs.String())
			}
			asked := log.all()
			if got := asked[max(0, len(asked)-len(c.want)):]; !slices.Equal(got, c.want) || c.err != "" && len(asked) != len(c.want) {
				t.Errorf("asked %q, want %q", asked, c.want)
			}
		})
	}
}

// TestProfileOfInterruptedRun: an interruption stops the profilers as the end does.
func TestProfileOfInterruptedRun(t *testing.T) {
	var log heard
	ctx, cancel := context.WithCancelCause(t.Context())
	var once sync.Once
	s := hooked(t, "one", &log, fine)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/base/") {
			once.Do(func() { cancel(interrupt.ErrSignal) })
		}
		inner.ServeHTTP(w, r)
	})
	b := hookedRun(t, 100000, s)
	b.Endpoint.ServerProfiler = &config.ServerProfiler{}
	if _, err := Run(ctx, b, nil, Options{Version: "test", Err: &locked{}}); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	s.Close() // what was cut may reach its handler after the stop
	if asked := log.all(); strings.Count(strings.Join(asked, "\n"), "/stop_profile") != 1 {
		t.Errorf("asked %q", asked)
	}
}

// TestPassingRefusal: a server that is busy is asked again, over real connections, and one that is not there, too; others are not.
func TestPassingRefusal(t *testing.T) {
	for status, tries := range map[int]int{409: 2, 423: 2, 429: 2, 503: 2, 400: 1, 404: 1, 500: 1} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			var log heard
			b := hookedRun(t, 1, hooked(t, "one", &log, func(string) int {
				if len(log.all()) == 1 {
					return status
				}
				return 0
			}))
			b.Endpoint.ResetKVCache = &config.ResetKVCache{}
			_, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &locked{}})
			asked := strings.Count(strings.Join(log.all(), "\n"), "/reset_prefix_cache")
			if asked != tries || (err == nil) != (tries == 2) {
				t.Errorf("asked %d times, want %d: %v", asked, tries, err)
			}
		})
	}
}
