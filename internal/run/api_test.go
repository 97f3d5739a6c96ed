package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/telemetry/exposition"
	"aiperf/internal/telemetry/promserver"
	"aiperf/internal/workload/load"
)

// freePort is one that nobody has, and that no connection gets before it is used: systems give those ports above 32767.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// TestAPI: during a run its API reports the state, up to the last request; it ends with the run.
func TestAPI(t *testing.T) {
	const requests = 6
	b := whole(t.TempDir(), "", requests)
	b.Environment.API = config.APITuning{Port: freePort(t), Host: "127.0.0.1", CORSOrigins: `["http://a"]`, ShutdownTimeout: 5, Token: "of-this-test"}
	base := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Environment.API.Port))
	get := func(path string, into any) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "http://a")
		r.Header.Set("Authorization", "Bearer of-this-test")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		if page, ok := into.(*string); ok {
			*page = string(text)
		} else if err := json.Unmarshal(text, into); err != nil {
			t.Errorf("%s: %v: %s", path, err, text)
		}
		return resp.Header
	}
	var progress struct{ Phases map[string]map[string]any }
	var figures struct {
		Model     string
		Streaming bool
		Metrics   map[string]map[string]any
	}
	var workers struct {
		Workers map[string]struct {
			Stats map[string]float64 `json:"task_stats"`
		}
	}
	var ready, page, settings, identity string
	var results map[string]any
	asked := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == requests { // requests come one after the other
			get("/readyz", &ready)
			get("/api/progress", &progress)
			get("/api/metrics", &figures)
			get("/api/workers", &workers)
			get("/api/results", &results)
			get("/api/config", &settings)
			get("/api/run", &identity)
			if header := get("/metrics", &page); header.Get("Access-Control-Allow-Origin") != "http://a" {
				t.Errorf("%v", header)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(model.Close)
	b.Endpoint.URLs, b.Endpoint.Streaming = []string{model.URL}, false
	b.Phases[0].Concurrency = ptr(1)
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs, InputConfig: []byte(`{"endpoint":{"urls":["u"],"api_key":"<redacted>"}}`)})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if !strings.Contains(identity, `"benchmark_id":"`+run.BenchmarkID+`"`) || run.BenchmarkID == "" {
		t.Errorf("/api/run of run %q: %s", run.BenchmarkID, identity)
	}
	model.Close() // from here on the notes of its goroutines are read
	if n := run.Profiling.Value("request_count", metric.Avg); n != requests {
		t.Errorf("%v requests in the results", n)
	}
	p := progress.Phases["profiling"]
	if ready != "ok" || p["requests_sent"] != float64(requests) || p["requests_completed"] != float64(requests-1) || p["total_expected_requests"] != float64(requests) ||
		p["total_session_turns"] != float64(requests) || p["records_end_ns"] != nil || p["requests_end_ns"] != nil || p["final_requests_completed"] != nil || p["request_errors"] != 0.0 {
		t.Errorf("%s, progress %v", ready, p)
	}
	if figures.Model != "m" || figures.Streaming || figures.Metrics == nil {
		t.Errorf("metrics %+v", figures)
	}
	for _, w := range workers.Workers {
		if w.Stats["total"] != requests || w.Stats["completed"] != requests-1 {
			t.Errorf("worker %+v", w)
		}
	}
	if len(workers.Workers) != 1 || results["status"] != "running" || settings != `{"endpoint":{"urls":["u"]}}` {
		t.Errorf("%v %v %s", workers, results, settings)
	}
	if parsed := exposition.Parse([]byte(page)); parsed.BadLines != 0 || !strings.Contains(page, "aiperf_requests_sent{") {
		t.Errorf("page %s", page)
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
		_ = c.Close()
		t.Error("the API outlives the run")
	}
}

