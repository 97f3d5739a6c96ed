package plan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// sharedText is a text that one goroutine writes and another reads.
type sharedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// printedAddress returns the address of the live page.
func printedAddress(printed string) string {
	_, address, _ := strings.Cut(printed, "live page of this run: ")
	address, _, _ = strings.Cut(address, "\n")
	return address
}

// firstMessage returns the parts of the first message of the live page whose address was printed.
func firstMessage(t *testing.T, printed string) map[string]any {
	t.Helper()
	address := printedAddress(printed)
	resp, err := http.Get(strings.Replace(address, "?", "events?", 1))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if line, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			var m struct{ Parts map[string]any }
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Error(err)
			}
			return m.Parts
		}
	}
	t.Errorf("no message from %s", address)
	return nil
}

// TestLivePageOfASeries: the page shows the finished runs of a series, which run is in progress, and how long the series takes.
func TestLivePageOfASeries(t *testing.T) {
	var served atomic.Int64
	var parts map[string]any
	var told sharedText
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		if served.Add(1) == 8 { // of five in every run
			parts = firstMessage(t, told.String())
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"chat.completion","choices":[{"message":{"content":"one two three four"}}]}`)
	}))
	t.Cleanup(server.Close)
	r := asked(t, server.URL)
	*r.Phases[0].Concurrency = 1
	r.MultiRun.NumRuns = 3
	r.Runtime.Web = "127.0.0.1:0"
	ctx, done := Watch(t.Context(), &told)
	if status := done(Profile(ctx, r, Streams{Out: &told, Err: &told, Width: 90, Version: "v", Args: []string{"profile"}})); status != 0 || served.Load() != 15 {
		t.Fatalf("status %d after %d requests: %s", status, served.Load(), told.String())
	}
	for id, want := range map[string][]string{
		"series": {"1 of 3 runs are finished. About ", " left for the series", "Figures of each cell", "5 requests"},
		"stage":  {"Run 2 of 3, repetition 2", "1 in flight"}, "head": {"Series of runs, live"},
	} {
		for _, one := range want {
			if text, _ := parts[id].(string); !strings.Contains(text, one) {
				t.Errorf("%s has no %q: %s", id, one, text)
			}
		}
	}
	if resp, err := http.Get(printedAddress(told.String())); err == nil {
		resp.Body.Close()
		t.Error("the page outlives the series")
	}
	r.Runtime.Web = "127.0.0.1:99999"
	if status, _, said := carriedOut(t, r, false); status != 1 || !strings.Contains(said, "error: --web 127.0.0.1:99999") {
		t.Errorf("%d: %s", status, said)
	}
}

// TestSeriesPlace: the live view of a run says which run of its series it is, counting those of before; a single run says nothing.
func TestSeriesPlace(t *testing.T) {
	var single invocation
	if got := single.place.next(); got != "" {
		t.Errorf("a single run is %q", got)
	}
	i := invocation{}
	i.showSeries(3, false, nil)
	i.showReused("x")
	if got := i.place.next(); got != "run 2 of 3" {
		t.Error(got)
	}
	var search invocation
	search.showSeries(24, true, nil)
	if got := search.place.next(); got != "run 1, max 24" {
		t.Error(got)
	}
	capacity := invocation{}
	capacity.place.noun = "cell"
	capacity.showSeries(0, false, nil)
	if got := capacity.place.next(); got != "cell 1" {
		t.Error(got)
	}
}
