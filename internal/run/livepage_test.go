package run

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aiperf/internal/report/livepage"
)

// TestLivePage: during a run its live page has the state of the run and answers the paths of the API; afterwards it gives the report of the files.
func TestLivePage(t *testing.T) {
	const requests = 6
	b := whole(t.TempDir(), "", requests)
	web, err := livepage.Listen(t.Context(), livepage.Options{Address: "127.0.0.1:0", Token: "t", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.Address(false)+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer t")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	text := func(path string) string {
		resp := get(path)
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return string(all)
	}
	var progress, during string
	var first struct{ Parts map[string]any }
	asked := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == requests { // requests come one after the other
			progress, during = text("api/progress"), text("report.html")
			resp := get("events")
			in := bufio.NewScanner(resp.Body)
			in.Buffer(nil, 1<<20)
			for in.Scan() {
				if line, ok := strings.CutPrefix(in.Text(), "data: "); ok {
					if err := json.Unmarshal([]byte(line), &first); err != nil {
						t.Error(err)
					}
					break
				}
			}
			resp.Body.Close()
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(model.Close)
	b.Endpoint.URLs, b.Endpoint.Streaming = []string{model.URL}, false
	b.Phases[0].Concurrency = ptr(1)
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs, Web: web}); err != nil {
		t.Fatal(err, errs.String())
	}
	model.Close() // from here on the notes of its goroutines are read
	if !strings.Contains(progress, `"requests_sent":6`) || !strings.Contains(during, "while the run was in progress") {
		t.Errorf("progress %s, %d bytes of a report", progress, len(during))
	}
	for id, want := range map[string]string{"stage": "1 in flight", "cards": "Goodput", "health": "CPU of aiperf", "head": "<h1>m</h1>"} {
		if part, _ := first.Parts[id].(string); !strings.Contains(part, want) {
			t.Errorf("%s is %q, want %q", id, part, want)
		}
	}
	if report := text("report.html"); !strings.Contains(report, "from the files of the run") || !strings.Contains(report, `id="requests"`) {
		t.Errorf("the report of the finished run has %d bytes", len(report))
	}
	if got := text("api/progress"); !strings.Contains(got, "no run is in progress") {
		t.Errorf("the API after the run: %s", got)
	}
	if err := web.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
