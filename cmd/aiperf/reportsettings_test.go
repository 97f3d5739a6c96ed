//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestReportReadsAnswersAsTheRun: what the extras say of answers, and a probe, hold in a report too.
func TestReportReadsAnswersAsTheRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const frames = `{"messages":[{"inputs":[{"name":"text_input","datatype":"BYTES","shape":["1"],"contents":{"bytesContents":["aGk="]}},` +
		`{"name":"stream","datatype":"BOOL","shape":["1"],"contents":{"boolContents":[true]}}]}]}` + "\n"
	in := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(in, []byte(frames), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"template": {"--endpoint-type", "template", "--extra-inputs", `payload_template:{"text": {{ text|tojson }}}`, "--extra-inputs", "response_field:text", "--isl", "9"},
		"dynamic_grpc": {"--endpoint-type", "dynamic_grpc", "--grpc-method", "inference.GRPCInferenceService/ModelStreamInfer", "--streaming", "--input-file", in,
			"--custom-dataset-type", "raw_payload", "--extra-inputs", "response_field:infer_response.outputs[0].name"},
		"probe": {"--streaming", "--probe", "--isl", "9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, append([]string{"--model", "m", "--tokenizer", "builtin", "--url", "mock://?ttft=1ms&itl=1ms&tokens=5&answers-as=other", "--request-count", "3",
				"--export-level", "raw", "--no-gpu-telemetry", "--ui", "none"}, args...)...)
			if got := p.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			again := filepath.Join(t.TempDir(), "again")
			if out, err := command(t, "report", p.dir, "--artifact-dir", again).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var runs [2]struct {
				Length   struct{ Avg float64 } `json:"output_sequence_length"`
				Request  struct{ Avg float64 } `json:"request_latency"`
				Probe    struct{ Findings []string }
				Validity struct{ Notes []string }
			}
			for i, dir := range []string{p.dir, again} {
				data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
				if err == nil {
					err = json.Unmarshal(data, &runs[i])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			live, report := &runs[0], &runs[1]
			if live.Length.Avg == 0 || live.Length != report.Length || live.Request != report.Request || len(live.Validity.Notes) != len(report.Validity.Notes) ||
				len(live.Probe.Findings) != len(report.Probe.Findings) || (name == "probe") != (len(live.Probe.Findings) == 1) {
				t.Errorf("the run %+v\nthe report %+v", *live, *report)
			}
		})
	}
}