// TestAPIToken: without the token a run shows its figures for Prometheus and its health, and nothing else; a random token is in no file.
func TestAPIToken(t *testing.T) {
	b := whole(t.TempDir(), "", 1)
	b.Environment.API = config.APITuning{Port: freePort(t), Host: "127.0.0.1", ShutdownTimeout: 5}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Environment.API.Port))
	status := func(path, host string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for path, want := range map[string]int{
			"/healthz": 200, "/readyz": 200, "/metrics": 200, "/api/progress": 401, "/api/results/files/inputs.json": 401, "/api/config": 401, "/": 401,
			"/api/run?token=" + processToken(): 200,
		} {
			if got := status(path, ""); got != want {
				t.Errorf("%s: %d, want %d", path, got, want)
			}
			if got := status(path, "evil.example"); got != 403 {
				t.Errorf("%s by another name: %d", path, got)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`)
	}))
	defer model.Close()
	b.Endpoint.URLs, b.Endpoint.Streaming = []string{model.URL}, false
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err != nil {
		t.Fatal(err, errs.String())
	}
	if !strings.Contains(errs.String(), "API of this run: http://"+address+"/api/progress?token="+processToken()) {
		t.Errorf("no address in %s", errs.String())
	}
	err := filepath.WalkDir(b.Artifacts.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), processToken()) {
			t.Errorf("%s shows the token", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAPIFails: a run that nobody can see any more ends, and says why.
func TestAPIFails(t *testing.T) {
	fault := errors.New("no more sockets")
	state := &apiState{failed: func(context.Context) error { return fault }}
	ctx, end := state.watch(t.Context())
	<-ctx.Done()
	if err := end(); !errors.Is(err, fault) || !errors.Is(context.Cause(ctx), fault) || !strings.HasPrefix(err.Error(), "the API of this run failed: ") {
		t.Errorf("%v, cause %v", err, context.Cause(ctx))
	}
	state.failed = func(ctx context.Context) error { <-ctx.Done(); return nil }
	ctx, end = state.watch(t.Context())
	if ctx.Err() != nil {
		t.Error("a run with a sound API ends")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if ctx, end = (*apiState)(nil).watch(t.Context()); ctx != t.Context() || end() != nil {
		t.Error("a run without an API is watched")
	}
}

// TestRecordsEnd: the records of a phase end when the last of them is processed, not before.
func TestRecordsEnd(t *testing.T) {
	state := &apiState{figures: promserver.NewFigures(), counts: map[int]*[2]int64{}, ended: map[int]*load.PhaseStats{}, worked: map[int]int64{}}
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := &load.PhaseStats{Ended: 5, Completed: 2}
	row := set.Row(&record.Record{Start: 1, End: 2, Status: 200}, &record.Reply{}, record.Counts{})
	for i, want := range []bool{false, false, true} {
		if got := state.recordsEnd(0, done); (got != nil) != want {
			t.Errorf("after %d records: %v", i, got)
		}
		state.Observe(row)
	}
	if state.recordsEnd(0, nil) != nil {
		t.Error("a phase that goes on has no end")
	}
}

// TestFinalResults: the final answer of the API equals the summary.
func TestFinalResults(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.NewReducer()
	for i := range 3 {
		rec := &record.Record{Start: 1e9, End: 1e9 + int64(i+1)*1e6, Status: 200}
		reply := &record.Reply{Contents: []record.Content{{At: rec.End, Text: "x"}}}
		if i == 2 {
			rec.Error, reply = &record.Error{Code: 500, Type: "E", Message: "m"}, nil
		}
		r.Add(set.Row(rec, reply, record.Counts{}))
	}
	state := &apiState{}
	if got := state.outcome(); got.Status != "running" || got.Results != nil {
		t.Errorf("%+v", got)
	}
	state.finish(&metric.Run{Profiling: r.Summary(metric.Window{From: 5, To: 9}), Cancelled: true})
	text, err := json.Marshal(state.outcome())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Status  string
		Results struct {
			Results struct {
				Records   []map[string]any
				Completed int
				Start     int64 `json:"start_ns"`
				End       int64 `json:"end_ns"`
				Cancelled bool  `json:"was_cancelled"`
				Errors    []struct {
					Count   int
					Details struct{ Code int } `json:"error_details"`
				} `json:"error_summary"`
			}
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	res := got.Results.Results
	latency := slices.IndexFunc(res.Records, func(m map[string]any) bool { return m["tag"] == "request_latency" })
	if got.Status != "cancelled" || res.Completed != 3 || res.Start != 5 || res.End != 9 || !res.Cancelled || len(res.Errors) != 1 || res.Errors[0].Count != 1 ||
		res.Errors[0].Details.Code != 500 || latency < 0 || res.Records[latency]["avg"] != 1.5 || res.Records[latency]["unit"] != "ms" {
		t.Errorf("%s", text)
	}
}

// TestProgressOf: a phase under way and one that is over, by hand.
func TestProgressOf(t *testing.T) {
	phase := &load.Phase{Requests: 100, Duration: 20 * time.Second, Grace: 3 * time.Second}
	s := load.Snapshot{Info: &load.PhaseInfo{Name: "p"}, Phase: phase, Started: 1e9, Sent: 30, Completed: 20, Errors: 2, Sessions: 30, Finished: 20}
	got := progressOf(&s, nil, [2]int64{15, 1}, 5e9) // after 4 s: 5 a second, 16 s left by count and by time
	if got.Phase != "p" || *got.RequestsPerSecond != 5 || *got.RecordsPerSecond != 4 || *got.RequestsSecondsLeft != 16 || *got.ExpectedGrace != 3 || got.FinalSent != nil ||
		got.SentEnd != nil || *got.TotalRequests != 100 || got.ExpectedSessions != nil || got.GoodRecords != 15 || got.ErrorRecords != 1 {
		t.Errorf("%+v", got)
	}
	s.SentAll, s.Ended = 6e9, 7e9
	end := &load.PhaseStats{Ended: 7e9, Completed: 29, Cancelled: 1, Errors: 2, TimedOut: true, GraceExpired: true, SessionsCompleted: 29, SessionsCancelled: 1}
	got = progressOf(&s, end, [2]int64{27, 2}, 9e9)
	if *got.FinalSent != 30 || *got.FinalCompleted != 29 || *got.FinalCancelled != 1 || !got.TimedOut || !got.GraceExpired || got.Cancelled || *got.RequestsSecondsLeft != 0 ||
		*got.RecordsSecondsLeft != 0 || got.RequestsEnd == nil || got.SentEnd == nil {
		t.Errorf("%+v", got)
	}
	if waits := progressOf(&load.Snapshot{Info: s.Info, Phase: phase}, nil, [2]int64{}, 5e9); waits.Start != nil || waits.RequestsPerSecond != nil {
		t.Errorf("%+v", waits)
	}
}

// TestBusyAPI: a port that somebody has ends the run before it has begun, and names the flag. Flags go before variables.
func TestBusyAPI(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := whole(t.TempDir(), "http://127.0.0.1:1", 1)
	b.Environment.API = config.APITuning{Port: 1, Host: "192.0.2.1"}
	b.Runtime.APIPort, b.Runtime.APIHost = ptr(l.Addr().(*net.TCPAddr).Port), "127.0.0.1"
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &locked{}}); err == nil || !strings.Contains(err.Error(), "--api-port 127.0.0.1:") {
		t.Error(err)
	}
}
