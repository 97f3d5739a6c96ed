package archtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// value is what the test reads of a metric: of a request a number or a list, of a run its statistics.
type value struct {
	Value any
	Avg   float64
	Max   float64
	Count int
	Unit  string
}

// TestHowtoRun: the edits of the pages for a metric, an observer, a telemetry source and a column give all four in a run, and change two files for
// each, three for the metric and one for the column.
func TestHowtoRun(t *testing.T) {
	testhome.Slow(t)
	program, files := followed(t)
	for page, want := range map[string]int{"metric.md": 3, "observer.md": 2, "telemetry.md": 2, "column.md": 1} {
		if n := files[page]; n != want {
			t.Errorf("%s touches %d files, not %d", page, n, want)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command(program, "profile", "--url", "mock://?ttft=80ms&itl=5ms&tokens=12", "-m", "m", "--tokenizer", "builtin", "--streaming", "--concurrency", "2",
		"--request-count", "8", "--goodput", "longest_gap:60000", "--artifact-dir", dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	slow, measured, longest := 0, 0.0, 0.0
	for line := range strings.Lines(read("profile_export.jsonl")) {
		var record struct {
			Metrics map[string]value
			Pieces  int `json:"content_messages"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record.Pieces != 12 || strings.Count(line, `"content_messages"`) != 1 {
			t.Errorf("the column says %d, the server sent 12: %s", record.Pieces, line)
		}
		gaps, _ := record.Metrics["inter_chunk_latency"].Value.([]any)
		got, most := record.Metrics["longest_gap"], 0.0
		for _, g := range gaps {
			most = max(most, g.(float64))
		}
		if most == 0 && got.Value == nil { // a busy machine read the answer in one piece: nothing was measured
			continue
		}
		measured++
		if len(gaps) != 11 || got.Value != most || got.Unit != "ms" {
			t.Errorf("longest gap %v, of the gaps %v", got, gaps)
		}
		longest = max(longest, most)
		if record.Metrics["request_latency"].Value.(float64) > 100 {
			slow++
		}
	}
	var summary map[string]json.RawMessage
	var total, good value
	if err := json.Unmarshal([]byte(read("profile_export_aiperf.json")), &summary); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(summary["longest_gap"], &total); err != nil || total.Max != longest || total.Unit != "ms" {
		t.Errorf("%s %v, want a maximum of %v", summary["longest_gap"], err, longest)
	}
	if err := json.Unmarshal(summary["good_request_count"], &good); err != nil || good.Avg != measured {
		t.Errorf("good requests: %s %v", summary["good_request_count"], err)
	}
	if !strings.Contains(read("profile_export_aiperf.csv"), "\nLongest Gap (ms),") || !strings.Contains(out.String(), "Longest Gap (ms)") {
		t.Errorf("the tables lack the metric:\n%s", out.String())
	}

	log := read("logs/aiperf.log")
	if n := strings.Count(log, "slow request"); n != slow || slow != 8 {
		t.Errorf("%d slow requests are noted, %d were, of 8", n, slow)
	}
	lines := slices.Collect(strings.Lines(log))
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "scraped") })
	if i < 0 || strings.Contains(lines[i], "pages=0") || strings.Contains(lines[i], "bytes=0") {
		t.Errorf("the server was not asked:\n%s", log)
	}
}
