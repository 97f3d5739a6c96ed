package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// say runs a command line in a directory that holds files.
func say(t *testing.T, files map[string]string, line string) (status int, out, errs string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var o, e strings.Builder
	status = Main(t.Context(), &Program{Streams: Streams{Out: &o, Err: &e}}, strings.Fields(line))
	return status, o.String(), e.String()
}

// worked is the example of the contract (blocks of 512).
const worked = `{"timestamp":0,"input_length":1500,"output_length":100,"hash_ids":[1,2,3]}
{"timestamp":501,"input_length":1400,"output_length":50,"hash_ids":[1,2,4],"session_id":"s"}
{"timestamp":900.5,"input_length":300,"output_length":20,"hash_ids":[5]}
`

func TestAnalyzeTrace(t *testing.T) {
	files := map[string]string{"t.jsonl": worked}
	status, out, errs := say(t, files, "analyze-trace t.jsonl 512 deep/r.json")
	if status != 0 || !strings.Contains(out, "Total requests:   3") || !strings.Contains(out, "│          Input Length │ 1,066.67 │  543.65 │ 300.00 │ 850.00 │") {
		t.Fatalf("%d\n%s%s", status, out, errs)
	}
	text, err := os.ReadFile("deep/r.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Reuse float64 `json:"prefix_reuse_ratio"`
		Hits  *struct {
			Max float64 `json:"max"`
		} `json:"hit_rate_stats"`
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Reuse != 4.0/7 || r.Hits.Max != 2.0/3 {
		t.Errorf("%s %v", text, err)
	}
	for line, want := range map[string]string{
		"analyze-trace none.jsonl": "none.jsonl does not exist", "analyze-trace t.jsonl --block-size 0": "--block-size 0: must be at least 1", "analyze-trace": "--input-file",
		"analyze-trace t.jsonl x": `--block-size "x"`, "analyze-trace t.jsonl --input-file t.jsonl": "given twice",
	} {
		if status, _, errs := say(t, files, line); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
	}
}

// TestSynthesizeTrace: the rows that the contract gives for prefix 2 and prompt 0.5, under every spelling.
func TestSynthesizeTrace(t *testing.T) {
	want := `{"timestamp":0,"input_length":2286,"output_length":100,"hash_ids":[2,3,4,5,7]}
{"timestamp":250,"input_length":2236,"output_length":50,"hash_ids":[2,3,4,5,8],"session_id":"s"}
{"timestamp":450,"input_length":150,"output_length":20,"hash_ids":[9]}
`
	for _, line := range []string{
		"synthesize trace t.jsonl o.jsonl --prefix-len-multiplier 2 --prompt-len-multiplier 0.5 --speedup-ratio 2",
		"synthesize t.jsonl o.jsonl --prefix-len-multiplier 2 --prompt-len-multiplier 0.5 --speedup-ratio 2",
		"synthesize --input-file t.jsonl --output-file o.jsonl --synthesis-prefix-len-multiplier 2 --synthesis-prompt-len-multiplier 0.5 --synthesis-speedup-ratio 2",
		"synthesize-trace t.jsonl o.jsonl --prefix-len-multiplier 2 --prompt-len-multiplier 0.5 --speedup-ratio 2 --block-size 512",
	} {
		status, out, errs := say(t, map[string]string{"t.jsonl": worked}, line)
		got, err := os.ReadFile("o.jsonl")
		if status != 0 || err != nil || string(got) != want || !strings.Contains(out, "3 rows written to o.jsonl") {
			t.Errorf("%s: %d %v\n%s%s\n%s", line, status, err, got, out, errs)
		}
	}
	for line, want := range map[string]string{
		"synthesize": "agentic-code", "synthesize trace": "--input-file", "synthesize trace t.jsonl t.jsonl": "is the trace itself", "synthesize trace t.jsonl --speedup-ratio 0": "--speedup-ratio 0: must be above 0",
		"synthesize trace t.jsonl --max-isl 5": "no rows left", "synthesize trace t.jsonl --custom-dataset-type single_turn": "is not a format of recorded traffic",
	} {
		if status, _, errs := say(t, map[string]string{"t.jsonl": worked}, line); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
		if _, err := os.Stat("t_synth.jsonl"); err == nil {
			t.Errorf("%s: something is written", line)
		}
	}
}

func TestValidate(t *testing.T) {
	files := map[string]string{
		"good.jsonl": worked, "bad.jsonl": "{\"input_length\": 5\nx\n\n{\"input_length\":3}\n{\"hash_ids\":[1]}\n", "mix.jsonl": "{\"session_id\":\"a\",\"text_input\":\"x\"}\n{\"session_id\":\"a\",\"payload\":{\"x\":1}}\n",
		"blocks.jsonl": "{\"input_length\":600,\"hash_ids\":[1,2]}\n{\"input_length\":100,\"hash_ids\":[1,2]}\n",
	}
	for line, want := range map[string][]string{
		"validate mooncake-trace --input good.jsonl":         {"0", "Validation passed: 3 rows"},
		"validate good.jsonl":                                {"0", "Validation passed: 3 rows"},
		"validate --target mooncake-trace --input bad.jsonl": {"1", "Validation failed with 3 error(s)", "Line 1: invalid JSON", "Line 2: ", "Line 5: exactly one of input_length"},
		"validate mooncake-trace mix.jsonl":                  {"1", "Line 2: payload: session"},
		"validate artifacts .":                               {"1", "bad.jsonl:1"},
		"validate mooncake-trace blocks.jsonl":               {"1", "with 1 error(s)", "Line 2: hash_ids: 2 ids of 512 tokens do not match input_length 100: the last block would have -412 tokens (allowed are 1 to 512; set the block size with --block-size"},
		"validate blocks.jsonl --block-size 64":              {"0", "2 rows"},
	} {
		status, out, errs := say(t, files, line)
		if want[0] != string(rune('0'+status)) {
			t.Errorf("%s: status %d, want %s: %s", line, status, want[0], errs)
		}
		for _, w := range want[1:] {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q does not say %q", line, out, w)
			}
		}
	}
	for line, want := range map[string]string{"validate": "--input", "validate none": "none", "validate other good.jsonl": `"other"`, "validate artifacts good.jsonl": "not a directory", "validate good.jsonl --block-size 0": "--block-size 0: must be at least 1"} {
		if status, _, errs := say(t, files, line); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
	}
}

