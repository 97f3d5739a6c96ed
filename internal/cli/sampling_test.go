package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/series/plan"
)

// fiveEntries are five requests as every format says them: each is known by the word L10 to L14 in it, or by that many tokens asked for. {n} is the
// number, {k} that of a later turn. A name that ends in / is a folder of a file an entry.
var fiveEntries = []struct{ format, name, head, row string }{
	{"single_turn", "in.jsonl", "", `{"text":"L{n}"}`},
	{"multi_turn", "in.jsonl", "", `{"session_id":"s{n}","turns":[{"text":"L{n}"},{"text":"L{k}"}]}`},
	{"random_pool", "in.jsonl", "", `{"text":"L{n}"}`},
	{"mooncake_trace", "in.jsonl", "", `{"timestamp":{n},"text_input":"L{n}","output_length":{n}}`},
	{"bailian_trace", "in.jsonl", "", `{"chat_id":{n},"parent_chat_id":-1,"timestamp":{n},"input_length":20,"output_length":{n},"type":"text","turn":1,"hash_ids":[{n},1{n}]}`},
	{"burst_gpt_trace", "in.csv", "Timestamp,Model,Request tokens,Response tokens\n", `{n},m,20,{n}`},
	{"sagemaker_data_capture", "in.jsonl", "", `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"L{n}\"}],\"max_tokens\":16}","encoding":"JSON"}},` +
		`"eventMetadata":{"eventId":"e{n}","inferenceTime":"2025-03-01T10:00:{n}Z"}}`},
	{"raw_payload", "in.jsonl", "", `{"model":"m","messages":[{"role":"user","content":"L{n}"}]}`},
	{"inputs_json", "in.json", "", `{"session_id":"s{n}","payloads":[{"model":"m","messages":[{"role":"user","content":"L{n}"}]}]}`},
	{"dag_jsonl", "in.jsonl", "", `{"session_id":"s{n}","turns":[{"messages":[{"role":"user","content":"L{n}"}]}]}`},
	{"speed_bench_qualitative", "qualitative.jsonl", "", `{"question_id":"000000000000000000000000000000{n}","category":"coding","messages":[{"role":"user","content":"L{n}"}]}`},
	{"weka_trace", "in/", "", `{"id":"t{n}","models":["m"],"block_size":64,"hash_id_scope":"local","tool_tokens":0,"system_tokens":0,"requests":[{"t":0,"type":"n","model":"m","in":128,"out":{n},` +
		`"hash_ids":[1,2],"input_types":["text"],"output_types":["text"],"stop":"end_turn","api_time":0.1,"think_time":0}]}`},
	{"tracelab", "in.jsonl", "", `{"session_id":"s{n}","round_index":0,"input_tokens_total":128,"prefix_tokens":0,"newly_append_tokens":128,"output_tokens":{n},"reasoning_output_tokens":0,"model":"m",` +
		`"provider":"claude","user":"u","project":"p","timing_events":[{"event_type":"user_message","timestamp":"2026-01-01T00:00:00Z"},{"event_type":"text","timestamp":"2026-01-01T00:00:01Z"}],` +
		`"tools":[],"first_input_event_type":"user_message"}`},
	{"baseten_trace", "testdata/sampling/baseten.parquet", "", ""},
}

