//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// forked is a session that spawns two and continues when both have ended; its next turn ends it with two forks.
const forked = `{"session_id":"r","turns":[{"messages":[{"role":"user","content":"r0"}],"spawns":["a","b"]},{"messages":[{"role":"user","content":"r1"}],"forks":["c","d"]}]}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"a0"}]},{"messages":[{"role":"user","content":"a1"}],"delay":30}]}
{"session_id":"b","turns":[{"messages":[{"role":"user","content":"b0"}]}]}
{"session_id":"c","turns":[{"messages":[{"role":"user","content":"c0"}]},{"messages":[{"role":"user","content":"c1"}]}]}
{"session_id":"d","turns":[{"messages":[{"role":"user","content":"d0"}]}]}
`

// TestForkAndJoin: what is spawned begins empty and its parent's next turn waits for all of it; what is forked begins with its parent's history,
// answers included, and is sent together with its siblings. Bodies and order are those of the Python tool 0.13.0 on the same file.
func TestForkAndJoin(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var events, bodies []string // "+x": a request that ends with x is there; "-x": its answer goes out
	together := map[string]chan struct{}{"a0": make(chan struct{}), "b0": make(chan struct{}), "c0": make(chan struct{}), "d0": make(chan struct{})}
	sibling := map[string]string{"a0": "b0", "b0": "a0", "c0": "d0", "d0": "c0"}
	server := httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		var said []string
		for _, m := range body.Messages {
			said = append(said, m.Content)
		}
		last := said[len(said)-1]
		mu.Lock()
		events, bodies = append(events, "+"+last), append(bodies, strings.Join(said, " "))
		mu.Unlock()
		if here := together[last]; here != nil { // siblings are under way at once: none is answered before the other is there
			close(here)
			<-together[sibling[last]]
		}
		mu.Lock()
		events = append(events, "-"+last)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"of-`+last+`"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(file, []byte(forked), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program(t, "--url", server.URL, "--model", "m", "--tokenizer", "builtin", "--input-file", file, "--num-conversations", "1", "--concurrency", "1")
	if status := p.run(); status != 0 {
		t.Fatalf("status %d\n%s", status, p.stderr.String())
	}
	slices.Sort(bodies)
	if want := []string{
		"a0", "a0 of-a0 a1", "b0", "r0", "r0 of-r0 r1", "r0 of-r0 r1 of-r1 c0", "r0 of-r0 r1 of-r1 c0 of-c0 c1", "r0 of-r0 r1 of-r1 d0",
	}; !slices.Equal(bodies, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(bodies, "\n"), strings.Join(want, "\n"))
	}
	for _, order := range [][2]string{{"-r0", "+a0"}, {"-r0", "+b0"}, {"-a0", "+a1"}, {"-a1", "+r1"}, {"-b0", "+r1"}, {"-r1", "+c0"}, {"-r1", "+d0"}, {"-c0", "+c1"}} {
		if before, after := slices.Index(events, order[0]), slices.Index(events, order[1]); before < 0 || after < before {
			t.Errorf("%s is not before %s: %v", order[0], order[1], events)
		}
	}
}
