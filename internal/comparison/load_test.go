package comparison

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummaryBesideRecords: records alone are a run of which no more is known; a summary that cannot be read is an error, for it may say
// that the run was cut short.
func TestSummaryBesideRecords(t *testing.T) {
	dir := t.TempDir()
	record := `{"metadata":{"benchmark_phase":"profiling","request_start_ns":1000000000,"request_end_ns":3000000000},"metrics":{"request_latency":{"value":2000}}}`
	if err := os.WriteFile(filepath.Join(dir, recordsFile), []byte(record+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := Load(dir, 0)
	if err != nil || len(runs) != 1 || runs[0].Seconds != 2 || runs[0].Doubt != "" || len(runs[0].Settings) != 0 {
		t.Errorf("%+v, %v; want one run of 2 s without facts", runs, err)
	}
	if err := os.Mkdir(filepath.Join(dir, summaryFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, 0); err == nil || !strings.Contains(err.Error(), summaryFile) {
		t.Errorf("a summary that is a directory: %v", err)
	}
}
