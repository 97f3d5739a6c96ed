package otlp

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/protobuf"
)

// TestHeadersOfTheEnvironment: a collector gets the headers of the environment, and of two Authorization headers the one of its URL.
func TestHeadersOfTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		environ         map[string]string
		user            string
		metrics, traces map[string]string
	}{
		"all":        {map[string]string{allHeaders: "Authorization=Bearer%20K1, x-a=b=c"}, "", map[string]string{"Authorization": "Bearer K1", "X-A": "b=c"}, map[string]string{"Authorization": "Bearer K1", "X-A": "b=c"}},
		"one signal": {map[string]string{allHeaders: "x-a=1", traceHeaders: "x-b=2"}, "", map[string]string{"X-A": "1", "X-B": ""}, map[string]string{"X-A": "", "X-B": "2"}},
		"a user":     {map[string]string{allHeaders: "authorization=Bearer K,x-a=1"}, "u:p@", map[string]string{"Authorization": "Basic dTpw", "X-A": "1"}, map[string]string{"Authorization": "Basic dTpw", "X-A": "1"}},
		"none":       {nil, "", map[string]string{"Authorization": ""}, map[string]string{"Authorization": ""}},
		"no pairs":   {map[string]string{allHeaders: "x,=y,,z=1"}, "", map[string]string{"Z": "1"}, map[string]string{"Z": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			got := map[string]http.Header{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				got[r.URL.Path] = r.Header.Clone()
			}))
			defer server.Close()
			s, err := Open(context.Background(), Options{
				URL: strings.Replace(server.URL, "://", "://"+c.user, 1), Metrics: true, Traces: true, Headers: HeadersOf(func(n string) string { return c.environ[n] }),
				Flush: time.Hour, Batch: 10, Buffered: 10, Timeout: 5 * time.Second, Phases: func() []Load { return []Load{{}} }, Warn: func(string) {},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.queue <- protobuf.Message{}
			s.chunks.record(1, nil)
			s.Close(context.Background())
			for path, want := range map[string]map[string]string{metricsPath: c.metrics, tracesPath: c.traces} {
				if got[path] == nil {
					t.Fatalf("nothing came to %s", path)
				}
				for header, value := range maps.All(want) {
					if got[path].Get(header) != value {
						t.Errorf("%s: %s is %q, want %q", path, header, got[path].Get(header), value)
					}
				}
			}
		})
	}
}
