package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/interrupt"
	"aiperf/internal/sim/mockserver"
)

// TestMain lets the test program be the simulated server that a mock:// URL starts, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "mock-server" {
		options := mockserver.Defaults()
		for _, arg := range os.Args[2:] {
			name, v, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if name == "port" || name == mockserver.LifelineFlag {
				continue
			}
			if err := options.Set(name, v); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
		}
		err := mockserver.Run(mockserver.UntilEOF(context.Background(), os.Stdin), options, "127.0.0.1:0", func(url string) { fmt.Println(mockserver.ReadyLine(url)) })
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testhome.Run(m))
}

// whole is a configuration of a small run against a server.
func whole(dir, url string, requests int) *config.Benchmark {
	b := &config.Default().Benchmark
	b.Models.Items = []config.Model{{Name: "m"}}
	b.Endpoint.URLs, b.Endpoint.Streaming = []string{url}, true
	b.Tokenizer.Name = "builtin"
	b.Artifacts.Dir = dir
	b.ServerMetrics.Enabled, b.GPUTelemetry.Enabled = false, false // a server of these tests counts what it is asked
	d := b.Dataset()
	d.Entries, d.Prompts.ISL = 4, config.Normal(20, 0)
	b.Phases[0].Concurrency, b.Phases[0].Requests = ptr(2), ptr(requests)
	return b
}

// locked is a buffer that several goroutines write to.
type locked struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// answers is a server that counts its requests and streams three tokens to each.
func answers(t *testing.T, served *atomic.Int64) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		answer(w)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// answer is a stream of three tokens.
func answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range []string{"one", " two", " three"} {
		fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
		_ = http.NewResponseController(w).Flush()
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// lines counts the lines of a file that hold some text.
func lines(t *testing.T, path, with string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		if strings.Contains(s.Text(), with) {
			n++
		}
	}
	return n
}

