package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/sim/mockserver"
)

// exporter answers the n-th request for its page, from 1 on.
func exporter(t *testing.T, page func(w http.ResponseWriter, r *http.Request, n int64)) string {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("an exporter got the user's key")
		}
		page(w, r, asked.Add(1))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestBadExporters: exporters never change the requests of a run, and its files say what was lost.
func TestBadExporters(t *testing.T) {
	testhome.Slow(t)
	var served atomic.Int64
	dir := t.TempDir()
	b := whole(dir, answers(t, &served), 6)
	b.ServerMetrics.Enabled, b.ServerMetrics.Formats = true, []string{"json", "csv", "jsonl", "parquet"}
	b.Environment.Server.CollectionInterval, b.Environment.Server.FlushPeriod = 0.02, 0.5
	counter := func(w http.ResponseWriter, n int64) {
		fmt.Fprintf(w, "# TYPE good_total counter\ngood_total %d\n", 10*n)
	}
	b.ServerMetrics.URLs = []string{
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { counter(w, n) }),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // dies
			if n > 3 {
				panic(http.ErrAbortHandler)
			}
			counter(w, n)
		}),
		exporter(t, func(w http.ResponseWriter, r *http.Request, n int64) { // stalls
			if counter(w, n); n > 3 {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // sends a gigabyte
			if n > 3 {
				w.Header().Set("Content-Length", "1000000000")
			}
			counter(w, n)
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // changes its families
			fmt.Fprintf(w, "# TYPE changes %s\nchanges %d\nbroken {\n", map[bool]string{true: "gauge", false: "counter"}[n < 3], n)
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, _ int64) { fmt.Fprint(w, "<html>no metrics</html>") }),
	}
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if run.Profiling.Valid != 6 || run.Profiling.Failed != 0 {
		t.Errorf("%d valid and %d failed requests", run.Profiling.Valid, run.Profiling.Failed)
	}
	var told struct {
		Summary struct {
			Errors []struct {
				Type, Message string
				Count         int
			} `json:"error_summary"`
		}
		Metrics map[string]struct {
			Series []struct {
				URL   string `json:"endpoint_url"`
				Stats map[string]float64
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "server_metrics_export.json"))
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range told.Summary.Errors {
		if e.Count < 1 {
			t.Errorf("%+v", e)
		}
		seen[e.Type] = true
	}
	for _, kind := range []string{"ServerDisconnectedError", "PayloadTooLarge", "TypeChanged", "ParseError", "GivenUp"} {
		if !seen[kind] {
			t.Errorf("nothing says %s: %+v", kind, told.Summary.Errors)
		}
	}
	if !seen["TimeoutError"] && !seen["ScrapeSkipped"] {
		t.Errorf("nothing says that an exporter stalled: %+v", told.Summary.Errors)
	}
	// Each of four has two pages before the phase and one within it at least, which is 10 more.
	good := told.Metrics["good"].Series
	if len(good) != 4 {
		t.Errorf("%+v", good)
	}
	for _, s := range good {
		if s.Stats["total"] < 10 {
			t.Errorf("%+v", s)
		}
	}
	for _, name := range []string{"server_metrics_export.csv", "server_metrics_export.jsonl", "server_metrics_export.parquet", "profile_export_timeline.jsonl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(errs.String(), "server metrics are incomplete: ") {
		t.Errorf("the report does not say what was lost: %s", errs.String())
	}
	if n := strings.Count(errs.String(), "is no longer read"); n != 3 { // the two, and the server itself, which answers everything with a stream of tokens
		t.Errorf("%d exporters were given up: %s", n, errs.String())
	}
}

// TestBadGPUExporters: the same of exporters of GPUs. The figures of those that said something rest on what they said.
func TestBadGPUExporters(t *testing.T) {
	var served atomic.Int64
	b := whole(t.TempDir(), answers(t, &served), 6)
	b.GPUTelemetry.Enabled, b.Environment.GPU.DefaultDCGMEndpoints, b.Environment.GPU.CollectionInterval = true, nil, 0.02
	energy := func(w http.ResponseWriter, n int64) { // grows by 1 J a look
		fmt.Fprintf(w, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"u\"} %d\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"u\"} 100\n", 1000*n)
	}
	b.GPUTelemetry.URLs = []string{
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { energy(w, n) }),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // dies
			if n > 3 {
				panic(http.ErrAbortHandler)
			}
			energy(w, n)
		}),
		exporter(t, func(w http.ResponseWriter, r *http.Request, n int64) { // stalls
			if energy(w, n); n > 3 {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // sends a gigabyte
			if n > 3 {
				w.Header().Set("Content-Length", "1000000000")
			}
			energy(w, n)
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, n int64) { // changes its families
			if n <= 3 {
				energy(w, n)
			} else {
				fmt.Fprintf(w, "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"u\"} %d\n", n)
			}
		}),
		exporter(t, func(w http.ResponseWriter, _ *http.Request, _ int64) { fmt.Fprint(w, "{\"no\":\"metrics\"}") }),
	}
	var errs locked
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	g := run.GPU
	if run.Profiling.Valid != 6 || run.Profiling.Failed != 0 || g == nil || len(g.Configured) != 6 || len(g.Successful) != 6 {
		t.Fatalf("%d valid and %d failed requests, %+v", run.Profiling.Valid, run.Profiling.Failed, g)
	}
	if len(g.Endpoints) < 2 || g.Endpoints[0].GPUs[0].Metrics[1].Values[metric.Avg] <= 0 {
		t.Errorf("%+v", g.Endpoints)
	}
	seen := map[string]bool{}
	for _, e := range g.Errors {
		seen[e.Error.Type] = true
	}
	for _, kind := range []string{"ServerDisconnectedError", "PayloadTooLarge", "ParseError"} {
		if !seen[kind] {
			t.Errorf("nothing says %s: %+v", kind, g.Errors)
		}
	}
	if !seen["TimeoutError"] && !seen["ScrapeSkipped"] {
		t.Errorf("nothing says that an exporter stalled: %+v", g.Errors)
	}
	if !strings.Contains(errs.String(), "GPU telemetry is incomplete: ") {
		t.Errorf("the report does not say what was lost: %s", errs.String())
	}
}

