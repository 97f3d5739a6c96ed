package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeRecords writes n records of a run to a directory. Every 10th request went to the second server and is slow.
func writeRecords(t *testing.T, dir string, n int) {
	t.Helper()
	var b strings.Builder
	for i := range n {
		url, ttft := 0, 20+float64(i%7)
		if i%10 == 3 {
			url, ttft = 1, 90+float64(i%13)
		}
		start := 1_700_000_000_000_000_000 + int64(i)*10_000_000
		fmt.Fprintf(&b, `{"metadata":{"x_request_id":"r%d","url_index":%d,"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"time_to_first_token":{"value":%g,"unit":"ms"},"request_latency":{"value":%g,"unit":"ms"},"output_token_throughput_per_user":{"value":%g,"unit":"x"}}}`+"\n",
			i, url, start, start+int64(2*ttft*1e6), ttft, 2*ttft, 1000/ttft)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"profile_export.jsonl": b.String(), "profile_export_aiperf.json": `{"input_config":{"endpoint":{"urls":["http://a","http://b"]}}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writeFailures writes the records of a run without a success. Failed requests have facts of their connections.
func writeFailures(t *testing.T, dir string) {
	t.Helper()
	const line = `{"metadata":{"x_request_id":"r","request_start_ns":1700000000000000000,"request_end_ns":1700000000010000000,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"tcp_smoothed_rtt":{"value":1,"unit":"ms"}},"error":{"code":500,"type":"Internal Server Error","message":"m"}}`
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"profile_export.jsonl": line + "\n", "profile_export_aiperf.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExplain: the command names the slow server, prints JSON and nothing else with --json, writes the page, and says what is wrong with its input.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	run, failed, small, series, empty := filepath.Join(dir, "run"), filepath.Join(dir, "failed"), filepath.Join(dir, "small"), filepath.Join(dir, "series"), filepath.Join(dir, "empty")
	writeRecords(t, run, 600)
	writeRecords(t, small, 60)
	writeRecords(t, filepath.Join(series, "one"), 10)
	writeFailures(t, failed)
	writeRecords(t, filepath.Join(series, "two"), 10)
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "slow.html")
	const slowServer = "100 % of the slow requests went to http://b; "
	for args, want := range map[string]string{
		run:                                   "1. " + slowServer,
		run + "/profile_export.jsonl":         "1. " + slowServer,
		run + " --metric latency --above p90": "Req Latency above",
		run + " --all --server-model":         "No model of Inter-token latency: the run has no inter-token latencies.",
		run + " --html " + page:               "1. " + slowServer,
		run + " --metric output_token_throughput_per_user":             "below",
		run + " --metric output_token_throughput_per_user --above p95": "more output_token_throughput_per_user is better",
		run + " --metric latency --below p5":                           "less request_latency is better",
		run + " --below p5":                                            "--below needs --metric",
		run + " --metric output_token_throughput_per_user --below p5":  "below",
		"":                                    "error: explain takes one run directory, not 0",
		run + " " + small:                     "error: explain takes one run directory, not 2",
		dir + "/none":                         "error: " + dir + "/none does not exist",
		empty:                                 "error: " + empty + " has no run",
		series:                                "has 2 runs; explain takes one of them: ",
		small:                                 "too few to explain its p90: at least 201 are needed",
		small + " --above p99":                "at least 2001 are needed, so that 20 are slow",
		run + " --metric time_to_first_tokn":  "did you mean time_to_first_token?",
		run + " --metric request_count":       "request_count is not a latency or speed of single requests",
		run + " --metric inter_token_latency": "no request of the run has the metric inter_token_latency; it has ",
		failed:                                "error: no request of the run succeeded, so there is nothing to explain; ",
		run + " --above 99":                   `error: --above "99" is not a percentile above p0 and below p100; write for example --above p95`,
		run + " --below p0":                   "write for example --below p5",
		run + " --above p95 --below p5":       "exclude each other",
		run + " --abov p95":                   "--above",
	} {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}}
		status := Main(t.Context(), p, append([]string{"explain"}, strings.Fields(args)...))
		text := out.String()
		if failed := strings.HasPrefix(want, "error") || errs.Len() > 0 && !strings.Contains(args, "--html"); failed {
			if text = errs.String(); status != 1 || out.Len() > 0 {
				t.Errorf("%s: status %d, output %q", args, status, out.String())
			}
		} else if status != 0 {
			t.Errorf("%s: status %d", args, status)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", args, want, text)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), slowServer) {
		t.Errorf("the page lacks the explanation: %v", err)
	}
	var out, errs strings.Builder
	p := &Program{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}}
	if status := Main(t.Context(), p, []string{"explain", run, "--json"}); status != 0 || errs.Len() > 0 {
		t.Fatal(status, errs.String())
	}
	var got struct {
		Kind      string `json:"kind"`
		StandsOut bool   `json:"significant"`
		Threshold struct{ Direction string }
		Facts     []struct {
			Name              string
			Effect, Low, High float64
			Holm              float64 `json:"p_holm"`
			Slow              struct{ Known, Share float64 }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	first := got.Facts[0]
	if got.Kind != "explanation" || !got.StandsOut || got.Threshold.Direction != "above" || first.Name != "server=http://b" || first.Slow.Share != 1 || !(first.Low < first.Effect && first.Effect <= first.High) || first.Holm > 0.05 {
		t.Errorf("%+v", got)
	}
}
