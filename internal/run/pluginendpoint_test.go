package run

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/rereport"
)

// usePlugins makes the plug-ins of a directory known.
func usePlugins(t *testing.T, dir string) {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(plugin.PathVariable, abs)
}

// examplePlugins are the declarative endpoints of the documentation.
const examplePlugins = "../../docs/howto/examples/endpoints"

// typeRun runs with an endpoint type, two turns a session, and returns the run, its directory and what it said.
func typeRun(t *testing.T, url, kind string, streaming bool) (run *metric.Run, dir, said string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a")
	b := whole(dir, url, 12)
	b.Endpoint.Type, b.Endpoint.Streaming, b.Artifacts.Raw = kind, streaming, true
	b.Phases[0].Concurrency = ptr(1) // the simulated server answers in the order of the requests
	b.Endpoint.Extra.Set("temperature", json.RawMessage("0.5"))
	if strings.Contains(kind, "ollama") || kind == "chat" || kind == "talk" {
		b.Dataset().Turns = config.Normal(2, 0)
	}
	b.Dataset().Prompts.OSL = config.Normal(6, 0)
	all := config.Default()
	all.Benchmark = *b
	input, err := all.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	seed := config.Seed("7")
	var out bytes.Buffer
	run, err = Run(t.Context(), b, &seed, Options{Err: &out, InputConfig: input})
	return run, dir, out.String(), err
}

// requestFacts are what the records of a run say about tokens and bodies, sorted: nothing in it depends on time.
func requestFacts(t *testing.T, dir string) (facts []string) {
	t.Helper()
	texts := textsOf(t, dir, "profile_export.jsonl", "profile_export_raw.jsonl")
	for _, line := range strings.Split(strings.TrimSpace(texts["profile_export.jsonl"]), "\n") {
		var one struct {
			Metadata struct {
				Turn int `json:"turn_index"`
			}
			Metrics map[string]struct{ Value any }
			Error   any
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		fact := map[string]any{"turn": one.Metadata.Turn, "error": one.Error}
		for tag, m := range one.Metrics {
			if strings.Contains(tag, "sequence_length") || strings.Contains(tag, "token_count") || strings.HasPrefix(tag, "usage_") {
				fact[tag] = m.Value
			}
		}
		if one.Metrics["time_to_first_token"].Value == nil && one.Error == nil && strings.Contains(line, `"inter_token_latency"`) {
			t.Errorf("no TTFT in %s", line)
		}
		text, err := json.Marshal(fact)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, string(text))
	}
	for _, line := range strings.Split(strings.TrimSpace(texts["profile_export_raw.jsonl"]), "\n") {
		var one struct{ Payload any }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(one.Payload)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, string(text))
	}
	slices.Sort(facts)
	return facts
}

// TestEndpointPlugins: endpoint types of plug-ins, by a manifest or by a program, give the requests and the tokens of the built-in types of the same
// APIs: with streams and without, over several turns, and in a report of the raw export.
func TestEndpointPlugins(t *testing.T) {
	for _, c := range []struct{ builtIn, plugIn, places string }{
		{"chat", "talk", "testdata/endpoints"}, {"ollama_chat", "my_ollama", examplePlugins},
		{"huggingface_generate", "my_tgi", examplePlugins}, {"generate", "my_triton", examplePlugins},
	} {
		for _, streaming := range []bool{true, false} {
			if !streaming && c.builtIn == "generate" {
				continue // the simulated server answers both ways alike
			}
			if testhome.Fast() && (c.builtIn != "chat" || !streaming) {
				continue // each case starts two programs of Python
			}
			usePlugins(t, t.TempDir())
			_, dir, said, err := typeRun(t, "mock://?ttft=0&itl=0", c.builtIn, streaming)
			if err != nil {
				t.Fatal(err, said)
			}
			want := requestFacts(t, dir)
			usePlugins(t, c.places)
			run, dir, said, err := typeRun(t, "mock://?ttft=0&itl=0", c.plugIn, streaming)
			if err != nil {
				t.Fatal(err, said)
			}
			if got := requestFacts(t, dir); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, streaming %v:\n%s\nbut %s has\n%s", c.plugIn, streaming, strings.Join(got, "\n"), c.builtIn, strings.Join(want, "\n"))
			}
			if run.Profiling.Valid != 12 {
				t.Errorf("%s: %d valid requests", c.plugIn, run.Profiling.Valid)
			}
			found, err := rereport.Find(dir)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "report")
			if _, err := rereport.Report(t.Context(), rereport.Options{Input: found[0], Dir: out, Info: func(string, ...any) {}}); err != nil {
				t.Fatal(err)
			}
			if a, b := textsOf(t, dir, "profile_export.jsonl"), textsOf(t, out, "profile_export.jsonl"); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: the report differs:\n%s\n%s", c.plugIn, a, b)
			}
		}
	}
}

