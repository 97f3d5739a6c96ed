//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestRequestedLength: an answer of 5 tokens to a request for 10 is 50 % short, wherever the body has its limit. The run and its report agree, also where
// the lines of the raw export are as bare as those of the Python tool. A limit that an endpoint type sends by itself is nobody's request.
func TestRequestedLength(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const chat = `{"model":"m","messages":[{"role":"user","content":"hi"}]`
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw := []string{"--endpoint-type", "raw", "--custom-endpoint", "/v1/chat/completions", "--custom-dataset-type", "raw_payload", "--input-file"}
	for name, c := range map[string]struct {
		args    []string
		limited bool
	}{
		"osl":                     {[]string{"--isl", "9", "--osl", "10"}, true},
		"raw_payload":             {[]string{"--custom-dataset-type", "raw_payload", "--input-file", file("in.jsonl", chat+`,"max_tokens":10}`+"\n")}, true},
		"raw_payload, newer name": {[]string{"--custom-dataset-type", "raw_payload", "--input-file", file("in.jsonl", chat+`,"max_completion_tokens":10}`+"\n")}, true},
		"raw_payload, no limit":   {[]string{"--custom-dataset-type", "raw_payload", "--input-file", file("in.jsonl", chat+"}\n")}, false},
		"inputs_json": {[]string{"--custom-dataset-type", "inputs_json", "--input-file", file("inputs.json",
			`{"data":[{"session_id":"s","payloads":[`+chat+`,"max_tokens":10}]}]}`)}, true},
		"raw":               {append(raw[:len(raw):len(raw)], file("in.jsonl", chat+`,"max_completion_tokens":10}`+"\n")), true},
		"raw, no limit":     {append(raw[:len(raw):len(raw)], file("in.jsonl", chat+"}\n")), false},
		"responses":         {[]string{"--endpoint-type", "responses", "--custom-dataset-type", "raw_payload", "--input-file", file("in.jsonl", `{"model":"m","input":"hi","max_output_tokens":10}`+"\n")}, true},
		"extra inputs":      {[]string{"--isl", "9", "--extra-inputs", "max_tokens:10"}, true},
		"row of a dataset":  {[]string{"--custom-dataset-type", "single_turn", "--input-file", file("in.jsonl", `{"text":"hi","extra":{"max_tokens":10}}`+"\n")}, true},
		"template":          {[]string{"--endpoint-type", "template", "--custom-endpoint", "/v1/completions", "--extra-inputs", `{"payload_template":"{\"model\":\"m\",\"prompt\":{{ text|tojson }},\"max_tokens\":10}","response_field":"choices[0].text"}`, "--isl", "9"}, true},
		"default of a type": {[]string{"--endpoint-type", "messages", "--isl", "9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, append([]string{"--model", "m", "--tokenizer", "builtin", "--url", "mock://?ttft=1ms&itl=1ms&tokens=5", "--request-count", "2",
				"--export-level", "raw", "--no-gpu-telemetry", "--ui", "none"}, c.args...)...)
			if got := p.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			bare := filepath.Join(t.TempDir(), "bare.jsonl")
			lines, err := os.ReadFile(filepath.Join(p.dir, "profile_export_raw.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines = regexp.MustCompile(`"benchmark_id":"[^"]*",?|"requested_osl":\d+,`).ReplaceAll(lines, nil)
			if err := os.WriteFile(bare, bytes.ReplaceAll(lines, []byte(",}\n"), []byte("}\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			of := map[string]string{"run": p.dir, "report": filepath.Join(t.TempDir(), "again")}
			inputs := map[string]string{"report": p.dir}
			if c.limited {
				of["bare report"], inputs["bare report"] = filepath.Join(t.TempDir(), "bare"), bare
			}
			for kind, in := range inputs {
				args := []string{"report", in, "--artifact-dir", of[kind]}
				if kind == "bare report" {
					args = append(args, "--endpoint-type", endpointOf(c.args), "--tokenizer", "builtin")
				}
				if out, err := command(t, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", kind, err, out)
				}
			}
			for kind, dir := range of {
				var sum struct {
					Short  *struct{ Avg, Count float64 } `json:"osl_mismatch_diff_pct"`
					Length struct{ Avg float64 }         `json:"output_sequence_length"`
					Count  struct{ Avg float64 }         `json:"osl_mismatch_count"`
				}
				data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
				if err == nil {
					err = json.Unmarshal(data, &sum)
				}
				switch {
				case err != nil:
					t.Fatalf("%s: %v", kind, err)
				case (sum.Short != nil) != c.limited:
					t.Errorf("%s: osl_mismatch_diff_pct is there: %v, want %v", kind, sum.Short != nil, c.limited)
				case c.limited && (sum.Short.Avg != (sum.Length.Avg-10)*10 || sum.Short.Count != 2 || sum.Count.Avg != 2):
					t.Errorf("%s: %+v of %v tokens, %v requests", kind, *sum.Short, sum.Length.Avg, sum.Count.Avg)
				}
			}
		})
	}
}

// endpointOf is the endpoint type of a command line.
func endpointOf(args []string) string {
	for i, a := range args {
		if a == "--endpoint-type" {
			return args[i+1]
		}
	}
	return "chat"
}
