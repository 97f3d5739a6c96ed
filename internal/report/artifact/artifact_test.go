package artifact

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

func TestLayout(t *testing.T) {
	abs := filepath.Join(t.TempDir(), "x", "foo")
	for _, c := range []struct{ prefix, json, raw, slices string }{
		{"", "d/profile_export_aiperf.json", "d/profile_export_raw.jsonl", "d/profile_export_aiperf_timeslices.csv"},
		{"foo", "d/foo.json", "d/foo_raw.jsonl", "d/foo_timeslices.csv"},
		{"foo.json", "d/foo.json", "d/foo_raw.jsonl", "d/foo_timeslices.csv"},
		{"foo_raw.jsonl", "d/foo.json", "d/foo_raw.jsonl", "d/foo_timeslices.csv"},
		{"sub/foo_server_metrics.parquet", "d/sub/foo.json", "d/sub/foo_raw.jsonl", "d/sub/foo_timeslices.csv"},
		{abs + ".csv", abs + ".json", abs + "_raw.jsonl", abs + "_timeslices.csv"},
		{".json", "d/.json.json", "d/.json_raw.jsonl", "d/.json_timeslices.csv"},
	} {
		l := NewLayout("d", c.prefix)
		if l.SummaryJSON() != c.json || l.Raw() != c.raw || l.SlicesCSV() != c.slices || l.Inputs() != "d/inputs.json" {
			t.Errorf("%s: %s %s %s", c.prefix, l.SummaryJSON(), l.Raw(), l.SlicesCSV())
		}
	}
}

// sample is one request with everything, its row, and its run.
func sample(t testing.TB) (*record.Record, *metric.Row, *metric.Run) {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	const ms = 1_000_000
	rec := &record.Record{
		Meta:       record.Meta{SessionNum: 3, RequestID: "id", CorrelationID: "co", ConversationID: "c", TurnIndex: 1, WorkerID: "worker_0", ProcessorID: "record_processor_0", PhaseName: "profiling", MaxTokens: 4},
		WallOffset: 1_800_000_000_000_000_000, Intended: 90 * ms, Issued: 95 * ms, Start: 100 * ms, Ack: 101 * ms, End: 190 * ms, Status: 200,
		RequestHeaders: []record.Header{{Name: "Authorization", Value: "Bearer secret"}, {Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}},
		Payload:        record.Plain([]byte("{\n\"model\": \"m\", \"max_tokens\": 4}")),
		Messages: []record.Message{
			{At: 150 * ms, Clock: record.KernelClock, UncertainNs: 7 * ms, Raw: []byte("event: delta\ndata: {\"a\":\"<ü>\"}")},
			{At: 160 * ms, Clock: record.PacketClock, Raw: []byte(": ping\ndata: {}")},
			{At: 170 * ms, Clock: record.KernelClock, Raw: []byte("data: [DONE]")},
		},
		Trace: &record.Trace{SendStart: 101 * ms, SendEnd: 102 * ms, FirstChunk: 150 * ms, LastChunk: 190 * ms, Reused: 99 * ms, BytesSent: 33, Reads: 3, ReadDelaySum: 30, ReadDelayMax: 20, FirstUncertainNs: 7 * ms, GapUncertainNs: 8 * ms},
	}
	reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 150 * ms, Text: "a"}, {At: 160 * ms, Text: "b"}}}
	row := set.Row(rec, reply, record.Counts{Input: 5, Output: 2, Reasoning: -1})
	r := set.NewReducer()
	r.Add(row)
	bad := *rec
	bad.Error = &record.Error{Code: 500, Type: "Internal Server Error", Message: "token=abc123 boom"}
	r.Add(set.Row(&bad, nil, record.Counts{Input: 5, Output: -1, Reasoning: -1}))
	return rec, row, &metric.Run{Version: "1", BenchmarkID: "0123456789ab", Title: "LLM Metrics", Profiling: r.Summary(metric.Window{}), Slices: r.Slices(0.05)}
}

