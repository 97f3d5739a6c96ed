package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestOutputs: outputs.json holds the text of every answer, reasoning before it, the warm-up apart, in the order of the sessions; it is for its
// owner alone and tells no secret. A failed request has no text.
func TestOutputs(t *testing.T) {
	n := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++ // requests come one after the other
		w.Header().Set("Content-Type", "application/json")
		if n == 4 {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		text := fmt.Sprintf("answer %d", n)
		if n == 5 {
			text = "the key is " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","reasoning_content":"hm ","content":%q},"finish_reason":"stop"}]}`, text)
	}))
	t.Cleanup(model.Close)
	dir := t.TempDir()
	b := whole(dir, model.URL, 3)
	b.Endpoint.Streaming, b.Endpoint.APIKey, b.Artifacts.OutputsJSON = false, "sk-0123456789", true
	b.Phases[0].Concurrency = ptr(1)
	warm := b.Phases[0]
	warm.Name, warm.Kind, warm.ExcludeFromResults, warm.Requests = "warmup", config.KindWarmup, true, ptr(2)
	b.Phases = []config.Phase{warm, b.Phases[0]}
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err != nil {
		t.Fatal(err, errs.String())
	}
	f, err := os.Open(filepath.Join(dir, "outputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	text, err := io.ReadAll(f)
	if err != nil || strings.Contains(string(text), "0123456789") {
		t.Errorf("%v: %s", err, text)
	}
	type entry struct {
		Session int64   `json:"session_num"`
		Text    *string `json:"response_text"`
		Kind    string  `json:"benchmark_phase"`
		ID      string  `json:"x_request_id"`
		Start   int64   `json:"request_start_ns"`
		End     int64   `json:"request_end_ns"`
		Metrics map[string]float64
	}
	var got struct {
		Version      string `json:"schema_version"`
		Data, Warmup []entry
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err, string(text))
	}
	var said []string
	for _, e := range append(got.Warmup, got.Data...) {
		text := "null"
		if e.Text != nil {
			text = *e.Text
		}
		said = append(said, fmt.Sprint(e.Kind, " ", e.Session, " ", text))
		if e.ID == "" || e.End <= e.Start || e.Text != nil && !(e.Metrics["request_latency"] > 0 && e.Metrics["output_sequence_length"] > 0) {
			t.Errorf("%+v", e)
		}
	}
	want := []string{"warmup 0 hm answer 1", "warmup 1 hm answer 2", "profiling 0 hm answer 3", "profiling 1 null", "profiling 2 hm the key is <redacted>"}
	if got.Version != "1.1" || strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", got.Version, strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if !strings.HasPrefix(string(text), "{\n  \"schema_version\": \"1.1\",\n  \"data\": [\n    {\n      \"session_num\": 0,\n") || !strings.HasSuffix(string(text), "\n    }\n  ]\n}") {
		t.Errorf("laid out as\n%s", text)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".aiperf-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v left behind, %v", left, err)
	}
}
