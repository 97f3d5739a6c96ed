package run

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/wire/endpoint"
)

const (
	onePixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	oneSound = "data:audio/wav;base64,UklGRiYAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQIAAAAAAA=="
	sentence = "Name three rivers, and tell me which of them is the longest one."
)

// spoken is how a test speaks an endpoint type.
type spoken struct {
	name   string // of the way, where a type has several
	row    string // of the data; "" = a sentence
	extras string
	whole  bool // answers in one piece alone
	change func(*config.Benchmark)
}

// dynamicRow asks for a stream by dynamic_grpc.
const dynamicRow = `{"messages":[{"modelName":"m","inputs":[{"name":"text_input","datatype":"BYTES","shape":["1"],"contents":{"bytesContents":["aGk="]}},` +
	`{"name":"stream","datatype":"BOOL","shape":["1"],"contents":{"boolContents":[true]}}]}]}`

func dynamicMethod(b *config.Benchmark) {
	b.Endpoint.GRPCMethod, b.Dataset().Format = "inference.GRPCInferenceService/ModelStreamInfer", "raw_payload"
}

// text is a string in JSON.
func text(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always has a JSON form
	return raw
}

const rankedRow = `{"texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":["a","b"]}]}`

func overHTTPAlone(b *config.Benchmark) { b.Endpoint.Transport = "" }

// speech lists what a type needs in addition to a sentence.
var speech = map[string][]spoken{
	"image_edit":          {{row: `{"text":"make it blue","image":"` + onePixel + `"}`}},
	"image_retrieval":     {{row: `{"image":"` + onePixel + `"}`}},
	"audio_transcription": {{row: `{"audio":"` + oneSound + `"}`}},
	"nim_rankings":        {{row: rankedRow}},
	"cohere_rankings":     {{row: rankedRow}},
	"hf_tei_rankings":     {{row: rankedRow}},
	"template":            {{extras: `{"text": {{ text|tojson }}, "stream": {{ stream|tojson }}}`}},
	"raw":                 {{row: `{"messages":[{"role":"user","content":"hi"}],"text":"` + sentence + `","stream":true}`}},
	"video_generation":    {{change: func(b *config.Benchmark) { b.Endpoint.DownloadVideo = true }}},
	"dynamic_grpc": {{row: dynamicRow, change: dynamicMethod}, {name: " text", row: dynamicRow, change: func(b *config.Benchmark) {
		dynamicMethod(b)
		b.Endpoint.Extra.Set("response_field", text("infer_response.outputs[0].name && ' hello'")) // a token an event
	}}},
	"kserve_v2_rankings":   {{row: rankedRow}, {name: " http", row: rankedRow, change: overHTTPAlone}},
	"kserve_v2_vlm":        {{row: `{"text":"what is this?","image":"` + onePixel + `"}`}},
	"kserve_v2_embeddings": {{row: `{"texts":["one","two"]}`}, {name: " http", row: `{"texts":["one","two"]}`, change: overHTTPAlone}},
	"kserve_v2_images":     {{}, {name: " http", change: overHTTPAlone}},
	"kserve_v2_infer":      {{}, {name: " http", whole: true, change: overHTTPAlone}},
	"kserve": {
		{name: " version", change: func(b *config.Benchmark) { b.Endpoint.Extra.Set("model_version", json.RawMessage(`"3"`)) }},
		{name: " version http", whole: true, change: func(b *config.Benchmark) {
			b.Endpoint.Transport = ""
			b.Endpoint.Extra.Set("model_version", json.RawMessage(`"3"`))
		}},
		{}, {name: " unary", whole: true, change: func(b *config.Benchmark) { b.Endpoint.GRPCMethod = "ModelInfer" }},
		{name: " vllm", change: func(b *config.Benchmark) { b.Endpoint.Backend = "vllm" }},
		{name: " http", whole: true, change: func(b *config.Benchmark) { b.Endpoint.Transport = "" }},
		{name: " a connection each", change: func(b *config.Benchmark) { b.Endpoint.ConnectionReuse = config.ReuseNever }},
		{name: " sticky", change: func(b *config.Benchmark) { b.Endpoint.ConnectionReuse = config.ReuseSticky }},
	},
}

// TestEveryTypeAgainstItsServer runs every endpoint type over real sockets against the simulated server, streamed and not, and compares
// what the run says of each request with what the server wrote down.
func TestEveryTypeAgainstItsServer(t *testing.T) {
	for _, e := range endpoint.All() {
		if !e.Built() {
			continue
		}
		for _, streaming := range []bool{false, true} {
			if streaming && !e.Streams || !streaming && (e.MustStream || e.Name == "raw") { // the raw row asks for a stream
				continue
			}
			ways := speech[e.Name]
			if ways == nil {
				ways = []spoken{{}}
			}
			for _, s := range ways {
				if streaming && s.whole {
					continue
				}
				t.Run(fmt.Sprintf("%s%s/%v", e.Name, s.name, streaming), func(t *testing.T) {
					if e.Name != "chat" && e.Name != "completions" && e.Name != "embeddings" {
						testhome.Slow(t)
					}
					t.Parallel()
					against(t, e, streaming, s)
				})
			}
		}
	}
}