// TestRawRoundTrip: a raw line read back is the request.
func TestRawRoundTrip(t *testing.T) {
	rec, row, _ := sample(t)
	rec.ClockOffset = -12_345
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	w, err := CreateRaw(path, RawOptions{BenchmarkID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	line := w.Encode(nil, rec, nil, row)
	if n := bytes.Count(line, []byte("\n")); n != 1 || !json.Valid(line) {
		t.Fatalf("%d line ends: %s", n, line)
	}
	if bytes.Contains(line, []byte("secret")) {
		t.Errorf("the key is in the file: %s", line)
	}
	if err := w.Write(line); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got *record.Record
	if err := ReadRaw(path, func(r *record.Record) error { got = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if got.Start != rec.Start || got.End != rec.End || got.Issued != rec.Issued || got.Intended != rec.Intended || got.Ack != rec.Ack || got.WallOffset != rec.WallOffset || got.ClockOffset != rec.ClockOffset ||
		got.RequestID != "id" || got.TurnIndex != 1 || got.MaxTokens != 4 || got.Model != "m" || got.Status != 200 || *got.Trace != *rec.Trace {
		t.Errorf("%+v\nnot %+v", got, rec)
	}
	want := [][]record.Field{{{Name: "event", Value: "delta"}, {Name: "data", Value: `{"a":"<ü>"}`}}, {{Name: "comment", Value: "ping"}, {Name: "data", Value: "{}"}}, {{Name: "data", Value: "[DONE]"}}}
	for i, fields := range want {
		if m, sent := got.Messages[i], rec.Messages[i]; m.At != sent.At || m.UncertainNs != sent.UncertainNs || m.Clock != sent.Clock || len(m.Fields()) != len(fields) || m.Fields()[0] != fields[0] {
			t.Errorf("message %d: %+v", i, m)
		}
	}
}

func TestRecordsLine(t *testing.T) {
	rec, row, _ := sample(t)
	line := string((&Records{RecordOptions: RecordOptions{Trace: true}}).Encode(nil, rec, nil, row))
	for _, part := range []string{
		`{"metadata":{"session_num":3,"x_request_id":"id"`, `"request_latency":{"value":60.0,"unit":"ms"}`, `"inter_chunk_latency":{"value":[10.0],"unit":"ms"}`,
		`"output_sequence_length":{"value":2,"unit":"tokens"}`, `"scheduled_ns":1800000000090000000,"credit_issued_ns":1800000000095000000`, `"trace_data":{"trace_type":"aiohttp"`,
		`"X-A":"1, 2"`, `"Authorization":"<redacted>"`, `"was_cancelled":false,"context_overflow_skip":false,"agent_depth":0,"root_correlation_id":"co"}`,
		`"clock":"kernel","first_event_uncertain_ns":7000000,"gap_uncertain_max_ns":8000000`,
	} {
		if !strings.Contains(line, part) {
			t.Errorf("no %s in %s", part, line)
		}
	}
	if strings.Contains(line, "null") || strings.Contains(line, `"error"`) {
		t.Error(line)
	}
	rec.Messages = nil // no answer, nothing to be uncertain of
	line = string((&Records{RecordOptions: RecordOptions{Trace: true}}).Encode(nil, rec, nil, row))
	if strings.Contains(line, "clock") || strings.Contains(line, "uncertain") || !strings.Contains(line, `"read_count":3`) {
		t.Errorf("without messages: %s", line)
	}
}

func TestSummaryFiles(t *testing.T) {
	_, _, run := sample(t)
	run.Validity = metric.Assess(metric.ClientStats{Valid: 1, ReadDelays: 1}, nil, nil)
	run.InputConfig = json.RawMessage(`{"z":1,"a":{}}`)
	energy := metric.GPUMetric{Tag: "nvidia_energy_consumption", Name: "NVIDIA Energy Consumption", Unit: "MJ", Values: metric.NoStats()}
	energy.Values[metric.Avg] = 0.00012345678
	run.GPU = &metric.GPUTelemetry{Configured: []string{"http://h:9400/metrics"}, Successful: []string{"http://h:9400/metrics"}, Window: metric.Window{From: 1, To: 2},
		Endpoints: []metric.GPUEndpoint{{Name: "h:9400", GPUs: []metric.GPU{{Name: "H100", UUID: "GPU-1", Platform: "nvidia", Hostname: "n1", Metrics: []metric.GPUMetric{energy}}}}}}
	l := NewLayout(t.TempDir(), "")
	if err := WriteReport(l, run, l.Raw()); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range run.Files {
		kinds = append(kinds, f.Kind)
	}
	if got := strings.Join(kinds, ", "); got != "CSV Export, JSON Export, Raw Records, Timeslice CSV Export, Timeslice JSON Export" {
		t.Error(got)
	}
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	js := read(l.SummaryJSON())
	if !strings.HasPrefix(js, "{\n  \"schema_version\": \"1.4\",\n") || strings.HasSuffix(js, "\n") || !json.Valid([]byte(js)) || strings.Contains(js, "null") {
		t.Error(js)
	}
	if strings.Contains(js, "abc123") {
		t.Error("a token of an error message is in the summary")
	}
	for _, pair := range [][2]string{{`"request_throughput"`, `"request_latency"`}, {`"total_error_isl"`, `"input_config"`}, {`"z": 1`, `"a": {}`}, {`"run_info"`, `"was_cancelled"`}, {`"error_summary"`, `"validity"`}, {`"validity"`, `"decode_duration"`}, {`"p1"`, `"p99"`}} {
		if a, b := strings.Index(js, pair[0]), strings.Index(js, pair[1]); a < 0 || b < a {
			t.Errorf("%s does not stand before %s", pair[0], pair[1])
		}
	}
	csv := read(l.SummaryCSV())
	if !strings.HasPrefix(csv, "Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std\r\n") || !strings.Contains(csv, "\r\n\r\nMetric,Value\r\n") ||
		!strings.Contains(csv, "\r\nRequest Count,1.00\r\n") || !strings.Contains(csv, "Request Latency (ms),60.00,60.00,60.00,60.00,") || !strings.HasSuffix(csv, "\r\n\r\n\r\nEndpoint,GPU_Index,GPU_Name,GPU_UUID,Platform,Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std,Hostname\r\nh:9400,0,H100,GPU-1,nvidia,NVIDIA Energy Consumption (MJ),0.000123457,,,,,,,,,,,,,,n1\r\n") {
		t.Error(csv)
	}
	if s := read(l.SlicesCSV()); !strings.HasPrefix(s, "Timeslice,Start_NS,End_NS,Metric,Unit,Stat,Value\r\n0,1800000000100000000,1800000000150000000,") {
		t.Error(s[:200])
	}
}

func TestInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs.json")
	w, err := CreateInputs(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id       string
		payloads [][]byte
	}{{"a", [][]byte{[]byte(`{"m":1}`), []byte("{\n}")}}, {"b", nil}} {
		if err := w.Add(c.id, c.payloads); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	json.Indent(&want, []byte(`{"data":[{"session_id":"a","payloads":[{"m":1},{}]},{"session_id":"b","payloads":[]}]}`), "", "  ")
	if string(got) != want.String() {
		t.Errorf("%s\nnot\n%s", got, want.String())
	}
}

// TestUnwritable: the message names the file.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := WriteFile(file, nil); err != nil {
		t.Fatal(err)
	}
	_, _, run := sample(t)
	l := NewLayout(filepath.Join(file, "below"), "")
	if err := WriteReport(l, run, ""); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") || len(run.Files) != 0 {
		t.Errorf("error %v, files %v", err, run.Files)
	}
	if _, err := CreateRecords(l.Records(), RecordOptions{}); err == nil || !strings.Contains(err.Error(), "artifact directory") {
		t.Errorf("error %v", err)
	}
}

func TestReadRawErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"{\"metadata\":{}}\n", "start_perf_ns is 0"}, {"[1]\n", "no metadata"}, {"nonsense\n", ":1: not a JSON object"}, {"{\"metadata\":5}\n", "no metadata"},
		{"\n\n{\"metadata\":{\"request_start_ns\":5},\"start_perf_ns\":1}\n{\"a\n", ":4: not a JSON"},
	} {
		path := filepath.Join(t.TempDir(), "raw.jsonl")
		if err := WriteFile(path, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if err := ReadRaw(path, func(*record.Record) error { return nil }); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v does not say %q", c.text, err, c.says)
		}
	}
	path := filepath.Join(t.TempDir(), "raw.jsonl") // what a killed run leaves
	if err := WriteFile(path, []byte("{\"metadata\":{\"request_start_ns\":5},\"start_perf_ns\":1}\n{\"metadata\":{\"requ")); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := ReadRaw(path, func(*record.Record) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d requests, %v", n, err)
	}
}

func BenchmarkRecordLine(b *testing.B) {
	rec, row, _ := sample(b)
	w := new(Records)
	var line []byte
	for b.Loop() {
		line = w.Encode(line[:0], rec, nil, row)
	}
}

// TestWriteFileFault: the error of a file that cannot be written names the file once, and not its draft.
func TestWriteFileFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "b"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, nil); err == nil || strings.Count(err.Error(), "a.json") != 1 {
		t.Error(err)
	}
}