// writeEntries makes a file of fiveEntries.
func writeEntries(t *testing.T, name, head, row string) (path string) {
	t.Helper()
	if row == "" {
		return name
	}
	path = filepath.Join(t.TempDir(), name)
	var all []string
	for n := 10; n < 15; n++ {
		text := strings.NewReplacer("{n}", fmt.Sprint(n), "{k}", fmt.Sprint(n+50)).Replace(row)
		all = append(all, text)
		if strings.HasSuffix(name, "/") {
			put(t, filepath.Join(path, fmt.Sprintf("t%d.json", n)), text)
		}
	}
	switch {
	case strings.HasSuffix(name, "/"):
	case strings.HasSuffix(name, ".json"):
		put(t, path, `{"data":[`+strings.Join(all, ",")+"]}")
	default:
		put(t, path, head+strings.Join(all, "\n")+"\n")
	}
	return path
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSamplingOfFormats: 13 requests for five entries leave in the order in which the Python tool 0.13.0 sent them with the same seed, for every
// format: sequential begins again, shuffle shuffles anew when all were sent, random repeats. Conversations stay whole; the draws of a pool come first.
func TestSamplingOfFormats(t *testing.T) {
	testhome.Slow(t)
	orders := map[string]string{
		"sequential": "10 11 12 13 14 10 11 12 13 14 10 11 12", "": "10 11 12 13 14 10 11 12 13 14 10 11 12",
		"random": "14 13 14 10 11 14 13 14 14 13 12 10 14", "shuffle": "12 13 11 14 10 11 13 14 10 12 13 14 12",
	}
	recorded := map[string]string{ // of formats whose entries are others
		"multi_turn sequential": "10 60 11 61 12 62 13 63 14 64 10 60 11", "multi_turn ": "10 60 11 61 12 62 13 63 14 64 10 60 11",
		"multi_turn random": "14 64 13 63 14 64 10 60 11 61 14 64 13", "multi_turn shuffle": "12 62 13 63 11 61 14 64 10 60 11 61 13",
		"random_pool sequential": "10 11 13 11 13 11 11 10 14 12 10 10 11", "random_pool ": "10 11 13 11 13 11 11 10 14 12 10 10 11",
		"random_pool random": "12 11 14 11 11 14 11 12 12 11 13 11 14", "random_pool shuffle": "11 11 13 13 11 10 11 10 11 10 14 12 10",
	}
	word := regexp.MustCompile(`L(\d\d)`)
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		var body struct {
			Messages json.RawMessage
			Tokens   int `json:"max_completion_tokens"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		entry := fmt.Sprint(body.Tokens)
		if words := word.FindAllStringSubmatch(string(body.Messages), -1); words != nil {
			entry = words[len(words)-1][1]
		}
		mu.Lock()
		seen = append(seen, entry)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"ok"}}]}`)
	}))
	defer server.Close()
	for i, f := range fiveEntries {
		path := writeEntries(t, f.name, f.head, f.row)
		for strategy, want := range orders {
			if other := recorded[f.format+" "+strategy]; other != "" {
				want = other
			}
			if strategy == "sequential" && i > 2 { // it is what they do unasked
				continue
			}
			mu.Lock()
			seen = nil
			mu.Unlock()
			args := []string{"profile", "-m", "m", "--url", server.URL, "--endpoint-type", "chat", "--input-file", path, "--custom-dataset-type", f.format, "--tokenizer", "builtin",
				"--random-seed", "7", "--concurrency", "1", "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics", "--artifact-dir", t.TempDir(), "--request-count", "13"}
			if strategy != "" {
				args = append(args, "--dataset-sampling-strategy", strategy)
			}
			if strings.Contains(f.format, "trace") || strings.HasPrefix(f.format, "sage") {
				args = append(args, "--no-fixed-schedule")
			}
			var out, errs strings.Builder
			p := &Program{Streams: Streams{Out: &out, Err: &errs}, Profile: func(ctx context.Context, run *config.Run, s Streams) int {
				return plan.Profile(ctx, run, plan.Streams{Out: s.Out, Err: s.Err})
			}}
			if status := Main(t.Context(), p, args); status != 0 {
				t.Errorf("%s %s: %d\n%s", f.format, strategy, status, errs.String())
				continue
			}
			if got := strings.Join(seen, " "); got != want {
				t.Errorf("%s %q: %s, want %s", f.format, strategy, got, want)
			}
		}
	}
}

// TestSearchedConcurrency: a search over the number of sessions gives no advice on how to set it.
func TestSearchedConcurrency(t *testing.T) {
	const line = "profile -m m --url http://127.0.0.1:1 --tokenizer builtin --dry-run --search-metric request_throughput --search-direction maximize --search-max-iterations 9 --search-space "
	for space, want := range map[string]bool{"concurrency:1,8:int": false, "isl:10,80:int": true} {
		status, _, errs := say(t, nil, line+space)
		if status != 0 || strings.Contains(errs, "one session at a time") != want {
			t.Errorf("%s: %d\n%s", space, status, errs)
		}
	}
}
