package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// ollama is a server that answers as Ollama documents it (docs/api.md): a line of JSON for each of four tokens, and one with the token counts.
type ollama struct {
	first, gap time.Duration // until the first token, and between two
	eol        string        // between two lines
	cut        int           // bytes of each write; 0 = a line
	broken     int64         // request that fails after two tokens; 0 = none
	served     atomic.Int64
}

var ollamaWords = []string{"The", " sky", " is", " blue"}

// ServeHTTP implements http.Handler.
func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model    string
		Prompt   *string
		Messages []struct{ Role, Content string }
		Stream   *bool
		Options  struct {
			Num int `json:"num_predict"`
		}
		KeepAlive string `json:"keep_alive"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != http.MethodPost {
		http.Error(w, `{"error":"invalid request"}`, http.StatusBadRequest)
		return
	}
	number := o.served.Add(1)
	if asked.Options.Num != 4 || asked.KeepAlive != "5m" || asked.Model != "m" || (asked.Prompt == nil) != (r.URL.Path == "/api/chat") {
		http.Error(w, `{"error":"another body"}`, http.StatusBadRequest)
		return
	}
	words := func(text string) string {
		quoted, _ := json.Marshal(text) // a string always has a JSON form
		if r.URL.Path == "/api/chat" {
			return `"message":{"role":"assistant","content":` + string(quoted) + `}`
		}
		return `"response":` + string(quoted)
	}
	const head = `{"model":"m","created_at":"2026-01-01T00:00:00.123456Z",`
	const end = `,"done":true,"done_reason":"stop","total_duration":9,"load_duration":1,"prompt_eval_count":17,"prompt_eval_duration":2,"eval_count":5,"eval_duration":6}`
	time.Sleep(o.first)
	if asked.Stream != nil && !*asked.Stream {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, head+words(strings.Join(ollamaWords, ""))+end)
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), "application/x-ndjson") {
		http.Error(w, `{"error":"another Accept"}`, http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	for i, word := range ollamaWords {
		if i > 0 {
			time.Sleep(o.gap)
		}
		if number == o.broken && i == 2 {
			o.write(w, `{"error":"an error was encountered while running the model"}`+o.eol)
			return
		}
		o.write(w, head+words(word)+`,"done":false}`+o.eol)
	}
	o.write(w, head+words("")+end) // the last line without its end
}

// write sends a line in pieces.
func (o *ollama) write(w http.ResponseWriter, line string) {
	size := o.cut
	if size == 0 {
		size = len(line)
	}
	for from := 0; from < len(line); from += size {
		fmt.Fprint(w, line[from:min(from+size, len(line))])
		_ = http.NewResponseController(w).Flush()
	}
}

// TestOllama runs both APIs against a server of the documented wire format: streamed, whole, cut anywhere, with CRLF and blank lines, and failing.
func TestOllama(t *testing.T) {
	testhome.Slow(t)
	const first, gap, requests = 40 * time.Millisecond, 15 * time.Millisecond, 6
	for _, c := range []struct {
		name      string
		eol       string
		cut       int
		broken    int64
		streaming bool
		failed    int64
	}{
		{"a line each", "\n", 0, 0, true, 0},
		{"CRLF and blank lines", "\r\n\r\n \r\n", 0, 0, true, 0},
		{"cut every 7 bytes", "\n", 7, 0, true, 0},
		{"cut every byte", "\r\n", 1, 0, true, 0},
		{"an error in the stream", "\n", 0, 3, true, 1},
		{"whole", "", 0, 0, false, 0},
	} {
		for _, kind := range []string{"ollama_chat", "ollama_generate"} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				o := &ollama{first: first, gap: gap, eol: c.eol, cut: c.cut, broken: c.broken}
				server := httptest.NewServer(o)
				t.Cleanup(server.Close)
				dir := t.TempDir()
				b := whole(dir, server.URL, requests)
				b.Endpoint.Type, b.Endpoint.Streaming, b.Endpoint.UseServerTokenCount, b.Artifacts.Raw = kind, c.streaming, true, true
				b.Endpoint.Extra.Set("keep_alive", text("5m"))
				b.Dataset().Prompts.OSL = config.Normal(4, 0)
				var told locked
				run, err := Run(t.Context(), b, nil, Options{Err: &told})
				if err != nil || run.Profiling.Valid != requests-c.failed || run.Profiling.Failed != c.failed {
					t.Fatalf("%v\n%s", err, told.String())
				}
				for tag, want := range map[string]float64{"output_sequence_length": 5, "input_sequence_length": 17, "usage_prompt_tokens": 17, "usage_completion_tokens": 5} {
					if got := run.Profiling.Value(tag, metric.Avg); got != want {
						t.Errorf("%s %v, the server said %v", tag, got, want)
					}
				}
				ollamaRecords(t, dir, c.streaming, first, gap)
				if c.failed > 0 && (lines(t, filepath.Join(dir, "profile_export.jsonl"), `"type":"StreamResponseError"`) != 1 ||
					lines(t, filepath.Join(dir, "profile_export.jsonl"), "an error was encountered while running the model") != 1) {
					t.Error("the records lack the server's error")
				}
				if n := lines(t, filepath.Join(dir, "profile_export_raw.jsonl"), `{"name":"data","value":"{\"model\":\"m\"`); c.streaming && n != requests {
					t.Errorf("%d lines of the raw export hold the documents, not %d", n, requests)
				}
			})
		}
	}
}

// ollamaRecords looks at the latencies of the records of a run that did not fail.
func ollamaRecords(t *testing.T, dir string, streaming bool, first, gap time.Duration) {
	t.Helper()
	for line := range jsonLines(t, filepath.Join(dir, "profile_export.jsonl")) {
		if strings.Contains(string(line), `"type":"StreamResponseError"`) {
			continue
		}
		var rec exported
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
		const late = 2000 // ms: how much later an instant may be depends on the machine
		ttft, latency := rec.value(t, "time_to_first_token"), rec.value(t, "request_latency")
		if !streaming {
			if ttft != 0 || latency < ms(first) || latency > ms(first)+late {
				t.Errorf("TTFT %v ms of an answer in one piece, latency %v ms", ttft, latency)
			}
			continue
		}
		whole := ms(first) + 3*ms(gap)
		if ttft < ms(first) || ttft > ms(first)+late || latency < whole || latency > whole+late {
			t.Errorf("TTFT %v ms, latency %v ms; the server took %v and %v ms", ttft, latency, ms(first), whole)
		}
		// ITL divides by the server's count of 5 tokens, less one; the gaps are those between the four lines with text.
		if itl := rec.value(t, "inter_token_latency"); itl < (latency-ttft)/4-0.01 || itl > (latency-ttft)/4+0.01 {
			t.Errorf("ITL %v ms between %v and %v ms", itl, ttft, latency)
		}
		var gaps []float64
		if err := json.Unmarshal(rec.Metrics["inter_chunk_latency"].Value, &gaps); err != nil || len(gaps) != 3 {
			t.Errorf("gaps %v %v, want three", gaps, err)
		}
	}
}
