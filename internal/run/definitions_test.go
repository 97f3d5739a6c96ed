package run

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// ofFile makes a run send the rows of a file, without a stop condition.
func ofFile(t *testing.T, b *config.Benchmark, format, rows string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	d.Type, d.Path, d.Format, d.Prompts, d.Entries = config.DatasetFile, path, format, nil, 0
}

// TestLengthOfRawBodies: bodies of the user that have their own limit have a mismatch of lengths, as requests whose length the run chose.
func TestLengthOfRawBodies(t *testing.T) {
	body := func(limit string) string {
		return `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}],"max_tokens":` + limit + `}`
	}
	for format, rows := range map[string]string{
		"raw_payload": body("40") + "\n" + body("20") + "\n",
		"inputs_json": `{"data":[{"session_id":"s","payloads":[` + body("40") + `]},{"session_id":"t","payloads":[` + body("20") + `]}]}`,
	} {
		for _, kind := range []string{"chat", "raw"} {
			t.Run(format+" "+kind, func(t *testing.T) {
				b := whole(t.TempDir(), "mock://?ttft=0&itl=0&tokens=10", 2)
				ofFile(t, b, format, rows)
				if b.Endpoint.Type = kind; kind == "raw" {
					b.Endpoint.Path = ptr("/v1/chat/completions")
				}
				run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
				if err != nil {
					t.Fatal(err)
				}
				// 10 tokens where 40 were asked for, and where 20 were: -75 % and -50 %.
				if got := run.Profiling.Value("osl_mismatch_diff_pct", metric.Avg); got != -62.5 {
					t.Errorf("mismatch %v %%, want -62.5", got)
				}
			})
		}
	}
}