// TestSynthesizeAgents: a new directory has the files, and profile accepts the rows.
func TestSynthesizeAgents(t *testing.T) {
	status, out, errs := say(t, nil, "synthesize agentic-code --num-sessions 3 --output traces --seed 7 --max-isl 90000")
	entries, err := os.ReadDir("traces")
	if status != 0 || err != nil || len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "default_3s_seed7_20") {
		t.Fatalf("%d %v %v\n%s%s", status, err, entries, out, errs)
	}
	for _, name := range []string{"dataset.jsonl", "manifest.json", "quality.json", "comparison.txt", "cache_structure.json", "report.html", "cache_explorer.html", "simulation.html"} {
		if info, err := os.Stat("traces/" + entries[0].Name() + "/" + name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := &Program{}
	if faults, passed, err := p.validateTrace("traces/"+entries[0].Name()+"/dataset.jsonl", 512); err != nil || len(faults) > 0 || !strings.Contains(passed, "Mooncake") {
		t.Errorf("%v %v %s", err, faults, passed)
	}
	for line, want := range map[string]string{
		"synthesize agentic-code --num-sessions 0": "--num-sessions 0", "synthesize agentic-code --config none.json": "none.json does not exist", "synthesize agentic-code --max-isl 1": "max_prompt_tokens",
	} {
		if status, _, errs := say(t, nil, line); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
	}
}

// TestAnonymizeTrace: refusals; what is made of rows is tested in package trace.
func TestAnonymizeTrace(t *testing.T) {
	files := map[string]string{"c.jsonl": `{"messages":[{"role":"user","content":"x"}],"output":"y"}`}
	for line, want := range map[string]string{
		"anonymize-trace c.jsonl": "--model", "anonymize-trace c.jsonl --model builtin --block-size 0": "--block-size 0", "anonymize-trace c.jsonl --model builtin": "no chat template",
	} {
		if status, _, errs := say(t, files, line); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s, want %q", line, status, errs, want)
		}
		if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
			t.Errorf("%s: %d files, %v", line, len(entries), err)
		}
	}
}

// TestValidateCounts: a summary that counts other requests than its records hold is reported.
func TestValidateCounts(t *testing.T) {
	record := func(phase, err string) string {
		return `{"metadata":{"benchmark_phase":"` + phase + `"},"error":` + err + "}\n"
	}
	lines := record("warmup", "null") + record("profiling", "null") + record("profiling", "null") + record("profiling", `{"code":500}`)
	for summary, want := range map[string]string{
		`{"request_count":{"avg":2},"error_request_count":{"avg":1}}`: "",
		`{"request_count":{"avg":3},"error_request_count":{"avg":1}}`: "request_count is 3, but profile_export.jsonl has 2",
		`{"request_count":{"avg":2}}`:                                 "error_request_count is 0, but profile_export.jsonl has 1",
		`{}`:                                                          "",
	} {
		status, out, _ := say(t, map[string]string{"profile_export_aiperf.json": summary, "profile_export.jsonl": lines}, "validate artifacts .")
		if (status == 0) != (want == "") || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s, want %q", summary, status, out, want)
		}
	}
}
