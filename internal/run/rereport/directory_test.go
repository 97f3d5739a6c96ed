package rereport

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
)

// directory lays a recorded run of the Python tool out as that left it; "" = the recording has no raw export.
func (g *golden) directory(t *testing.T) string {
	t.Helper()
	raw := g.raw(t)
	if raw == "" {
		return ""
	}
	dir := filepath.Dir(raw)
	for name, from := range map[string]string{"profile_export.jsonl": "records.jsonl.gz", "profile_export_aiperf.json": "summary.json.gz"} {
		if data := unzip(t, filepath.Join("testdata", g.name, from)); data != nil {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestHTTPTimesOfThePythonTool: the times of the socket stand in its records alone, and a report takes them from there.
func TestHTTPTimesOfThePythonTool(t *testing.T) {
	compared := 0
	for _, g := range cases(t) {
		dir := g.directory(t)
		if dir == "" || g.summary == nil || g.name == "midstream" { // whose requests fail here
			continue
		}
		runs, err := Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Report(t.Context(), Options{Input: runs[0], Dir: filepath.Join(dir, "report"), Version: "test"})
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		want := map[string]json.RawMessage{}
		for tag, v := range g.summary {
			if strings.HasPrefix(tag, "http_req_") {
				want[tag] = v
			}
		}
		for tag, raw := range want {
			var stats map[string]any
			if json.Unmarshal(raw, &stats) != nil {
				continue
			}
			for s := metric.Avg; s < metric.Stats; s++ {
				if w, ok := stats[s.String()].(float64); ok {
					compared++
					if got := made.Run.Profiling.Value(tag, s); !near(got, w) {
						t.Errorf("%s: %s %s: %v, want %v", g.name, tag, s, got, w)
					}
				}
			}
		}
		if _, ok := made.Run.Profiling.Get("dispatch_lag"); ok && g.name != "http_trace" {
			t.Errorf("%s: a dispatch lag of requests whose send nobody stamped", g.name)
		}
	}
	if compared < 1000 {
		t.Errorf("only %d values compared", compared)
	}
}

// line is a request of an export, in which a test may change something.
const line = `{"metadata":{"x_request_id":"ID","benchmark_phase":"profiling","request_start_ns":1000000,"request_end_ns":9000000},"start_perf_ns":1000,` +
	`"status":STATUS,"responses":[{"perf_ns":5000,"text":"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}","content_type":"application/json"}],` +
	`"payload":{"model":"m","messages":[{"role":"user","content":"a b"}]}BENCHMARK}` + "\n"

func exportLine(id, status, benchmark string) string {
	if benchmark != "" {
		benchmark = `,"benchmark_id":"` + benchmark + `"`
	}
	return strings.NewReplacer("ID", id, "STATUS", status, "BENCHMARK", benchmark).Replace(line)
}

// reportOfText makes the report of an export, with files next to it.
func reportOfText(t *testing.T, export string, beside map[string]string) (*Result, error) {
	t.Helper()
	dir := t.TempDir()
	beside["profile_export_raw.jsonl"] = export
	for name, text := range beside {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Find(dir)
	if err != nil {
		return nil, err
	}
	return Report(t.Context(), Options{Input: runs[0], Dir: filepath.Join(dir, "report")})
}

func TestAStatusThatFailsIsAFailedRequest(t *testing.T) {
	made, err := reportOfText(t, exportLine("a", "200", "")+exportLine("b", "500", ""), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	s := made.Run.Profiling
	if s.Valid != 1 || s.Failed != 1 || len(s.Errors) != 1 || s.Errors[0].Error.Code != 500 || s.Errors[0].Error.Type != "Internal Server Error" {
		t.Errorf("%d valid, %d failed: %+v", s.Valid, s.Failed, s.Errors)
	}
}

func TestRunsAreNotMixed(t *testing.T) {
	summary := func(id string) map[string]string {
		return map[string]string{"profile_export_aiperf.json": `{"benchmark_id":"` + id + `"}`}
	}
	if _, err := reportOfText(t, exportLine("a", "200", "one")+exportLine("b", "200", "one"), summary("one")); err != nil {
		t.Errorf("its own files: %v", err)
	}
	if _, err := reportOfText(t, exportLine("a", "200", "one"), summary("two")); err == nil || !strings.Contains(err.Error(), "is of run two") {
		t.Errorf("the summary of another run: %v", err)
	}
	if _, err := reportOfText(t, exportLine("a", "200", "one")+exportLine("b", "200", "two"), map[string]string{}); err == nil || !strings.Contains(err.Error(), `request b is of run "two"`) {
		t.Errorf("lines of two runs: %v", err)
	}
	if _, err := reportOfText(t, exportLine("a", "200", "one"), map[string]string{"foo_raw.jsonl": ""}); err == nil || !strings.Contains(err.Error(), "2 raw exports") {
		t.Errorf("two exports: %v", err)
	}
}

// TestSearchOfARun: the search of a run for the limit of the load is in its files and in the report; unreadable files do not prevent the report.
func TestSearchOfARun(t *testing.T) {
	beside := map[string]string{
		"adaptive_scale_manifest.json":             `{"adaptive_phases":[{"phase_name":"climb","events_path":"phases/climb/adaptive_scale_events.jsonl","summary_path":"phases/climb/adaptive_scale_summary.json"}]}`,
		"phases/climb/adaptive_scale_events.jsonl": `{"event":"adaptive_window","timestamp_ns":1,"control_variable":"concurrency","control_value_before":2,"sla_passed":true}` + "\n",
		"phases/climb/adaptive_scale_summary.json": `{"completed_reason":"max_control_value_reached_without_saturation","last_passing_value":2}`,
	}
	made, err := reportOfText(t, exportLine("a", "200", ""), beside)
	if err != nil || len(made.Run.Adaptive) != 1 {
		t.Fatalf("%v: no search", err)
	}
	if s := made.Run.Adaptive[0]; s.Phase != "climb" || len(s.Windows) != 1 || s.LastGood != 2 {
		t.Errorf("%+v", s)
	}
	if there, err := runfiles.Open(made.Layout.Dir).Adaptive(); err != nil || fmt.Sprint(there) != fmt.Sprint(made.Run.Adaptive) {
		t.Errorf("the new directory has %+v, %v", there, err)
	}
	beside["adaptive_scale_manifest.json"] = "{"
	if made, err = reportOfText(t, exportLine("a", "200", ""), beside); err != nil || made.Run.Adaptive != nil {
		t.Errorf("files that cannot be read: %v", err)
	}
}