func against(t *testing.T, e *endpoint.Endpoint, streaming bool, s spoken) {
	dir := t.TempDir()
	log := filepath.Join(dir, "truth.jsonl")
	const tokens, requests = 6, 4
	b := whole(dir, fmt.Sprintf("mock://?ttft=4ms&itl=2ms&tokens=%d&truth-log=%s", tokens, url.QueryEscape(log)), requests)
	b.Endpoint.Type, b.Endpoint.Streaming = e.Name, streaming
	if s.row == "" {
		s.row = `{"text":"` + sentence + `"}`
	}
	rows := filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(rows, []byte(s.row+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	d.Type, d.Path, d.Entries = config.DatasetFile, rows, 0
	if s.extras != "" {
		b.Endpoint.Extra.Set("payload_template", text(s.extras))
	}
	if e.GRPC {
		b.Endpoint.Transport = "grpc"
	}
	if s.change != nil {
		s.change(b)
	}
	var told locked
	run, err := Run(t.Context(), b, nil, Options{Err: &told})
	if err != nil || run.Profiling.Valid != requests {
		t.Fatalf("%+v %v\n%s", run, err, told.String())
	}
	e = e.Given(b.Endpoint.Extra.Has)
	metricsOf(t, e, streaming, s.row, run)
	truth := readTruth(t, log)
	seen := 0
	for line := range jsonLines(t, filepath.Join(dir, "profile_export.jsonl")) {
		var rec exported
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		told, ok := truth[rec.Metadata.ID]
		if !ok {
			t.Fatalf("the server knows no request %s", rec.Metadata.ID)
		}
		seen++
		rec.compare(t, e, streaming, s.row, told)
	}
	if seen != requests {
		t.Errorf("%d records, not %d", seen, requests)
	}
}

// exported is a line of the records file, as far as the test looks at it.
type exported struct {
	Metadata struct {
		ID    string `json:"x_request_id"`
		Start int64  `json:"request_start_ns"`
	}
	Metrics map[string]struct{ Value json.RawMessage }
}

// value is a metric of a record; 0 = it is absent.
func (x *exported) value(t *testing.T, tag string) (v float64) {
	t.Helper()
	if m, ok := x.Metrics[tag]; ok {
		if err := json.Unmarshal(m.Value, &v); err != nil {
			t.Fatalf("%s: %v", tag, err)
		}
	}
	return v
}

// compare holds a record against what the server wrote down: the tokens, and the instants of the first and the last content, which cannot
// be earlier than the server's write. How much later they may be depends on the machine, so that bound is wide.
func (x *exported) compare(t *testing.T, e *endpoint.Endpoint, streaming bool, row string, truth []mockserver.Truth) {
	t.Helper()
	first := &truth[0]
	if e.ProducesTokens {
		if got := int(x.value(t, "output_sequence_length")); got != first.Tokens+first.Reasoning || got == 0 {
			t.Errorf("%d output tokens, the server wrote %d", got, first.Tokens)
		}
	}
	if e.TokenizesInput && readable(e, row) && x.value(t, "input_sequence_length") == 0 {
		t.Error("no input tokens")
	}
	var writes []mockserver.Write
	for _, w := range truth[len(truth)-1].Writes {
		if w.Events > 0 || len(truth) > 1 {
			writes = append(writes, w)
		}
	}
	if len(writes) == 0 {
		t.Fatalf("the server wrote nothing: %+v", truth)
	}
	at := func(tag string, w mockserver.Write) {
		t.Helper()
		instant := x.Metadata.Start + int64(x.value(t, tag)*1e6)
		const early, late = int64(time.Millisecond), int64(2 * time.Second)
		if instant < w.Before-early || instant > w.After+late {
			t.Errorf("%s ends %v before the server's write, and %v after it", tag, time.Duration(w.Before-instant), time.Duration(instant-w.After))
		}
	}
	at("request_latency", writes[len(writes)-1])
	if streaming && e.ProducesTokens {
		at("time_to_first_token", writes[0])
		if len(writes) > 1 {
			var gaps []float64
			if m, ok := x.Metrics["inter_chunk_latency"]; !ok || json.Unmarshal(m.Value, &gaps) != nil || len(gaps) != len(writes)-1 {
				t.Errorf("%d gaps between %d writes", len(gaps), len(writes))
			}
		}
	}
}

// readTruth reads the server's log by request: one line each, and those of the polls behind it.
func readTruth(t *testing.T, path string) map[string][]mockserver.Truth {
	t.Helper()
	all := map[string][]mockserver.Truth{}
	for line := range jsonLines(t, path) {
		var one mockserver.Truth
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one.Outcome != "ok" {
			t.Errorf("the server says %s", strings.TrimSpace(string(line)))
		}
		all[one.RequestID] = append(all[one.RequestID], one)
	}
	return all
}

// jsonLines are the lines of a file.
func jsonLines(t *testing.T, path string) func(func([]byte) bool) {
	t.Helper()
	return func(yield func([]byte) bool) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<24)
		for s.Scan() && yield(s.Bytes()) {
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
