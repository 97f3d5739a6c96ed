package comparison

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumbersOutOfRange: a number that a double cannot hold is an error with its place, in the records and in the summary. No run is compared
// without the figure.
func TestNumbersOutOfRange(t *testing.T) {
	const line = `{"metadata":{"request_start_ns":1,"request_end_ns":2000000,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":2,"unit":"ms"}}}` + "\n"
	const summary = `{"benchmark_id":"x","request_latency":{"unit":"ms","avg":2}}`
	for _, c := range []struct{ records, summary, want string }{
		{line + line, summary, ""},
		{line + strings.Replace(line, `"value":2`, `"value":1e400`, 1), summary, ":2: the number 1e400 is not a finite 64-bit number"},
		{line + strings.Replace(line, `"value":2`, `"value":-1e999`, 1), summary, ":2: the number -1e999 is not a finite 64-bit number"},
		{line, strings.Replace(summary, `"avg":2`, `"avg":1e400`, 1), summaryFile + ": request_latency.avg: the number 1e400 is not a finite 64-bit number"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "profile_export.jsonl")
		for name, text := range map[string]string{path: c.records, filepath.Join(dir, summaryFile): c.summary} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := load(path, 0)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
