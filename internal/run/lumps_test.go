package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
)

// TestLumpsOfAServer checks that the verdict, the probe and the files name a server that buffers its stream. The client is not blamed, and answers
// that arrived in one burst have no ITL. The bursts are far apart, so that a client that waits for CPU still recognizes them.
func TestLumpsOfAServer(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		name, knobs string
		says        string
		every       time.Duration // between bursts; 0 = one for each answer
		itl         float64       // number of answers that have one
	}{
		{"three lumps", "ttft=100ms&itl=50ms&tokens=56&lump=1s", "events every", time.Second, 4},
		{"one lump", "ttft=250ms&itl=50ms&tokens=16&lump=2s", "The stream arrives in bursts of 16 events, one for each answer", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, run := runReadInTime(t, c.knobs)
			v := run.Validity
			if text := v.Reason + strings.Join(v.Notes, " "); v.LumpedAnswers != 4 || !strings.Contains(text, "The stream arrives in bursts") || !strings.Contains(text, c.says) ||
				strings.Contains(text, "capture") {
				t.Errorf("%+v, %s", v.LumpStats, text)
			}
			if (v.LumpInterval - c.every).Abs() > c.every/5 {
				t.Errorf("%v between bursts, want %v", v.LumpInterval, c.every)
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

// runReadInTime runs a probe and four requests, and repeats them if the client read an answer so late that bursts cannot be distinguished from late reads.
// It fails the test if that happens three times: the limit is far above what other programs cause.
func runReadInTime(t *testing.T, knobs string) (dir string, run *metric.Run) {
	t.Helper()
	const limit = 150 * time.Millisecond
	var late time.Duration
	var err error
	for range 3 {
		dir = t.TempDir()
		b := whole(dir, "mock://?"+knobs, 4)
		b.Endpoint.Probe = ptr(true)
		b.Phases[0].Concurrency = ptr(4)
		run, err = Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)})
		if err != nil {
			t.Fatal(err)
		}
		v := run.Validity
		late = max(v.FirstErrorMax, v.GapErrorMax, v.StallLongest, v.ReadDelayP99)
		if late < limit {
			return dir, run
		}
	}
	t.Fatalf("the client read an answer %v late in the last of three runs", late)
	return "", nil
}
