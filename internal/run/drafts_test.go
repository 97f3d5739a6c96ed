package run

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/console"
)

// TestDrafts: the figures of a server that guesses tokens ahead are those that follow from its counts, in the summary, the records and the
// console.
func TestDrafts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n"+
			`data: {"object":"chat.completion.chunk","choices":[],"metrics":{"speculative_decoding":{"acceptance_histogram":[2,1,3],"num_spec_steps":6,`+
			`"num_accepted_draft_tokens":7,"num_draft_tokens":12,"num_spec_tokens":2}}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	dir := t.TempDir()
	run, err := Run(t.Context(), whole(dir, server.URL, 3), nil, Options{Err: &locked{}})
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]float64{
		"spec_decode_acceptance_length": 1 + 7.0/6, "spec_decode_token_weighted_acceptance_length": 1 + 7.0/6, "spec_decode_draft_acceptance_rate": 700.0 / 12,
		"spec_decode_overall_draft_acceptance_rate": 700.0 / 12, "spec_decode_accepted_per_verified": 13.0 / 18, "spec_decode_steps": 6,
		"total_spec_decode_steps": 18, "total_accepted_draft_tokens": 21, "total_draft_tokens": 36,
	} {
		if got := run.Profiling.Value(tag, metric.Avg); got < want-1e-9 || got > want+1e-9 || got != got {
			t.Errorf("%s: %v, want %v", tag, got, want)
		}
	}
	for file, want := range map[string]string{
		"profile_export_aiperf.json": `"pooled_spec_decode_acceptance_histogram": {
    "0": 6,
    "1": 3,
    "2": 9
  }`,
		"profile_export.jsonl": `"spec_decode_acceptance":{"engine":"vllm","mean_acceptance_length":2.166666666666667,"draft_acceptance_rate":0.5833333333333334,"acceptance_histogram":{"0":2,"1":1,"2":3},`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s %v: no %s", file, err, want)
		}
	}
	console := string(console.Text(run, 140, nil))
	for _, want := range []string{"LLM Metrics: Spec Decode", "Accepted drafts per step (% of steps):  0: 33%   1: 17%   2: 50%"} {
		if !strings.Contains(console, want) {
			t.Errorf("the console has no %q", want)
		}
	}
}
