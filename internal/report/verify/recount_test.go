package verify

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecordings: the summary of every recorded run of the Python tool agrees with its records, and so does one of this program.
func TestRecordings(t *testing.T) {
	runs, err := filepath.Glob("../../run/rereport/testdata/*/summary.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, run := range runs {
		dir := t.TempDir()
		path := filepath.Join(dir, summaryName)
		unpack(t, run, path)
		unpack(t, filepath.Join(filepath.Dir(run), "records.jsonl.gz"), filepath.Join(dir, recordsName))
		lines := 0
		if faults := Summary(path, func() { lines++ }); len(faults) > 0 {
			t.Errorf("%s: %d faults: %s", run, len(faults), strings.Join(faults[:min(len(faults), 5)], "\n"))
		}
		if lines > 0 {
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d of %d recorded runs have records", checked, len(runs))
	}
}

// unpack writes a recording, where there is one, into a file.
func unpack(t *testing.T, from, to string) {
	in, err := os.Open(from)
	if err != nil {
		return
	}
	defer in.Close()
	packed, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(packed)
	if err := errors.Join(err, os.WriteFile(to, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Three requests are measured, by hand: 100, 200 and 400 ms from instants 1 s, 1.5 s and 2 s, so 1.4 s in all.
const (
	someRecords = `{"metadata":{"benchmark_phase":"warmup","phase_name":"warmup","request_start_ns":1,"request_end_ns":2},"metrics":{"request_latency":{"value":9,"unit":"ms"}}}
{"metadata":{"benchmark_phase":"profiling","request_start_ns":1000000000,"request_end_ns":1100000000},"metrics":{"request_latency":{"value":100.0,"unit":"ms"},"input_sequence_length":{"value":5,"unit":"tokens"},"inter_chunk_latency":{"value":[1,2],"unit":"ms"}}}
{"metadata":{"benchmark_phase":"profiling","request_start_ns":1500000000,"request_end_ns":1700000000},"metrics":{"request_latency":{"value":200.0,"unit":"ms"},"input_sequence_length":{"value":7,"unit":"tokens"},"inter_chunk_latency":{"value":[],"unit":"ms"}}}
{"metadata":{"benchmark_phase":"profiling","request_start_ns":2000000000,"request_end_ns":2400000000},"metrics":{"request_latency":{"value":400.0,"unit":"ms"},"input_sequence_length":{"value":9,"unit":"tokens"},"inter_chunk_latency":{"value":[6],"unit":"ms"}}}
{"metadata":{"benchmark_phase":"profiling","request_start_ns":1,"request_end_ns":9},"metrics":{"error_isl":{"value":3,"unit":"tokens"}},"error":{"code":500,"type":"Oops","message":"m"}}
{"metadata":{"benchmark_phase":"profiling","request_start_ns":1,"request_end_ns":9,"cut_reason":"grace"},"metrics":{"dispatch_lag":{"value":3,"unit":"ms"}},"error":{"type":"Cut","message":"m"}}
`
	someSummary = `{
"schema_version":"1.4","aiperf_version":"x","benchmark_id":"b",
"request_throughput":{"unit":"requests/sec","avg":2.142857142857143},
"request_latency":{"unit":"ms","avg":233.33333333333334,"p1":102,"p5":110,"p10":120,"p25":150,"p50":200,"p75":300,"p90":360,"p95":380,"p99":396,"min":100,"max":400,"std":124.7219128924647,"count":3,"sum":700},
"request_count":{"unit":"requests","avg":3},
"input_sequence_length":{"unit":"tokens","avg":7,"p1":5.04,"p5":5.2,"p10":5.4,"p25":6,"p50":7,"p75":8,"p90":8.6,"p95":8.8,"p99":8.96,"min":5,"max":9,"std":1.632993161855452,"count":3,"sum":21},
"inter_chunk_latency":{"unit":"ms","avg":3,"p1":1.02,"p5":1.1,"p10":1.2,"p25":1.5,"p50":2,"p75":4,"p90":5.2,"p95":5.6,"p99":5.92,"min":1,"max":6,"std":2.160246899469287,"count":3,"sum":9},
"benchmark_duration":{"unit":"sec","avg":1.4},
"total_isl":{"unit":"tokens","avg":21},
"error_request_count":{"unit":"requests","avg":1},
"error_isl":{"unit":"tokens","avg":3,"p1":3,"p5":3,"p10":3,"p25":3,"p50":3,"p75":3,"p90":3,"p95":3,"p99":3,"min":3,"max":3,"std":0,"count":1,"sum":3},
"total_error_isl":{"unit":"tokens","avg":3},
"input_config":{},"run_info":{},"was_cancelled":false,
"error_summary":[{"error_details":{"code":500,"type":"Oops","message":"m"},"count":1}],
"warmup_metrics":{
"request_latency":{"unit":"ms","avg":9,"p1":9,"p5":9,"p10":9,"p25":9,"p50":9,"p75":9,"p90":9,"p95":9,"p99":9,"min":9,"max":9,"std":0,"count":1,"sum":9}}
}`
)

// TestTold: each number that is changed, and each key that is taken away, is reported with its line, its value and the value from the records.
func TestTold(t *testing.T) {
	told := func(summary, records string) []string {
		dir := t.TempDir()
		path := filepath.Join(dir, summaryName)
		for name, text := range map[string]string{path: summary, filepath.Join(dir, recordsName): records} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		faults := Summary(path, func() {})
		for i := range faults {
			faults[i] = strings.ReplaceAll(faults[i], dir+"/", "")
		}
		return faults
	}
	if got := told(someSummary, someRecords); got != nil {
		t.Fatalf("a whole one: %q", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"avg":233.33333333333334`, `"avg":233`, "profile_export_aiperf.json:4: request_latency.avg is 233, but sum / count is 233.33333333333334"},
		{`"p95":380`, `"p95":381`, "profile_export_aiperf.json:4: request_latency.p95 is 381, but profile_export.jsonl gives 380"},
		{`"p95":380`, `"p95":80`, "profile_export_aiperf.json:4: request_latency.p95 is 80, which is below p90 (360)"},
		{`"p95":380,`, ``, "profile_export_aiperf.json:4: request_latency has no p95, but profile_export.jsonl gives 380"},
		{`"std":124.7219128924647`, `"std":152.75`, "profile_export_aiperf.json:4: request_latency.std is 152.75, but profile_export.jsonl gives 124.72191289246472"},
		{`"requests","avg":3`, `"requests","avg":4`, "profile_export_aiperf.json:5: request_count is 4, but profile_export.jsonl has 3"},
		{`"sum":9},` + "\n" + `"bench`, `"sum":10},` + "\n" + `"bench`, "profile_export_aiperf.json:7: inter_chunk_latency.avg is 3, but sum / count is 3.3333333333333335"},
		{`"avg":1.4`, `"avg":1.5`, "profile_export_aiperf.json:8: benchmark_duration is 1.5, but from the first start to the last answer profile_export.jsonl has 1.4 seconds"},
		{`"avg":2.142857142857143`, `"avg":2.2`, "profile_export_aiperf.json:3: request_throughput is 2.2, but request_count is 3 in 1.4 seconds"},
		{`"total_isl":{"unit":"tokens","avg":21}`, `"total_isl":{"unit":"tokens","avg":22}`, "profile_export_aiperf.json:9: total_isl is 22, but input_sequence_length in profile_export.jsonl adds up to 21"},
		{`"total_isl":{"unit":"tokens","avg":21},`, ``, "profile_export_aiperf.json: total_isl is missing, but input_sequence_length in profile_export.jsonl adds up to 21"},
		{`"error_request_count":{"unit":"requests","avg":1}`, `"error_request_count":{"unit":"requests","avg":2}`, "profile_export_aiperf.json:10: error_request_count is 2, but the groups of error_summary add up to 1"},
		{`"Oops"`, `"Ouch"`, `profile_export_aiperf.json:14: error_summary counts 0 of "500 Oops m", but profile_export.jsonl has 1`},
		{`"count":1}]`, `"count":"1"}]`, `profile_export_aiperf.json:14: error_summary [0].count must be a number, got "1"`},
		{`"min":9`, `"min":8`, "profile_export_aiperf.json:16: warmup_metrics.request_latency.min is 8, but profile_export.jsonl gives 9"},
		{`"max":9`, `"max":"9"`, `profile_export_aiperf.json:6: input_sequence_length.max must be a number, got "9"`},
		{`"run_info":{},`, ``, "profile_export_aiperf.json: run_info is missing; it must be an object"},
		{`"was_cancelled":false`, `"was_cancelled":0`, "profile_export_aiperf.json:13: was_cancelled must be true or false, got 0"},
		{`"benchmark_id":"b"`, `"benchmark_id":null`, "profile_export_aiperf.json:2: benchmark_id must be a text, got nothing"},
		{`"unit":"sec"`, `"unit":5`, "profile_export_aiperf.json:8: benchmark_duration unit must be a text, got 5"},
	} {
		changed := strings.Replace(someSummary, c.from, c.to, 1)
		if got := told(changed, someRecords); changed == someSummary || len(got) == 0 || got[0] != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.to, got, c.want)
		}
	}
	late := strings.Replace(someRecords, `1000000000,"request_end_ns":1100000000`, `1000000000,"request_end_ns":900000000`, 1)
	if got := told(someSummary, late); len(got) != 1 || got[0] != "profile_export.jsonl:2: request_end_ns is 900000000, before request_start_ns (1000000000)" {
		t.Errorf("%q", got)
	}
	for to, want := range map[string]string{
		`"benchmark_phase":5,`:                            "profile_export.jsonl:2: benchmark_phase must be of type string, got number",
		`"benchmark_phase":"profiling","cut_reason":[1],`: "profile_export.jsonl:2: cut_reason must be of type string, got array",
	} {
		if got := told(someSummary, strings.Replace(someRecords, `"benchmark_phase":"profiling",`, to, 1)); len(got) == 0 || got[0] != want {
			t.Errorf("%q, want %q first", got, want)
		}
	}
	if got := told(someSummary, someRecords+"7\n"+`{"metadata":{"benchmark_phase":"profiling","cut_reason":"grace"}}`); len(got) != 1 || got[0] != "profile_export.jsonl:7: a record must be of type object, got number" {
		t.Errorf("a number, and a record without metrics: %q", got)
	}
	if got := told(someSummary, someRecords[strings.Index(someRecords, "\n")+1:]); len(got) != 0 {
		t.Errorf("a warm-up without records: %q", got)
	}
	cut := strings.Join(strings.SplitAfter(someRecords, "\n")[:3], "")
	want := []string{"profile_export_aiperf.json:5: request_count is 3, but profile_export.jsonl has 2", "profile_export_aiperf.json:10: error_request_count is 1, but profile_export.jsonl has 0",
		"profile_export.jsonl: its requests are not those of profile_export_aiperf.json, so no other figures of the two are compared"}
	if got := told(someSummary, cut); !slices.Equal(got, want) {
		t.Errorf("records that were cut off: %q, want %q", got, want)
	}
}

// TestWhere: the summary of a phase is about the records of the run with its name; a name of the user's stands for both files.
func TestWhere(t *testing.T) {
	for path, want := range map[string][2]string{
		"a/profile_export_aiperf.json":             {"a/profile_export.jsonl", ""},
		"a/phases/p1/profile_export_aiperf.json":   {"a/profile_export.jsonl", "p1"},
		"phases/p1/profile_export_aiperf.json":     {"profile_export.jsonl", "p1"},
		"a/foo.json":                               {"a/foo.jsonl", ""},
		"profile_export_aiperf.json":               {"profile_export.jsonl", ""},
		"/r/phases/x y/profile_export_aiperf.json": {"/r/profile_export.jsonl", "x y"},
	} {
		if records, phase := Records(path); records != want[0] || phase != want[1] {
			t.Errorf("%s: %q %q", path, records, phase)
		}
	}
}
