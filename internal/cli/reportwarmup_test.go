package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportOfAWarmup: the report of a run that ended in its warm-up has the files of the run, the list of phases among them, and the exit status of the run.
// A warning says that there is no summary.
func TestReportOfAWarmup(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "again")
	for name, text := range map[string]string{
		"profile_export_raw.jsonl": `{"metadata":{"session_num":0,"x_request_id":"a","conversation_id":"c","turn_index":0,"request_start_ns":1000000000,"request_end_ns":1001000000,"benchmark_phase":"warmup","phase_index":0,"phase_name":"warmup","phase_kind":"warmup","was_cancelled":false},` +
			`"start_perf_ns":5,"status":200,"responses":[{"perf_ns":1000000,"text":"{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}"}],` +
			`"payload":{"messages":[{"role":"user","content":"hi"}],"model":"m"}}` + "\n",
		"phase_manifest.json": `{"phases":[{"phase_name":"warmup","phase_kind":"warmup","phase_index":0,"start_ns":1000000000,"end_ns":1001000000,"was_cancelled":true}],"schema_version":1}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, _, errs := say(t, nil, "report "+dir+" --endpoint-type chat --tokenizer builtin --artifact-dir "+out)
	if status != 1 || !strings.Contains(errs, "error: no request of a measured phase has finished") || !strings.Contains(errs, "warning: there is no profile_export_aiperf.json next to the raw export: the run may have been killed") {
		t.Errorf("status %d: %s", status, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, errs := say(t, nil, "report "+dir+" --endpoint-type chat --tokenizer builtin --artifact-dir "+out+"2"); !strings.Contains(errs, "profile_export_aiperf.json cannot be read") {
		t.Error(errs)
	}
	for _, name := range []string{"phase_manifest.json", "phases/warmup/profile_export_aiperf.json", "profile_export_aiperf.json"} {
		if text, err := os.ReadFile(filepath.Join(out, name)); err != nil || !strings.Contains(string(text), `"was_cancelled"`) && strings.Contains(name, "manifest") {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}
