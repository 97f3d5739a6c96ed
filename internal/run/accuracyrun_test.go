package run

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/run/rereport"
)

// quiz writes a copy of MMLU's repository with two subjects of four questions each; the right answers of anatomy are B, B, A, C, those of
// virology all B.
func quiz(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for subject, right := range map[string]string{"anatomy": "BBAC", "virology": "BBBB"} {
		var rows strings.Builder
		for i, letter := range right {
			row, err := json.Marshal(map[string]any{"question": subject + string(rune('0'+i)), "choices": []string{"w", "x", "y", "z"}, "answer": letter - 'A'})
			if err != nil {
				t.Fatal(err)
			}
			rows.Write(append(row, '\n'))
		}
		if err := os.MkdirAll(filepath.Join(dir, subject), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, subject, "test-00000-of-00001.jsonl"), []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAccuracyRun: a server that answers B, and fails on one question, has the score of the right answers, in addition to the figures of the
// same requests; the warm-up is not graded, and shifts nothing. The report of the run grades again, by another grader if asked to.
func TestAccuracyRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(body), "virology3") {
			http.Error(w, `{"error":"no"}`, http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" B\"}}]}\n\n"+
			"data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"!\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "a")
	b := whole(dir, server.URL, 1)
	b.Artifacts.Raw = true
	none := 0
	b.Accuracy = &config.Accuracy{Benchmark: "mmlu", Tasks: []string{"anatomy", "virology"}, NShots: &none, DatasetPath: quiz(t)}
	b.Phases[0].Requests = nil
	warm := config.Phase{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Concurrency: ptr(1), Requests: ptr(3), ExcludeFromResults: true}
	b.Phases = append([]config.Phase{warm}, b.Phases...)
	all := config.Default()
	all.Benchmark = *b
	input, err := all.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Run(t.Context(), b, nil, Options{Err: io.Discard, InputConfig: input})
	if err != nil {
		t.Fatal(err)
	}
	if run.Profiling.Valid != 7 || run.Profiling.Failed != 1 {
		t.Errorf("%d valid, %d failed requests, want 7 and 1: as many as there are problems", run.Profiling.Valid, run.Profiling.Failed)
	}
	checkScores(t, dir, [][]string{{"OVERALL", "5", "8", "8", "0.6250"}, {"anatomy", "2", "4", "4", "0.5000"}, {"virology", "3", "4", "4", "0.7500"}})
	again := filepath.Join(t.TempDir(), "report")
	found, err := rereport.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rereport.Report(t.Context(), rereport.Options{Input: found[0], Dir: again, Grader: "exact_match", Info: t.Logf}); err != nil {
		t.Fatal(err)
	}
	checkScores(t, again, [][]string{{"OVERALL", "0", "8", "1", "0.0000"}, {"anatomy", "0", "4", "0", "0.0000"}, {"virology", "0", "4", "1", "0.0000"}})
}

// checkScores compares the files of scores of a run.
func checkScores(t *testing.T, dir string, want [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "accuracy_results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range want {
		if i+1 >= len(rows) || strings.Join(rows[i+1], " ") != strings.Join(row, " ") {
			t.Errorf("scores %q, want %q", rows, want)
			break
		}
	}
	lines, err := os.ReadFile(filepath.Join(dir, "accuracy_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(lines)), "\n") {
		var one struct {
			ID       string `json:"conversation_id"`
			Phase    string `json:"benchmark_phase"`
			Expected string
			Passed   bool
			Output   string `json:"model_output"`
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if asked[one.ID] = true; one.Phase != "profiling" || one.Expected != map[string]string{"session_000002": "A", "session_000003": "C"}[one.ID] && one.Expected != "B" {
			t.Errorf("%s", line)
		}
	}
	if len(asked) != 8 {
		t.Errorf("%d problems were graded, want 8", len(asked))
	}
	var summary map[string]json.RawMessage
	text, err = os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err == nil {
		err = json.Unmarshal(text, &summary)
	}
	if err != nil || summary["request_latency"] == nil || summary["accuracy.task.virology"] == nil || summary["accuracy.unparsed"] == nil {
		t.Errorf("the summary lacks figures: %v", err)
	}
}
