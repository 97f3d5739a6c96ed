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
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
)

// failing is a session that spawns one that fails and one of two turns with a wait between them, and waits for both.
const failing = `{"session_id":"root","turns":[{"messages":[{"role":"user","content":"r0"}],"spawns":["k","slow"]},{"messages":[{"role":"user","content":"r1"}]}]}
{"session_id":"k","turns":[{"messages":[{"role":"user","content":"bad"}]}]}
{"session_id":"slow","turns":[{"messages":[{"role":"user","content":"slow0"}]},{"messages":[{"role":"user","content":"slow1"}],"delay":700}]}
`

// TestGraphOnTheWire: branch_stats of the same file and server are those that the Python tool 0.13.0 wrote. With AIPERF_DAG_FAIL_FAST nothing of a
// graph is sent after its failure, the request under way is answered, and the next graph begins. (There the Python tool waits for ever.)
func TestGraphOnTheWire(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		env                              string
		requests                         []string // of one graph, sorted
		completed, errored, cut, resumed int64
		failed                           int64
	}{
		{"0", []string{"bad", "r0", "r1", "slow0", "slow1"}, 2, 2, 0, 2, 0},
		{"1", []string{"bad", "r0", "slow0"}, 0, 2, 2, 0, 2},
	} {
		var mu sync.Mutex
		var sent []string
		failed := make(chan struct{}, 2) // the failure of each graph went out
		server := httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Messages []struct{ Content string } }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			last := body.Messages[len(body.Messages)-1].Content
			mu.Lock()
			sent = append(sent, last)
			mu.Unlock()
			if last == "bad" {
				http.Error(w, "boom", http.StatusInternalServerError)
				_ = http.NewResponseController(w).Flush()
				failed <- struct{}{}
				return
			}
			if last == "slow0" {
				<-failed // under way meanwhile
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer)
		}))
		defer server.Close()
		file := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(file, []byte(failing), 0o600); err != nil {
			t.Fatal(err)
		}
		p := program(t, "--url", server.URL, "--model", "m", "--tokenizer", "builtin", "--input-file", file, "--custom-dataset-type", "dag_jsonl", "--num-conversations", "2",
			"--concurrency", "1")
		p.cmd.Env = append(p.cmd.Env, "AIPERF_DAG_FAIL_FAST="+c.env)
		if status := p.run(); status != 0 {
			t.Errorf("fail fast %s: status %d\n%s", c.env, status, p.stderr.String())
		}
		slices.Sort(sent)
		if want := slices.Sorted(slices.Values(append(slices.Clone(c.requests), c.requests...))); !slices.Equal(sent, want) {
			t.Errorf("fail fast %s: sent %q, want %q", c.env, sent, want)
		}
		var got map[string]int64
		p.summary().read(t, "branch_stats", &got)
		for key, want := range map[string]int64{
			"children_spawned": 4, "children_completed": c.completed, "children_errored": c.errored, "children_truncated": c.cut, "children_delayed": 0, "parents_suspended": 2,
			"parents_resumed": c.resumed, "parents_failed_due_to_child_error": c.failed, "joins_suppressed": 0, "graphs_admitted": 0, "graphs_completed_to_end": 0,
		} {
			if v, ok := got[key]; !ok || v != want {
				t.Errorf("fail fast %s: %s is %d (there: %v), want %d", c.env, key, v, ok, want)
			}
		}
	}
}
