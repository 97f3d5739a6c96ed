package comparison

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
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

// TestWakeOfTheServers: the delay of waking on the client's machine counts for servers on this machine, and for no others.
func TestWakeOfTheServers(t *testing.T) {
	for url, want := range map[string]float64{"http://127.0.0.1:8000": 0.4, "http://10.0.0.1:8000": 0} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			recordsFile: `{"metadata":{"benchmark_phase":"profiling","request_start_ns":1,"request_end_ns":3},"metrics":{"request_latency":{"value":2}}}`,
			summaryFile: fmt.Sprintf(`{"validity":{"verdict":"valid","machine_steal_percent":10,"machine_wake_delay_ms":0.4},"input_config":{"endpoint":{"urls":[%q]}}}`, url),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := Load(dir, 0)
		if err != nil || runs[0].Wake != want || math.Abs(runs[0].Disturbed-0.1) > 1e-9 {
			t.Errorf("%s: %+v, %v; want %g ms", url, runs, err, want)
		}
	}
}

// TestUnreadableAnswers: a run of which more than 1 % of the answers have messages that are not JSON is not compared, and the advice is not a quieter machine.
func TestUnreadableAnswers(t *testing.T) {
	for answers, want := range map[int]string{1: "", 2: metric.UnreadMessages} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			recordsFile: `{"metadata":{"benchmark_phase":"profiling","request_start_ns":1,"request_end_ns":3},"metrics":{"request_latency":{"value":2}}}`,
			summaryFile: fmt.Sprintf(`{"request_count":{"avg":100},"validity":{"verdict":"uncertain","unreadable_answers":%d,"bounds":{"request_latency":{"p99":{"low":1}}}}}`, answers),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := Load(dir, 0)
		if err != nil || runs[0].Doubt != want || want != "" && runs[0].remedy() != "Repair the server" {
			t.Errorf("%d of 100 answers: %v, %+v", answers, err, runs)
		}
	}
}

// BenchmarkLoad reads the records of a run of 100,000 requests (comparison.md, section 8, check 9); "reads" are how many times as long as only reading
// the file that takes.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "profile_export.jsonl")
	var text bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&text, `{"metadata":{"session_num":%d,"x_request_id":"4ad1c7f2-0000-4000-8000-%012d","conversation_id":"session_%06d","turn_index":0,"request_start_ns":%d,"request_ack_ns":%d,"request_end_ns":%d,"worker_id":"worker_1","record_processor_id":"record_processor_1","benchmark_phase":"profiling","was_cancelled":false},"metrics":{"time_to_first_token":{"value":%d.25,"unit":"ms"},"inter_token_latency":{"value":9.5,"unit":"ms"},"request_latency":{"value":%d.75,"unit":"ms"},"output_sequence_length":{"value":64,"unit":"tokens"},"input_sequence_length":{"value":550,"unit":"tokens"}},"error":null}`+"\n",
			i, i, i%100, 1_700_000_000_000_000_000+i*1_000_000, 1_700_000_000_001_000_000+i*1_000_000, 1_700_000_000_900_000_000+i*1_000_000, 20+i%50, 600+i%90)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	from := time.Now()
	if _, err := os.ReadFile(path); err != nil {
		b.Fatal(err)
	}
	plain := time.Since(from)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		runs, err := Load(path, 0)
		if err != nil || len(runs) != 1 || runs[0].requests() != 100_000 {
			b.Fatal(len(runs), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(plain), "reads")
}

// TestLoadNames: settings that change the load of a run have their place in its description.
func TestLoadNames(t *testing.T) {
	for config, want := range map[string]string{
		`{"type":"concurrency","concurrency":8}`:                                        "concurrency 8",
		`{"type":"concurrency","concurrency":8,"cancellation":{"rate":50,"delay":0.1}}`: "concurrency 8, 50 % cancelled",
		`{"type":"concurrency","concurrency":8,"cancellation":{"rate":0}}`:              "concurrency 8",
		`{"type":"user_centric","rate":2.5,"users":5}`:                                  "user_centric, rate 2.5, 5 users",
		`{"type":"poisson","rate":10,"concurrency":4,"prefill_concurrency":2}`:          "poisson, concurrency 4, rate 10, prefill concurrency 2",
	} {
		var p phase
		if err := json.Unmarshal([]byte(config), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.load(); got != want {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
}

// TestPlannedCancellations: requests that the configuration cancelled do not count as errors of the server, and a note says so, because the report counts them.
func TestPlannedCancellations(t *testing.T) {
	load := func(name string, cancelled int) []Run {
		dir := t.TempDir()
		var text strings.Builder
		for i := range 100 {
			start, end := int64(1e18)+int64(i)*1e6, int64(1e18)+int64(i)*1e6+5e6
			if i < cancelled {
				fmt.Fprintf(&text, `{"metadata":{"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling","was_cancelled":true},"metrics":{},"error":{"code":499,"type":"RequestCancellationError","message":"m"}}`+"\n", start, end)
			} else {
				fmt.Fprintf(&text, `{"metadata":{"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"request_latency":{"value":5,"unit":"ms"}},"error":null}`+"\n", start, end)
			}
		}
		for file, text := range map[string]string{"profile_export.jsonl": text.String(), summaryFile: fmt.Sprintf(`{"benchmark_id":%q}`, name)} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := Load(dir, 0)
		if err != nil || runs[0].Cancelled != cancelled || runs[0].Failed != 0 {
			t.Fatal(runs, err)
		}
		return runs
	}
	const note = "requests cancelled as the configuration asks are not errors here, unlike in the error rate of a report: 40 of 100 in B"
	for cancelled, want := range map[int]bool{0: false, 40: true} {
		r, err := Compare(load("a", 0), load("b", cancelled), Options{Confidence: .95})
		if err != nil || slices.Contains(r.Notes, note) != want {
			t.Errorf("%d cancelled: %v, notes %q", cancelled, err, r.Notes)
		}
	}
}
