package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestLumpsOfAServer: a server that holds its stream back is named in the verdict, in the probe and in the files; the client is not blamed, and
// answers that came as one lump have no ITL.
func TestLumpsOfAServer(t *testing.T) {
	for _, c := range []struct {
		name, knobs string
		says        string
		itl         float64 // number of answers that have one
	}{
		{"three lumps", "ttft=100ms&itl=20ms&tokens=56&lump=400ms", "events every 40", 4},
		{"one lump", "ttft=50ms&itl=10ms&tokens=16&lump=600ms", "The stream arrives in bursts of 16 events, one for each answer", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := whole(dir, "mock://?"+c.knobs, 4)
			b.Endpoint.Probe = ptr(true)
			run, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
			if err != nil {
				t.Fatal(err)
			}
			v := run.Validity
			if text := v.Reason + strings.Join(v.Notes, " "); v.LumpedAnswers != 4 || !strings.Contains(text, "The stream arrives in bursts") || !strings.Contains(text, c.says) ||
				strings.Contains(text, "capture") {
				t.Errorf("%+v, %s", v.LumpStats, text)
			}
			itl, measured := run.Profiling.Get("inter_token_latency")
			if measured != (c.itl > 0) || measured && itl.Values[metric.Count] != c.itl {
				t.Errorf("%v answers with ITL, want %v", itl.Values[metric.Count], c.itl)
			}
			if run.Probe == nil || !strings.Contains(strings.Join(run.Probe.Findings, " "), "The stream arrives in bursts") {
				t.Errorf("the probe: %+v", run.Probe)
			}
			data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
			if err != nil || !strings.Contains(string(data), `"lumped_answers": 4`) {
				t.Errorf("the summary: %v", err)
			}
		})
	}
}
