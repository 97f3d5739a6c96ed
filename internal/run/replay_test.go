package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// TestWiringOfReplays: every setting of a replay arrives, in the phase and in the warm-up that is added instead of others.
func TestWiringOfReplays(t *testing.T) {
	b := &config.Default().Benchmark
	b.Dataset().TraceIdleGapCap = seconds(5)
	b.Phases = []config.Phase{{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, Requests: ptr(9)}, {
		Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: ptr(3), PrefillConcurrency: ptr(2), Duration: seconds(6), GracePeriod: seconds(7),
		TimingMode: config.TimingReplay, StartMin: ptr(0.1), StartMax: ptr(0.2), BurstStarts: true, SystemIdleCap: seconds(4), CacheWarmup: seconds(8), WarmupGrace: seconds(9),
	}}
	replay := load.Replay{From: 0.1, To: 0.2, Together: true, IdleCap: 4 * time.Second, LeadCap: 5 * time.Second}
	pressed := replay
	pressed.Pressure = 8 * time.Second
	want := fmt.Sprintf("%+v", []load.Phase{
		{Name: "agentic.warmup", Warmup: true, Mode: load.AgenticReplay, Concurrency: 3, Prefill: 2, Grace: 9 * time.Second, Replay: pressed},
		{Name: "profiling", Mode: load.AgenticReplay, Concurrency: 3, Prefill: 2, Duration: 6 * time.Second, Grace: 7 * time.Second, Replay: replay},
	})
	if got, err := scenario(b); err != nil || fmt.Sprintf("%+v", got.Phases) != want {
		t.Errorf("%+v %v\nwant %s", got.Phases, err, want)
	}
	for _, c := range []struct {
		pressure, grace, own *config.Seconds
		want                 time.Duration
	}{{nil, seconds(7), nil, -1}, {seconds(8), seconds(7), nil, 8 * time.Second}, {seconds(8), seconds(30), nil, 30 * time.Second}, {seconds(900), nil, nil, 300 * time.Second}, {nil, nil, seconds(0), 0}} {
		p := &b.Phases[1]
		p.CacheWarmup, p.GracePeriod, p.WarmupGrace = c.pressure, c.grace, c.own
		if got, err := scenario(b); err != nil || got.Phases[0].Grace != c.want {
			t.Errorf("%+v: %v %v", c, got.Phases[0].Grace, err)
		}
	}
}

// recordings returns a dataset of a given number of conversations; some are started by others.
type recordings struct {
	dataset.Dataset
	n, started int
}

func (r recordings) Len() int           { return r.n - r.started }
func (r recordings) Info() dataset.Info { return dataset.Info{Started: r.started} }

// TestLanes: more lanes than recordings are refused, unless nothing is repeated, markers keep them apart, or the user wants it so.
func TestLanes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *config.Benchmark, p *config.Phase)
		ok     bool
	}{
		"too many":  {func(*config.Benchmark, *config.Phase) {}, false},
		"enough":    {func(_ *config.Benchmark, p *config.Phase) { p.Concurrency = ptr(3) }, true},
		"no replay": {func(_ *config.Benchmark, p *config.Phase) { p.TimingMode = "" }, true},
		"wanted": {func(b *config.Benchmark, _ *config.Phase) {
			b.Dataset().Synthesis = &config.Synthesis{AllowDatasetWrap: true}
		}, true},
		"marked": {func(b *config.Benchmark, _ *config.Phase) {
			b.Dataset().CacheBust = &config.CacheBust{Target: "first_turn_prefix"}
		}, true},
		"few sessions":  {func(_ *config.Benchmark, p *config.Phase) { p.Requests, p.Sessions = nil, ptr(3) }, true},
		"many sessions": {func(_ *config.Benchmark, p *config.Phase) { p.Requests, p.Sessions = nil, ptr(4) }, false},
	} {
		b := &config.Default().Benchmark
		p := &b.Phases[0]
		p.TimingMode, p.Concurrency, p.Requests = config.TimingReplay, ptr(4), ptr(8)
		c.change(b, p)
		err := checkLanes(b, recordings{n: 5, started: 2})
		if (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), "--concurrency 4: there are only 3 recordings,") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// recording is a trace of Weka: the main agent asks six times, the third time it starts one that asks twice.