// TestEndpointPluginFaults: a program that fails costs the requests that need it an error with its name; one that cannot start ends the run before the
// first request.
func TestEndpointPluginFaults(t *testing.T) {
	testhome.Slow(t)
	usePlugins(t, "testdata/endpoints")
	for kind, want := range map[string]string{
		"dies":     `plug-in endpoint:dies: format: the program ended unexpectedly (exit status 1); its last line on standard error: "out of paper"`,
		"short":    "plug-in endpoint:short: parse: the result has ",
		"bodiless": "plug-in endpoint:bodiless: format: the result has no body",
		"silent":   "plug-in endpoint:silent: parse: no answer to parse within ",
		"absent":   "plug-in endpoint:absent: start: ",
	} {
		run, _, said, err := typeRun(t, "mock://?ttft=0&itl=0", kind, true)
		text := said
		if err != nil {
			text += err.Error()
		}
		if run != nil {
			for _, group := range run.Profiling.Errors {
				text += "\n" + group.Error.Message
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %v %s, want %s", kind, err, text, want)
		}
		if kind == "absent" && run != nil {
			t.Errorf("%s: there is a run", kind)
		}
	}
	if _, _, _, err := typeRun(t, "mock://", "incomplete", true); err == nil || !strings.Contains(err.Error(), "plugins.yaml:") || !strings.Contains(err.Error(), "metadata lacks supports_streaming, produces_tokens, tokenizes_input, metrics_title") {
		t.Errorf("incomplete metadata: %v", err)
	}
}

// TestJobEndpoint: a manifest describes jobs that are created and polled. The server counts the polls.
func TestJobEndpoint(t *testing.T) {
	usePlugins(t, examplePlugins)
	var created, polls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		get := "http://" + r.Host + "/v1/predictions/x" + r.Header.Get("X-Job")
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/v1/predictions":
			body, _ := io.ReadAll(r.Body)
			if created.Add(1); !bytes.Contains(body, []byte(`"input":{"prompt":`)) {
				t.Errorf("body %s", body)
			}
			_, _ = io.WriteString(w, `{"id":"x","status":"starting","urls":{"get":"`+get+`"}}`)
		case polls.Add(1)%2 == 1:
			_, _ = io.WriteString(w, `{"id":"x","status":"processing","urls":{"get":"`+get+`"}}`)
		default:
			_, _ = io.WriteString(w, `{"id":"x","status":"succeeded","output":["one"," two"],"metrics":{"input_token_count":20,"output_token_count":2}}`)
		}
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "a")
	b := whole(dir, server.URL, 3)
	b.Endpoint.Type, b.Endpoint.Streaming = "replicate", false
	b.Phases[0].Concurrency = ptr(1)
	run, err := Run(t.Context(), b, nil, Options{Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if run.Profiling.Valid != 3 || created.Load() != 3 || polls.Load() != 6 {
		t.Errorf("%d valid, %d created, %d polls", run.Profiling.Valid, created.Load(), polls.Load())
	}
	text := textsOf(t, dir, "profile_export.jsonl")["profile_export.jsonl"]
	if strings.Count(text, `"output_sequence_length":{"value":2,`) != 3 {
		t.Errorf("records %s", text)
	}
}
