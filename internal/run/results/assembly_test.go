package results

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/wire/endpoint"
)

// seen counts the rows that an observer gets.
type seen struct{ rows int }

func (s *seen) Observe(*metric.Row) { s.rows++ }

// chatRun are the options of an assembly of chat requests with the built-in tokenizer.
func chatRun(t *testing.T, dir string) Options {
	t.Helper()
	b := &config.Default().Benchmark
	b.Models.Items, b.Tokenizer.Name = []config.Model{{Name: "m"}, {Name: "n"}}, "builtin"
	b.Artifacts.Raw = true
	one, slice := 4, config.Seconds(1)
	b.Phases[0].Concurrency, b.Artifacts.SliceDuration = &one, &slice
	b.SLOs = config.SLOs{{Tag: "request_latency", Threshold: 50}, {Tag: "output_token_count", Threshold: 1}}
	e, _, err := endpoint.Lookup("chat")
	if err != nil {
		t.Fatal(err)
	}
	codec, err := e.Codec(endpoint.Settings{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := metric.NewSelection(MetricOptions(b, e))
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Config: b, Endpoint: e, Codec: codec, Metrics: set, Layout: artifact.NewLayout(dir, ""), BenchmarkID: "id", Raw: true,
		Phases: []Phase{{Name: "warm", Profiling: -1, Warmup: true}, {Name: "one", Index: 1}, {Name: "two", Index: 2, Profiling: 1}},
		Tokenizers: func() (*Tokenizers, error) {
			return OpenTokenizers(t.Context(), b, slog.New(slog.DiscardHandler), nil, nil)
		},
	}
}

// request is a finished request of a phase, of 40 ms and two tokens; 40 ms more for every turn.
func request(phase Phase, turn int) *record.Record {
	const ms = 1_000_000
	start := int64(1e9) + int64(phase.Index)*500*ms
	end := start + int64(40+40*turn)*ms
	return &record.Record{
		Meta: record.Meta{
			PhaseName: phase.Name, PhaseIndex: phase.Index, ProfilingIndex: phase.Profiling, Warmup: phase.Warmup, TurnIndex: turn, Model: "m",
		},
		WallOffset: 1e18, Status: 200, Start: start, End: end, Payload: record.Plain([]byte(`{"messages":[{"role":"user","content":"one two three"}],"model":"m"}`)),
		Messages: []record.Message{{At: end, Body: true, Raw: []byte(`{"object":"chat.completion","choices":[{"message":{"content":"four five"}}]}`)}},
	}
}

// TestRequestsBecomeResults: every request is counted, observed, reduced by phase, and written.
func TestRequestsBecomeResults(t *testing.T) {
	dir := t.TempDir()
	o, watcher := chatRun(t, dir), &seen{}
	o.Observers = []pipeline.Observer{watcher}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Phases {
		a.Feed(request(p, 0))
		a.Put(request(p, 1))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if largest, spilled := a.Backlog(); largest > 6 || spilled != 0 || watcher.rows == 0 || !a.WarmedUp() || a.TemplateFailures() != 0 {
		t.Errorf("%d waited, %d spilled, %d rows seen", largest, spilled, watcher.rows)
	}
	out := Outcome{Version: "v", Phases: o.Phases, NetworkRTT: 1e6, Window: metric.Window{From: 1e18 + 1e9, To: 1e18 + 3e9}}
	run := a.Run(out)
	value := func(tag string) float64 { return run.Profiling.Value(tag, metric.Avg) }
	if run.Profiling.Valid != 4 || run.Warmup == nil || run.Warmup.Valid != 2 || run.BenchmarkID != "id" || len(run.Slices) == 0 || run.Start.UnixNano() != 1e18+1e9 {
		t.Errorf("%+v", run)
	}
	if value("output_sequence_length") != 2 || value("input_sequence_length") != 3 || value("request_latency") != 60 || value("good_request_count") != 2 {
		t.Errorf("tokens %v out, %v in, latency %v, %v good", value("output_sequence_length"), value("input_sequence_length"), value("request_latency"), value("good_request_count"))
	}
	if err := a.Write(run, out); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string]int{"profile_export.jsonl": 4, "profile_export_raw.jsonl": 6} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if n := strings.Count(string(text), "\n"); err != nil || n < lines {
			t.Errorf("%s has %d lines, %v", name, n, err)
		}
	}
	phases := 0
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if strings.Contains(path, "two") || strings.Contains(path, "one") || strings.Contains(path, "warm") {
			phases++
		}
		return nil
	})
	if phases < 3 {
		t.Errorf("%d files of phases", phases)
	}
}

// TestAssemblyRefuses: an unavailable tokenizer and an impossible folder are reported at once.
func TestAssemblyRefuses(t *testing.T) {
	o := chatRun(t, t.TempDir())
	o.Tokenizers = func() (*Tokenizers, error) { return nil, errors.New("no tokenizer") }
	if _, err := New(o); err == nil || err.Error() != "no tokenizer" {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(chatRun(t, filepath.Join(file, "here"))); err == nil {
		t.Error("files grow below a file")
	}
}

// TestServerCounts: where the server counts no tokenizer is opened.
func TestServerCounts(t *testing.T) {
	o := chatRun(t, t.TempDir())
	o.Config.Endpoint.UseServerTokenCount = true
	o.Tokenizers = func() (*Tokenizers, error) { return nil, errors.New("opened") }
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil || a.WarmedUp() {
		t.Errorf("%v, warmed up %v", err, a.WarmedUp())
	}
}

// TestTokenizers: one tokenizer for all models if the settings name it, otherwise one for each model, each opened once; one that cannot be opened gives an error.
func TestTokenizers(t *testing.T) {
	b := chatRun(t, t.TempDir()).Config
	open := func() (*Tokenizers, error) {
		return OpenTokenizers(t.Context(), b, slog.New(slog.DiscardHandler), nil, nil)
	}
	all, err := open()
	if err != nil || len(all.All()) != 1 || all.Of("n") != all.First() || all.Of("other") != all.First() {
		t.Fatalf("%+v %v", all, err)
	}
	if n, err := all.Count("m", "one two"); n != 2 || err != nil || all.Err() != nil {
		t.Errorf("%d, %v", n, err)
	}
	all.interrupted = func() bool { return true } // small texts are counted anyway
	for text, counted := range map[string]bool{"one two": true, strings.Repeat("word ", 100_000): true, strings.Repeat("a", 1<<20): false} {
		if n, err := all.Count("m", text); (err == nil) != counted || (n > 0) != counted {
			t.Errorf("%d bytes in a hurry: %d tokens, %v", len(text), n, err)
		}
	}
	all.interrupted = nil
	if _, err := all.Count("m", strings.Repeat("a", 30<<20)); err == nil || !strings.Contains(err.Error(), "a text of 31457280 bytes needs more than") {
		t.Errorf("one word of 30 MiB: %v", err)
	}
	b.Tokenizer.Name = ""
	b.Models.Items = []config.Model{{Name: "m", Tokenizer: &config.ModelTokenizer{Name: "builtin"}}, {Name: "n", Tokenizer: &config.ModelTokenizer{Name: "cl100k_base"}}}
	dir := filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.Models.Items[1].Tokenizer = &config.ModelTokenizer{Name: dir}
	if _, err = open(); err == nil || !strings.Contains(err.Error(), "tokenizer of model "+dir) {
		t.Error(err)
	}
	b.Tokenizer.Name = dir
	if _, err = open(); err == nil || !strings.HasPrefix(err.Error(), "--tokenizer "+dir) {
		t.Error(err)
	}
}