func recording(id string) string {
	var list []string
	for k := range 6 {
		var ids []string
		for i := range k + 1 {
			ids = append(ids, fmt.Sprint(i))
		}
		list = append(list, fmt.Sprintf(`{"t":%g,"type":"n","model":"a","in":%d,"out":7,"hash_ids":[%s],"api_time":0.01}`, float64(k)*0.1, 64*(k+1), strings.Join(ids, ",")))
		if k == 2 {
			list = append(list, `{"t":0.22,"type":"subagent","agent_id":"x","subagent_type":"e","duration_ms":60,"status":"completed","models":["a"],"requests":[`+
				`{"t":0.22,"type":"n","model":"a","in":64,"out":7,"hash_ids":[50],"api_time":0.01},{"t":0.26,"type":"n","model":"a","in":128,"out":7,"hash_ids":[50,51],"api_time":0.01}]}`)
		}
	}
	return fmt.Sprintf(`{"id":%q,"models":["a"],"block_size":64,"hash_id_scope":"local","tool_tokens":0,"system_tokens":0,"requests":[%s]}`, id, strings.Join(list, ","))
}

// question is what the server of TestReplayedRecordings was asked.
type question struct {
	Messages  []struct{ Content string }
	MaxTokens int `json:"max_completion_tokens"`
	session   string
}

// TestReplayedRecordings: over the wire, a replay primes the caches with answers of one token, continues in the same sessions with the marker that
// primed them, and keeps the warm-up out of the results.
func TestReplayedRecordings(t *testing.T) {
	var mu sync.Mutex
	var asked []question
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b question
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			t.Error(err)
		}
		b.session = r.Header.Get("X-Correlation-ID")
		mu.Lock()
		asked = append(asked, b)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	dir := t.TempDir()
	for _, id := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(recording(id)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := whole(filepath.Join(dir, "out"), server.URL, 0)
	*b.Dataset() = config.Dataset{Name: "main", Type: config.DatasetFile, Path: dir, Format: "weka_trace", Sampling: config.SampleSequential, TurnDelayRatio: 1,
		CacheBust: &config.CacheBust{Target: "first_turn_prefix"}}
	p := &b.Phases[0]
	p.TimingMode, p.Concurrency, p.Requests, p.Sessions, p.StartMin, p.StartMax = config.TimingReplay, ptr(3), nil, ptr(4), ptr(0.5), ptr(0.5)
	got, err := Run(context.Background(), b, ptr(config.Seed("7")), Options{Version: "0", Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	primed := map[string]string{} // marker by session
	marks := map[string]bool{}
	for _, one := range asked {
		mark := one.Messages[0].Content[:min(18, len(one.Messages[0].Content))]
		if !strings.HasPrefix(mark, "[rid:") {
			t.Errorf("not marked: %q", mark)
		}
		marks[mark] = true
		if before, known := primed[one.session]; known && before != mark {
			t.Errorf("session %s is marked %q, then %q", one.session, before, mark)
		}
		if one.MaxTokens == 1 {
			primed[one.session] = mark
		} else if one.MaxTokens != 7 {
			t.Errorf("%d tokens asked for", one.MaxTokens)
		}
	}
	// entered at 0.25 s, each with the third turn of the main agent and the first one of the other behind it
	if len(primed) != 6 || len(marks) != 4 {
		t.Errorf("%d sessions were primed, %d markers", len(primed), len(marks))
	}
	rest := len(asked) - 6
	if rest != 3*(3+1)+8 || int(got.Profiling.Valid) != rest || got.Submission != nil {
		t.Errorf("%d requests after the warm-up, %d in the results, submission %v", rest, got.Profiling.Valid, got.Submission)
	}
	wantPhases(t, filepath.Join(b.Artifacts.Dir, "profile_export.jsonl"), map[string]int{"agentic.warmup": 6, "profiling": rest})
}

// wantPhases counts the records of every phase.
func wantPhases(t *testing.T, path string, want map[string]int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r struct {
			Metadata struct {
				Name string `json:"phase_name"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Metadata.Name)
	}
	for name, n := range want {
		if got := len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s != name })); got != n {
			t.Errorf("%d records of %s, want %d", got, name, n)
		}
	}
}