// TestWholeRun: the numbers of a run are those that its server counted, and its files hold them.
func TestWholeRun(t *testing.T) {
	var served atomic.Int64
	dir := t.TempDir()
	b := whole(dir, answers(t, &served), 6)
	b.Logging.Level, b.Artifacts.Raw = "TRACE", true
	warm := b.Phases[0]
	warm.Name, warm.Kind, warm.ExcludeFromResults, warm.Requests = "warmup", config.KindWarmup, true, ptr(3)
	b.Phases = append([]config.Phase{warm}, b.Phases...)
	b.Dataset().Turns, b.Dataset().TurnDelay = config.Normal(2, 0), config.Normal(1, 0)
	var told locked
	run, err := Run(t.Context(), b, ptr(config.Seed("7")), Options{Version: "v", Err: &told, InputConfig: []byte(`{}`), Notes: []string{"a note"}, Warnings: []string{"a warning"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	if p := run.Profiling; p.Valid != 6 || p.Failed != 0 || run.Warmup == nil || run.Warmup.Valid != 3 || served.Load() != 9 {
		t.Errorf("%d valid, %d failed, warm-up %+v; the server had %d", p.Valid, p.Failed, run.Warmup, served.Load())
	}
	if osl := run.Profiling.Value("output_sequence_length", metric.Avg); osl != 3 {
		t.Errorf("%v tokens an answer, not 3", osl)
	}
	if run.Validity == nil || run.Cancelled || run.IncompleteReason != "" || run.BenchmarkID == "" || run.End.Before(run.Start) {
		t.Errorf("%+v", run)
	}
	for _, c := range []struct {
		file, with string
		n          int
	}{
		{"profile_export.jsonl", `"benchmark_phase":"profiling"`, 6}, {"profile_export.jsonl", `"benchmark_phase":"warmup"`, 3},
		{"profile_export_raw.jsonl", run.BenchmarkID, 9}, {"logs/aiperf.log", "msg=request", 9}, {"logs/aiperf.log", `msg="phase complete"`, 2},
		{"logs/aiperf.log", "a note", 1}, {"logs/aiperf.log", "a warning", 1}, {"profile_export_aiperf.json", `"request_count"`, 2}, {"inputs.json", `"session_id"`, 4},
	} {
		if n := lines(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.with); n != c.n {
			t.Errorf("%s: %d lines with %s, not %d", c.file, n, c.with, c.n)
		}
	}
}

// TestRunOfFailures: files are written, and the reason is said in one line.
func TestRunOfFailures(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"full"}`, http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		threshold *float64
		want      string
		finished  func(n int64) bool
	}{
		{nil, "all 40 requests failed: 40 × 503", func(n int64) bool { return n == 40 }},
		{ptr(0.5), "failed, more than --failed-request-threshold allows", func(n int64) bool { return n > 0 && n < 40 }},
	} {
		b := whole(t.TempDir(), server.URL, 40)
		b.Phases[0].FailedRequestThreshold = c.threshold
		var told locked
		run, err := Run(t.Context(), b, nil, Options{Err: &told})
		if run == nil || !run.AllFailed() || !c.finished(run.Profiling.Failed) {
			t.Fatalf("%+v %v", run, err)
		}
		if !strings.Contains(told.String(), c.want) {
			t.Errorf("%q lacks %q", told.String(), c.want)
		}
		if n := lines(t, filepath.Join(b.Artifacts.Dir, "profile_export.jsonl"), `"code":503`); int64(n) != run.Profiling.Failed {
			t.Errorf("%d records of %d failures", n, run.Profiling.Failed)
		}
	}
}

// TestInterruptedRun: finished requests are reported, requests in flight are in the records.
func TestInterruptedRun(t *testing.T) {
	arrived := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server sees its client go only after it has read the body
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	b := whole(t.TempDir(), server.URL, 40)
	b.Environment.Timing.CancelDrainTimeout = 1
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		<-arrived
		cancel(interrupt.ErrSignal)
	}()
	var told locked
	run, err := Run(ctx, b, nil, Options{Err: &told})
	if run == nil || !run.Cancelled || run.IncompleteReason == "" || run.Profiling.Valid != 0 || run.Profiling.Cut != 2 {
		t.Fatalf("%+v %v", run, err)
	}
	if n := lines(t, filepath.Join(b.Artifacts.Dir, "profile_export.jsonl"), `"was_cancelled":true`); n != 2 {
		t.Errorf("%d lines of cut requests, not 2", n)
	}

	b = whole(t.TempDir(), server.URL, 4)
	if run, err = Run(ctx, b, nil, Options{Err: &told}); run != nil || !errors.Is(err, interrupt.ErrSignal) || !strings.Contains(err.Error(), "before the first request") {
		t.Errorf("%v %v", run, err)
	}
}

// TestSimulatedServer: a mock:// URL starts a server in a separate process, which ends with the run and received what the run counts.
func TestSimulatedServer(t *testing.T) {
	dir := t.TempDir()
	truth := filepath.Join(dir, "truth.jsonl")
	b := whole(dir, "mock://?ttft=1ms&itl=1ms&tokens=5&truth-log="+url.QueryEscape(truth), 7)
	b.Endpoint.URLs = append(b.Endpoint.URLs, b.Endpoint.URLs[0]) // the same URL twice starts one server
	var told locked
	run, err := Run(t.Context(), b, nil, Options{Err: &told})
	if err != nil || run.Profiling.Valid != 7 || run.Profiling.Value("output_sequence_length", metric.Max) != 5 {
		t.Fatalf("%+v %v\n%s", run, err, told.String())
	}
	if n := lines(t, truth, "{"); n < 7 {
		t.Errorf("the server wrote %d requests down, not 7", n)
	}
	for _, c := range []struct{ url, want string }{
		{"mock://?nothing=1", `unknown mock server option "nothing"`}, {"mock://?truth-log=" + url.QueryEscape(filepath.Join(dir, "none", "x")), "simulated server: "},
	} {
		if _, err := Run(t.Context(), whole(t.TempDir(), c.url, 1), nil, Options{Err: &told}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

// TestRunRefuses: a run that cannot start gives the reason before anything is sent.
func TestRunRefuses(t *testing.T) {
	testhome.Slow(t)
	var served atomic.Int64
	at := answers(t, &served)
	for name, c := range map[string]struct {
		change func(*config.Benchmark)
		want   string
	}{
		"type":      {func(b *config.Benchmark) { b.Endpoint.Type = "none" }, "none"},
		"goodput":   {func(b *config.Benchmark) { b.SLOs = config.SLOs{{Tag: "no_metric", Threshold: 1}} }, "no_metric"},
		"tokenizer": {func(b *config.Benchmark) { b.Tokenizer.Name = filepath.Join("no", "such", "file.json") }, "file.json"},
		"schedule":  {func(b *config.Benchmark) { b.Phases[0].Type = "other" }, `type "other" is not known`},
		"series": {func(b *config.Benchmark) {
			b.Phases[0].Type, b.Phases[0].RateSeries = config.PhasePoisson, filepath.Join("no", "series.json")
		}, "--request-rate-series"},
		"url":     {func(b *config.Benchmark) { b.Endpoint.URLs = []string{"ftp://h"} }, "ftp"},
		"prompts": {func(b *config.Benchmark) { b.Dataset().SystemPromptFile = filepath.Join("no", "prompt.txt") }, "--system-prompt-file"},
	} {
		b := whole(t.TempDir(), at, 1)
		c.change(b)
		if run, err := Run(t.Context(), b, nil, Options{Err: &locked{}}); run != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", name, run, err, c.want)
		}
		if _, err := Check(t.Context(), b, nil, Options{Err: &locked{}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, only checked: %v, want %q", name, err, c.want)
		}
	}
	if served.Load() != 0 {
		t.Errorf("%d requests were sent", served.Load())
	}
}

// TestCheckReadsEveryRow: a dry run refuses a bad row of a large file, which a run reads only when it gets there.
func TestCheckReadsEveryRow(t *testing.T) {
	b := whole(t.TempDir(), "mock://", 30)
	file := filepath.Join(b.Artifacts.Dir, "large.jsonl")
	row := `{"text":"` + strings.Repeat("word ", 2_000) + `"}` + "\n"
	text := strings.Repeat(row, 900) // more than 8 MiB
	for bad, want := range map[string]string{"": "", `{"other":1}` + "\n": "large.jsonl:901: at least one of text"} {
		if err := os.WriteFile(file, []byte(text+bad), 0o600); err != nil {
			t.Fatal(err)
		}
		*b.Dataset() = config.Dataset{Name: "main", Type: config.DatasetFile, Path: file, Format: "single_turn"}
		f, err := Check(t.Context(), b, ptr(config.Seed("1")), Options{Err: &locked{}})
		switch {
		case want == "" && (err != nil || f.Prompts != 900):
			t.Errorf("a good file: %+v %v", f, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("a bad row: %+v %v, want %q", f, err, want)
		}
	}
}

// TestCheckSendsNothing: a dry run tells what the run would send.
func TestCheckSendsNothing(t *testing.T) {
	var served atomic.Int64
	b := whole(t.TempDir(), answers(t, &served), 30)
	f, err := Check(t.Context(), b, ptr(config.Seed("1")), Options{Err: &locked{}})
	if err != nil || f.Prompts != 4 || math.Abs(f.Tokens-20) > 8 || f.Requests != 30 || f.Time != 0 {
		t.Fatalf("%+v %v", f, err)
	}
	defer func(n int) { maxSampledTokens = n }(maxSampledTokens)
	maxSampledTokens = 20_000
	long := base(config.PhaseConcurrency, b.Artifacts.Dir)
	d := long.Dataset()
	d.Entries, d.Prompts.ISL, d.Turns, d.SystemPromptFile, long.SLOs = 40, config.Normal(3_000, 0), config.Normal(1, 0), "", nil
	if f, err := Check(t.Context(), long, ptr(config.Seed("1")), Options{Err: &locked{}}); err != nil || f.Prompts != 40 || f.First != 7 || math.Round(f.Tokens) != 3_006 {
		t.Errorf("long prompts: %+v %v", f, err)
	}
	b.Endpoint.URLs = []string{"mock://"}
	b.Phases[0].Type, b.Phases[0].Rate = config.PhasePoisson, ptr(10.0)
	warm := b.Phases[0]
	warm.Name, warm.Kind, warm.Requests, warm.Duration = "warmup", config.KindWarmup, nil, seconds(2)
	b.Phases = append(b.Phases, warm)
	if f, err = Check(t.Context(), b, nil, Options{Err: &locked{}}); err != nil || f.Time != 5*time.Second {
		t.Errorf("30 requests at 10/s and 2 s: %+v %v", f, err)
	}
	trace := filepath.Join(b.Artifacts.Dir, "trace.jsonl")
	if err := os.WriteFile(trace, []byte(traceRows), 0o600); err != nil {
		t.Fatal(err)
	}
	b = base(config.PhaseFixedSchedule, b.Artifacts.Dir)
	b.Dataset().SystemPromptFile, b.Dataset().Synthesis, b.Endpoint.URLs = "", nil, []string{"mock://"}
	b.Phases = b.Phases[1:]
	b.Phases[0].Seamless, b.Phases[0].Duration, b.SLOs = false, nil, nil
	if f, err = Check(t.Context(), b, nil, Options{Err: &locked{}}); err != nil || f.Prompts != 4 || f.Time <= 0 {
		t.Errorf("a trace: %+v %v", f, err)
	}
	// Times below 0 are fine if the first timestamp is the start, or if an explicit start excludes them. Otherwise they would be sent too late.
	if err := os.WriteFile(trace, []byte(strings.Replace(traceRows, `"timestamp":3000`, `"timestamp":-3000`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		auto bool
		from *int64
		want string
	}{
		{true, nil, ""}, {false, ptr(int64(0)), ""},
		{false, nil, "trace.jsonl:3: timestamp: -3000 ms is before the start of the schedule. With "},
	} {
		b.Phases[0].AutoOffset, b.Phases[0].StartOffset = &c.auto, c.from
		if _, err := Check(t.Context(), b, nil, Options{Err: &locked{}}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("auto offset %t: %v, want %q", c.auto, err, c.want)
		}
	}
	if served.Load() != 0 {
		t.Errorf("%d requests were sent", served.Load())
	}
}
