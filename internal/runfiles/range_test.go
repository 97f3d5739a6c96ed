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
		if err == nil || !strings.Contains(err.Error(), recordsFile+":2: the number "+number+" is no finite number of 64 bits") {
			t.Errorf("%s: %v", number, err)
		}
	}
}
