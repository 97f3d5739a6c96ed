package run

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricdata "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// collector takes what is streamed in, as OTLP over HTTP has it.
type collector struct {
	mu      sync.Mutex
	metrics map[string]*metricdata.Metric // the last word on each
	spans   []*spans.Span
	seen    []string // paths and credentials
	faults  []error
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, r.URL.Path+" "+r.Header.Get("Authorization"))
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		c.faults = append(c.faults, err)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		c.faults = append(c.faults, err)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/v1/traces") {
		var got tracespb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &got); err != nil {
			c.faults = append(c.faults, err)
		}
		for _, x := range got.ResourceSpans {
			for _, y := range x.ScopeSpans {
				c.spans = append(c.spans, y.Spans...)
			}
		}
		return
	}
	var got metricspb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &got); err != nil {
		c.faults = append(c.faults, err)
	}
	for _, x := range got.ResourceMetrics {
		for _, y := range x.ScopeMetrics {
			for _, m := range y.Metrics {
				c.metrics[m.Name] = m
			}
		}
	}
}

// TestCollector: the last figures of a collector are those of the report; the page for Prometheus has them, too.
func TestCollector(t *testing.T) {
	c := &collector{metrics: map[string]*metricdata.Metric{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	var served atomic.Int64
	b := whole(t.TempDir(), answers(t, &served), 12)
	b.OTel.MetricsURL = strings.Replace(server.URL, "http://", "http://me:hushhush@", 1) + "/base/v1/metrics"
	b.OTel.StreamTraces, b.OTel.ResourceAttributes = true, map[string]string{"team": "a"}
	b.Environment.OTel.FlushInterval = 0.05
	free, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t))))
	if err != nil {
		t.Fatal(err)
	}
	b.Runtime.MetricsListen = free.Addr().String()
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err == nil || !strings.HasSuffix(err.Error(), free.Addr().String()+": another program uses this port; choose another one") {
		t.Errorf("a port in use: %v", err)
	}
	if left, err := os.ReadDir(b.Artifacts.Dir); err != nil || len(left) > 0 {
		t.Errorf("a run that never began leaves %v behind: %v", left, err)
	}
	free.Close()
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) > 0 || strings.Contains(errs.String(), "warning") || strings.Contains(errs.String(), "hushhush") {
		t.Error(c.faults, errs.String())
	}
	slices.Sort(c.seen)
	if got := slices.Compact(c.seen); !slices.Equal(got, []string{"/base/v1/metrics Basic bWU6aHVzaGh1c2g=", "/base/v1/traces Basic bWU6aHVzaGh1c2g="}) {
		t.Error(got)
	}
	for name, tag := range map[string]string{
		"gen_ai.client.operation.duration": "request_latency", "gen_ai.client.operation.time_to_first_chunk": "time_to_first_token", "aiperf.dispatch.lag": "dispatch_lag",
	} {
		h := c.metrics[name].GetHistogram()
		if h == nil || len(h.DataPoints) != 1 {
			t.Errorf("%s: %v", name, h)
			continue
		}
		if p, want := h.DataPoints[0], run.Profiling.Value(tag, metric.Sum)/1e3; p.Count != 12 || math.Abs(p.GetSum()-want) > 1e-6*want {
			t.Errorf("%s: %d values, sum %v s, want %v s", name, p.Count, p.GetSum(), want)
		}
	}
	gaps := c.metrics["gen_ai.client.operation.time_per_output_chunk"]
	if r, ok := run.Profiling.Get("inter_chunk_latency"); !ok || gaps.GetUnit() != "s" || len(gaps.GetHistogram().GetDataPoints()) != 1 {
		t.Errorf("times between chunks: %v", gaps)
	} else if p := gaps.GetHistogram().DataPoints[0]; float64(p.Count) != r.Values[metric.Count] || p.Count <= 12 || math.Abs(p.GetSum()-r.Values[metric.Sum]/1e3) > 1e-6*p.GetSum() {
		t.Errorf("times between chunks: %d values, sum %v s, want %v, %v ms", p.Count, p.GetSum(), r.Values[metric.Count], r.Values[metric.Sum])
	}
	tokens := map[string]float64{}
	for _, p := range c.metrics["gen_ai.client.token.usage"].GetHistogram().GetDataPoints() {
		for _, a := range p.Attributes {
			if a.Key == "gen_ai.token.type" {
				tokens[a.Value.GetStringValue()] = p.GetSum()
			}
		}
	}
	if tokens["input"] != run.Profiling.Value("total_isl", metric.Avg) || tokens["output"] != run.Profiling.Value("total_osl", metric.Avg) {
		t.Error(tokens)
	}
	if g := c.metrics["aiperf.requests.sent"].GetSum(); g == nil || g.DataPoints[0].GetAsInt() != 12 || !g.IsMonotonic {
		t.Error(g)
	}
	want := map[[2]uint64]bool{} // start and end of the requests, as the records have them
	for l := range jsonLines(t, filepath.Join(b.Artifacts.Dir, "profile_export.jsonl")) {
		var r struct {
			Metadata struct {
				Start uint64 `json:"request_start_ns"`
				End   uint64 `json:"request_end_ns"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(l, &r); err != nil {
			t.Fatal(err)
		}
		want[[2]uint64{r.Metadata.Start, r.Metadata.End}] = true
	}
	for _, s := range c.spans {
		if s.Name != "chat m" || s.Kind != spans.Span_SPAN_KIND_CLIENT || len(s.Events) != 1 || s.Events[0].TimeUnixNano < s.StartTimeUnixNano || s.Events[0].TimeUnixNano > s.EndTimeUnixNano ||
			!want[[2]uint64{s.StartTimeUnixNano, s.EndTimeUnixNano}] {
			t.Error(s)
		}
	}
	if len(c.spans) != 12 || len(want) != 12 {
		t.Errorf("%d spans of %d records, want 12", len(c.spans), len(want))
	}
}

// TestDeadCollector: a collector that is not there, refuses or does not answer costs a warning that says what was lost, and a bounded time.
func TestDeadCollector(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	refuses := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refuses.Close)
	for name, address := range map[string]string{"silent": silent.URL, "refuses": refuses.URL, "nobody": "http://127.0.0.1:1"} {
		var served atomic.Int64
		b := whole(t.TempDir(), answers(t, &served), 4)
		b.OTel.MetricsURL, b.OTel.StreamTraces = address, true
		b.Environment.OTel.FlushInterval, b.Environment.OTel.RequestTimeout = 0.05, 0.3
		var errs locked
		run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
		if err != nil || run.Profiling.Valid != 4 {
			t.Fatalf("%s: %v %v", name, run, err)
		}
		for _, want := range []string{"the collector did not accept the metrics ", "4 of 4 spans were not delivered"} {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%s: nothing says %q: %s", name, want, errs.String())
			}
		}
	}
}

// trackers is an MLflow server and one of Weights & Biases.
type trackers struct {
	mu    sync.Mutex
	calls []string
	files map[string]string
	batch map[string]any // figures by key
	vars  map[string]any // of the mutation that makes a run
}

func (s *trackers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, password, _ := r.BasicAuth()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path+" "+user+":"+password)
	body, _ := io.ReadAll(r.Body)
	var in map[string]any
	_ = json.Unmarshal(body, &in)
	say := func(text string) { _, _ = io.WriteString(w, text) }
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/get-by-name"):
		w.WriteHeader(http.StatusNotFound)
		say(`{"error_code":"RESOURCE_DOES_NOT_EXIST"}`)
	case strings.HasSuffix(path, "/experiments/create"):
		say(`{"experiment_id":"7"}`)
	case strings.HasSuffix(path, "/runs/create"):
		say(`{"run":{"info":{"run_id":"r1","artifact_uri":"mlflow-artifacts:/7/r1/artifacts"}}}`)
	case strings.HasSuffix(path, "/runs/log-batch"):
		for _, list := range []string{"metrics", "params"} {
			values, _ := in[list].([]any)
			for _, v := range values {
				one := v.(map[string]any)
				s.batch[list+" "+one["key"].(string)] = one["value"]
			}
		}
		say(`{}`)
	case r.Method == http.MethodPut:
		s.files[path] = string(body)
	case path == "/graphql" && strings.Contains(in["query"].(string), "upsertBucket"):
		s.vars = in["variables"].(map[string]any)
		say(`{"data":{"upsertBucket":{"bucket":{"name":"w1","project":{"name":"p","entity":{"name":"e"}}}}}}`)
	case path == "/graphql":
		names := in["variables"].(map[string]any)["files"].([]any)
		var list []string
		for _, n := range names {
			list = append(list, `{"name":"`+n.(string)+`","uploadUrl":"/store/`+n.(string)+`?signature=secret"}`)
		}
		say(`{"data":{"createRunFiles":{"uploadHeaders":[],"files":[` + strings.Join(list, ",") + `]}}}`)
	default:
		say(`{}`)
	}
}

// TestTrackers: figures, settings and files are what the report and its files hold; a tracker that is not there is a warning.
func TestTrackers(t *testing.T) {
	s := &trackers{files: map[string]string{}, batch: map[string]any{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("WANDB_API_KEY", "keykeykey")
	t.Setenv("WANDB_BASE_URL", server.URL)
	t.Setenv("MLFLOW_TRACKING_USERNAME", "u")
	t.Setenv("MLFLOW_TRACKING_PASSWORD", "hushhush")
	var served atomic.Int64
	dir := t.TempDir()
	b := whole(dir, answers(t, &served), 6)
	b.MLflow.TrackingURI, b.MLflow.RunName, b.MLflow.Tags, b.MLflow.ParentRunID = server.URL+"/", "mine", map[string]string{"a": "b"}, "above"
	b.WandB.Project, b.WandB.Tags = "p", []string{"x"}
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs, InputConfig: []byte(`{"endpoint":{"urls":["http://h"],"streaming":true,"timeout":9.5}}`)})
	if err != nil || strings.Contains(errs.String(), "warning") || strings.Contains(errs.String(), "keykeykey") {
		t.Fatal(err, errs.String())
	}
	for key, want := range map[string]any{
		"metrics request_latency_p99": run.Profiling.Value("request_latency", metric.P99), "metrics request_count": 6., "params endpoint.urls.0": "http://h", "params endpoint.streaming": "true",
		"params verdict": string(run.Validity.Verdict),
	} {
		if got := s.batch[key]; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	summary, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/profile_export_aiperf.json", "/store/profile_export_aiperf.json"} {
		if s.files[at] != string(summary) {
			t.Errorf("%s: %d bytes, want %d", at, len(s.files[at]), len(summary))
		}
	}
	var figures map[string]float64
	if err := json.Unmarshal([]byte(s.vars["summaryMetrics"].(string)), &figures); err != nil || figures["request_count"] != 6 || s.vars["project"] != "p" || s.vars["entity"] != nil {
		t.Error(err, s.vars)
	}
	var settings map[string]struct{ Value any }
	if err := json.Unmarshal([]byte(s.vars["config"].(string)), &settings); err != nil || settings["endpoint.streaming"].Value != true || settings["endpoint.timeout"].Value != 9.5 || settings["endpoint.urls.0"].Value != "http://h" {
		t.Errorf("settings lose their types: %v %v", err, settings)
	}
	for _, call := range s.calls {
		want := "api:keykeykey"
		if strings.Contains(call, "mlflow") {
			want = "u:hushhush"
		} else if strings.Contains(call, "PUT") {
			want = " :"
		}
		if !strings.HasSuffix(call, want) {
			t.Error(call)
		}
	}
	if !slices.ContainsFunc(s.calls, func(c string) bool { return strings.Contains(c, "runs/update") }) || !slices.ContainsFunc(s.calls, func(c string) bool { return strings.Contains(c, "/files/e/p/w1/file_stream") }) {
		t.Error("the runs are not ended", s.calls)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "mlflow_export.json")); err != nil || !strings.Contains(string(text), `"run_id": "r1"`) {
		t.Errorf("%v %s", err, text)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	b = whole(t.TempDir(), answers(t, &served), 2)
	b.MLflow.TrackingURI, b.Environment.MLflow.ExportTimeout = silent.URL, 0.1
	begun := time.Now()
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err != nil || !strings.Contains(errs.String(), "MLflow: not everything was uploaded") {
		t.Error(err, errs.String())
	}
	if time.Since(begun) > 20*time.Second {
		t.Error("a tracker that does not answer held the run up")
	}
}

// TestNoKey: a run that could not be uploaded is refused before it sends anything or creates a folder, unless uploads are turned off.
func TestNoKey(t *testing.T) {
	t.Setenv("WANDB_API_KEY", "")
	var served atomic.Int64
	dir := filepath.Join(t.TempDir(), "below")
	b := whole(dir, answers(t, &served), 2)
	b.WandB.Project = "p"
	var errs locked
	_, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if _, there := os.Stat(dir); err == nil || !strings.Contains(err.Error(), "WANDB_API_KEY is not set") || there == nil || served.Load() != 0 {
		t.Errorf("%v, %d requests, folder: %v", err, served.Load(), there)
	}
	if _, err := Check(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err == nil {
		t.Error("a dry run accepts it")
	}
	t.Setenv("WANDB_MODE", "disabled")
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err != nil || served.Load() != 2 {
		t.Error(err, served.Load())
	}
}

// TestPhasesOfCollector: the collector gets the final numbers of every phase, also of one that begins and ends between two deliveries.
func TestPhasesOfCollector(t *testing.T) {
	c := &collector{metrics: map[string]*metricdata.Metric{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	var served atomic.Int64
	b := whole(t.TempDir(), answers(t, &served), 12)
	warm := b.Phases[0]
	warm.Name, warm.Kind, warm.ExcludeFromResults, warm.Requests = "warmup", config.KindWarmup, true, ptr(5)
	b.Phases = []config.Phase{warm, b.Phases[0]}
	b.OTel.MetricsURL, b.Environment.OTel.FlushInterval = server.URL, 3600
	var errs locked
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs}); err != nil {
		t.Fatal(err, errs.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	got := map[string]int64{}
	for _, name := range []string{"aiperf.requests.sent", "aiperf.requests.ended"} {
		for _, p := range c.metrics[name].GetSum().GetDataPoints() {
			got[name+" "+p.Attributes[0].Value.GetStringValue()] += p.GetAsInt()
		}
	}
	want := map[string]int64{"aiperf.requests.sent warmup": 5, "aiperf.requests.sent profiling": 12, "aiperf.requests.ended warmup": 5, "aiperf.requests.ended profiling": 12}
	if !maps.Equal(got, want) || served.Load() != 17 {
		t.Errorf("%v, want %v; the server counted %d", got, want, served.Load())
	}
}
