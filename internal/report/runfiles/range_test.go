package runfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumbersOutOfRange: a number that no program can calculate with is an error that names the line, not a panic of the page.
func TestNumbersOutOfRange(t *testing.T) {
	for _, number := range []string{"1e400", "-1e999", "NaN", "123456789012345678901234567890"} {
		dir := t.TempDir()
		line := `{"metadata":{"request_start_ns":1,"request_end_ns":2,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":1,"unit":"ms"}}}` + "\n"
		text := line + strings.Replace(line, `"value":1`, `"value":`+number, 1) + line
		if err := os.WriteFile(filepath.Join(dir, recordsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir).Requests()
		if err == nil || !strings.Contains(err.Error(), recordsFile+":2: the number "+number+" is not a finite 64-bit number") {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// TestSummaryOutOfRange: a statistic that a double cannot hold is an error that names the file and the key; it does not vanish from the report.
func TestSummaryOutOfRange(t *testing.T) {
	const whole = `{"input_config":{"random_seed":123456789012345678901234567890},"time_to_first_token":{"unit":"ms","avg":1,"p99":2},"request_latency":{"unit":"ms","avg":3}}`
	for _, c := range []struct{ was, is, key string }{
		{`"avg":1`, `"avg":1e400`, "time_to_first_token.avg"}, {`"avg":3`, `"avg":-1e999`, "request_latency.avg"}, {`"p99":2`, `"p99":2,"values":[1,2e5000]`, "time_to_first_token.values.1"},
		{`"p99":2`, `"p99":1e308`, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, summaryFile), []byte(strings.Replace(whole, c.was, c.is, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir).Summary()
		if c.key == "" {
			if err != nil {
				t.Errorf("%s: %v", c.is, err)
			}
			continue
		}
		if want := summaryFile + ": " + c.key + ": the number "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is not a finite 64-bit number") {
			t.Errorf("%s: %v", c.is, err)
		}
	}
}
