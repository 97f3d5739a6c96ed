package rereport

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// oldFiles writes a run of GenAI-Perf: requests from an instant (ms) on, one after the other, each with events 10, 14 and 20 ms after its start.
func oldFiles(t *testing.T, dir, model string, at int64, requests int) {
	t.Helper()
	const ms = 1_000_000
	event := func(text string) map[string]string {
		return map[string]string{"response": fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)}
	}
	var list []any
	for k := range requests {
		start := (1_700_000_000_000 + at + int64(k)*20) * ms
		list = append(list, map[string]any{
			"timestamp": start, "request_inputs": map[string]string{"payload": fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"a b"}],"stream":true}`, model)},
			"response_timestamps": []int64{start + 10*ms, start + 14*ms, start + 20*ms}, "response_outputs": []any{event(" token"), event(" token"), event(" token")},
		})
	}
	write := func(name string, v any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("profile_export.json", map[string]any{"experiments": []any{map[string]any{"requests": list}}})
	write("profile_export_genai_perf.json", map[string]any{
		"input_config": map[string]any{
			"model_names": []string{model}, "endpoint": map[string]any{"type": "chat", "streaming": true}, "tokenizer": map[string]string{"name": "builtin"},
			"perf_analyzer": map[string]any{"stimulus": map[string]int{"concurrency": 1}}, "input": map[string]any{"goodput": map[string]float64{"request_latency": 25}},
		},
		"telemetry_stats": map[string]any{"gpu_power_usage": map[string]any{"unit": "W", "0": map[string]float64{"avg": 200, "p99": 210}}},
	})
}

// TestMerge: figures by hand; rates of runs one after the other are summed, those of runs side by side are of their common window.
func TestMerge(t *testing.T) {
	for _, one := range []struct {
		second   int64 // ms at which the second run begins
		headline string
		rate     float64 // 3 requests in 60 ms are 50/s
		goodput  float64 // all requests are good; runs one after the other share no time, so it is that of the average run
		seconds  float64
	}{{5000, "sum", 100, 50, 0.12}, {20, "sum", 100, 100, 0.08}, {0, "window", 100, 100, 0.06}} {
		in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		oldFiles(t, filepath.Join(in, "a"), "m", 0, 3)
		oldFiles(t, filepath.Join(in, "b"), "m", one.second, 3)
		if err := os.Mkdir(filepath.Join(in, "empty"), 0o700); err != nil {
			t.Fatal(err)
		}
		dirs, err := Below(in)
		if err != nil || len(dirs) != 2 {
			t.Fatal(dirs, err)
		}
		made, err := Merge(t.Context(), MergeOptions{Dirs: dirs, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		s := made.Run.Profiling
		for _, want := range []struct {
			tag  string
			stat metric.Stat
			v    float64
		}{
			{"request_count", metric.Avg, 6}, {"time_to_first_token", metric.Avg, 10}, {"time_to_second_token", metric.Avg, 4}, {"request_latency", metric.P99, 20},
			{"inter_token_latency", metric.Avg, 5}, {"output_sequence_length", metric.Avg, 3}, {"request_throughput", metric.Avg, one.rate}, {"goodput", metric.Avg, one.goodput}, {"benchmark_duration", metric.Avg, one.seconds},
		} {
			if got := s.Value(want.tag, want.stat); math.Abs(got-want.v) > 1e-9*want.v {
				t.Errorf("%s: %s is %v, want %v", one.headline, want.tag, got, want.v)
			}
		}
		text, err := os.ReadFile(filepath.Join(out, "merged.json"))
		var m mergeManifest
		if err != nil || json.Unmarshal(text, &m) != nil || m.Headline != one.headline || len(m.Runs) != 2 || m.Runs[1].Throughput != 50 {
			t.Errorf("%+v %v", m, err)
		}
		if g := made.Run.GPU; len(g.Endpoints) != 2 || g.Endpoints[1].Name != "b" || g.Endpoints[1].GPUs[0].Metrics[0].Values[metric.P99] != 210 {
			t.Errorf("GPUs: %+v", g)
		}
	}
}

// TestMergeRefuses: runs of different work, files that are damaged, a result among the runs.
func TestMergeRefuses(t *testing.T) {
	in := t.TempDir()
	oldFiles(t, filepath.Join(in, "a"), "m", 0, 1)
	oldFiles(t, filepath.Join(in, "b"), "other", 0, 1)
	dirs := []string{filepath.Join(in, "a"), filepath.Join(in, "b")}
	try := func(want string, o MergeOptions) {
		t.Helper()
		if o.Out == "" {
			o.Out = t.TempDir()
		}
		if _, err := Merge(t.Context(), o); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	try("a and b are not parts of one run: model differs (m and other)", MergeOptions{Dirs: dirs})
	try("", MergeOptions{Dirs: dirs, Force: true})
	try("is one of the runs", MergeOptions{Dirs: dirs, Out: dirs[0]})
	if err := os.WriteFile(filepath.Join(in, "b", "profile_export.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	try("b/profile_export.json: ", MergeOptions{Dirs: dirs})
	if _, err := Below(filepath.Join(in, "a")); err == nil || !strings.Contains(err.Error(), "contains a run") {
		t.Error(err)
	}
}

// TestEndOfMergedRuns: a merged run was cancelled, or is not complete, if one of its runs was or is not. A run cannot occur twice.
func TestEndOfMergedRuns(t *testing.T) {
	no := false
	run := func(name, id string, prior priorSummary) part {
		prior.BenchmarkID = id
		return part{member: ownRun{&source{prior: prior}}, name: name, settings: &config.Benchmark{}}
	}
	whole, cut := run("a", "1", priorSummary{}), run("b", "2", priorSummary{Cancelled: true, Complete: &no, IncompleteReason: "Run cancelled."})
	for want, parts := range map[string][]part{
		"false ":                               {whole, run("c", "3", priorSummary{})},
		"true The run b is not complete.":      {whole, cut},
		"true The runs b, d are not complete.": {whole, cut, run("d", "4", priorSummary{Complete: &no})},
		"false The run e is not complete.":     {run("e", "5", priorSummary{IncompleteReason: "too many failures"}), {member: &oldRun{}, name: "old"}},
	} {
		cancelled, incomplete := endOf(parts)
		if got := fmt.Sprint(cancelled, " ", incomplete); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := distinct([]part{whole, cut, run("copy", "1", priorSummary{})}); err == nil || err.Error() != "a and copy are the same run (benchmark id 1)" {
		t.Error(err)
	}
	if err := distinct([]part{whole, cut}); err != nil {
		t.Error(err)
	}
}

// TestMergeFailures: a run in which no request succeeded has no throughput and no duration; it adds nothing to those of the others.
func TestMergeFailures(t *testing.T) {
	o := &MergeOptions{Out: t.TempDir()}
	failed := new(metric.Summary)
	if err := o.headline(&Result{Run: &metric.Run{Profiling: new(metric.Summary)}}, []part{{name: "a"}, {name: "b"}}, []*metric.Summary{failed, failed}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Out, "merged.json"))
	if err != nil || !strings.Contains(string(text), `"request_throughput": 0`) {
		t.Errorf("%v %s", err, text)
	}
}