// served are the instants of the pages that a simulated exporter of GPUs served, by its own log.
func served(t *testing.T, path string) (at []int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one mockserver.Truth
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one.Path == "/dcgm/metrics" {
			at = append(at, one.Arrival)
		}
	}
	slices.Sort(at)
	return at
}

// TestSimulatedGPUs: energy, power and what follows from them are those of the simulated exporter, whose truth is known: GPU i draws 100 (i + 1) W, and
// its log has the instant of every page.
func TestSimulatedGPUs(t *testing.T) {
	testhome.Slow(t)
	dir := t.TempDir()
	truth := filepath.Join(dir, "truth.jsonl")
	b := whole(dir, "mock://?ttft=30ms&itl=10ms&tokens=20&dcgm=2&truth-log="+url.QueryEscape(truth), 12)
	b.GPUTelemetry.Enabled, b.NetworkLatency.Enabled = true, true
	b.Environment.GPU.DefaultDCGMEndpoints = nil
	b.Environment.GPU.CollectionInterval, b.NetworkLatency.PingInterval = 0.1, 0.1
	b.Environment.Network.MinSamples, b.Environment.Network.ConnectTimeout = 7, 30
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
	if err != nil {
		t.Fatal(err)
	}
	g := run.GPU
	if g == nil || len(g.Endpoints) != 1 || len(g.Endpoints[0].GPUs) != 2 || len(g.Errors) != 0 {
		t.Fatalf("%+v", g)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "gpu_telemetry_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pages := served(t, truth)
	for i, gpu := range g.Endpoints[0].GPUs {
		watts := 100 * float64(i+1)
		// Every line of the file is a page that was served: its energy is the first one's and what was drawn between the two.
		var first float64
		var from, to int64 // instants of the pages that the figure is the difference of: the last before the window and the last in it
		for line := range bytes.Lines(lines) {
			var one struct {
				GPU  int                `json:"gpu_index"`
				At   int64              `json:"timestamp_ns"`
				Data map[string]float64 `json:"telemetry_data"`
			}
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatal(err)
			}
			if one.GPU != i {
				continue
			}
			joule := one.Data["nvidia_energy_consumption"] * 1e6
			if first == 0 {
				first = joule
			}
			k := slices.IndexFunc(pages, func(at int64) bool { return math.Abs(first+watts*float64(at-pages[0])/1e9-joule) < 1e-4 })
			if k < 0 || one.At < pages[k] {
				t.Fatalf("GPU %d: no page served has %v J", i, joule)
			}
			if one.At < g.Window.From {
				from = pages[k]
			} else if one.At <= g.Window.To {
				to = pages[k]
			}
		}
		want := watts * float64(to-from) / 1e9 // J
		for _, m := range gpu.Metrics {
			switch m.Tag {
			case "nvidia_energy_consumption":
				if got := m.Values[metric.Avg] * 1e6; from == 0 || math.Abs(got-want) > 1e-4 {
					t.Errorf("GPU %d: %v J, want %v J", i, got, want)
				}
			case "nvidia_power_usage":
				if m.Values[metric.Avg] != watts || m.Values[metric.Std] != 0 {
					t.Errorf("GPU %d: %v W", i, m.Values)
				}
			}
		}
	}
	get := func(tag string) float64 { return run.Profiling.Value(tag, metric.Avg) }
	energy := get("nvidia_total_gpu_energy")
	for tag, want := range map[string]float64{
		"nvidia_total_gpu_power": 300, "nvidia_average_gpu_power": energy / get("benchmark_duration"), "nvidia_energy_per_request": energy / 12, "nvidia_energy_per_user": energy / 2,
		"nvidia_output_tokens_per_joule": get("total_osl") / energy, "network_adjusted_request_latency": get("request_latency") - get("network_rtt"),
	} {
		if got := get(tag); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s: %v, want %v", tag, got, want)
		}
	}
	probes, err := os.ReadFile(filepath.Join(dir, "profile_export_network_latency.jsonl"))
	if err != nil || bytes.Count(probes, []byte(`"success":true`)) < 7 {
		t.Errorf("%v: %s", err, probes)
	}
}

// TestGivenRoundTrip: the network latency that the user states is subtracted from the latencies, down to 0.
func TestGivenRoundTrip(t *testing.T) {
	var served atomic.Int64
	b := whole(t.TempDir(), answers(t, &served), 3)
	b.NetworkLatency = config.NetworkLatency{Enabled: true, MeanMs: ptr(1e6), PingInterval: 1}
	run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
	if err != nil {
		t.Fatal(err)
	}
	if rtt, left := run.Profiling.Value("network_rtt", metric.Avg), run.Profiling.Value("network_adjusted_request_latency", metric.Max); rtt != 1e6 || left != 0 {
		t.Errorf("round trip %v ms, %v ms are left", rtt, left)
	}
}
