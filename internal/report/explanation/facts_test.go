package explanation

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
)

// collected returns the facts of all records of a run of which every file is given.
func collected(t *testing.T, tag string, files map[string]string) map[string][]float64 {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := runfiles.Open(dir)
	q, err := run.Requests()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := run.Summary()
	if err != nil && !isMissing(err) {
		t.Fatal(err)
	}
	m, err := Lookup(tag)
	if err != nil {
		t.Fatal(err)
	}
	p := &population{}
	v, _ := q.Column(m.Tag)
	for i := range q.Len() {
		p.index, p.values, p.slow = append(p.index, i), append(p.values, v[i]), append(p.slow, i == 0)
	}
	c := newCollector(&Explanation{Metric: m, Unit: m.Display}, run, q, sum, p)
	if err := c.collect(); err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, f := range c.facts {
		out[f.name] = f.Values
	}
	return out
}

const second0 = 1_700_000_000_000_000_000

// recordOf writes a record; instants are in ms since second0.
func recordOf(start, ttft, end float64, more string) string {
	at := func(ms float64) int64 { return second0 + int64(ms*1e6) }
	return fmt.Sprintf(`{"metadata":{"x_request_id":"r%g","request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling"%s},"metrics":{"time_to_first_token":{"value":%g},"request_latency":{"value":%g},"inter_token_latency":{"value":1},"input_sequence_length":{"value":100},"output_sequence_length":{"value":11}%s}}`+"\n",
		start, at(start), at(end), part(more, 0), ttft, end-start, part(more, 1))
}

// part returns a part of a text with "|".
func part(text string, n int) string {
	parts := strings.Split(text+"|", "|")
	if parts[n] == "" {
		return ""
	}
	return "," + parts[n]
}

func wantFact(t *testing.T, facts map[string][]float64, name string, want ...float64) {
	t.Helper()
	if !slices.EqualFunc(facts[name], want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 || math.IsNaN(a) && math.IsNaN(b) }) {
		t.Errorf("%s: %v, want %v", name, facts[name], want)
	}
}

// TestLoadByHand: three requests whose overlaps are known. The second starts while the first is in prefill, the third while the first gives tokens and the
// second is in prefill.
func TestLoadByHand(t *testing.T) {
	files := map[string]string{
		"profile_export.jsonl":       recordOf(0, 15, 65, "") + recordOf(10, 30, 140, "") + recordOf(25, 5, 130, `"url_index":1|`),
		"profile_export_aiperf.json": `{"input_config":{"endpoint":{"urls":["http://a","https://b"]}}}`,
	}
	sent := collected(t, "ttft", files)
	wantFact(t, sent, "requests_in_flight", 0, 1, 2)
	wantFact(t, sent, "requests_in_prefill", 0, 1, 1)
	wantFact(t, sent, "prefill_tokens_ahead", 0, 100, 100)
	wantFact(t, sent, "tokens_in_flight", 0, 100, 202.2) // the first has given 11 tokens x 10 of 50 ms
	wantFact(t, sent, "tls", 0, 0, 1)
	first := collected(t, "itl", files)
	wantFact(t, first, "requests_in_flight", 1, 2, 2) // at 15, 40 and 30 ms, without itself
	wantFact(t, first, "requests_in_prefill", 1, 0, 1)
}

// TestPausesByHand: of two answers with a token every 10 ms, none gets anything from 100 to 300 ms. Requests sent in that time or shortly before see the pause;
// later ones do not.
func TestPausesByHand(t *testing.T) {
	gaps := `|"inter_chunk_latency":{"value":[` + strings.Repeat("10,", 9) + "200," + strings.TrimSuffix(strings.Repeat("10,", 30), ",") + `]}`
	short := `|"inter_chunk_latency":{"value":[10,10]}`
	records := recordOf(-10, 20, 600, gaps) + recordOf(-10, 20.05, 600, gaps) +
		recordOf(98, 205, 340, short) + recordOf(150, 155, 340, short) + recordOf(320, 20, 380, short) + recordOf(330, 20, 380, short) + recordOf(340, 20, 380, short)
	facts := collected(t, "ttft", map[string]string{"profile_export.jsonl": records})
	got := facts["pause"]
	for i, want := range []float64{0, 0, 200, 150, 0, 0, 0} {
		if math.Abs(got[i]-want) > 0.4 {
			t.Errorf("request %d: a pause of %g ms, want %g", i, got[i], want)
		}
	}
}

// TestGaugesByHand: a gauge is that of the last scrape, of the request's server; a counter is its highest rate in the scrapes around; what is older than three intervals is
// unknown.
func TestGaugesByHand(t *testing.T) {
	var scrapes strings.Builder
	for k, v := range []float64{1, 2, 3, 4} {
		for n, host := range []string{"a", "b"} {
			fmt.Fprintf(&scrapes, `{"timestamp_ns":%d,"endpoint_url":"http://%s:1/metrics","metrics":{"vllm:num_requests_waiting":[{"value":%g}],"vllm:num_preemptions_total":[{"value":%g}],"vllm:other":[{"value":1}]}}`+"\n",
				second0+int64(k)*1e9, host, v+float64(10*n), v*v*float64(n))
		}
	}
	gpu := fmt.Sprintf(`{"timestamp_ns":%d,"gpu_index":0,"telemetry_data":{"nvidia_sm_clock":1500,"nvidia_power_violation":5}}`+"\n"+`{"timestamp_ns":%d,"gpu_index":0,"telemetry_data":{"nvidia_sm_clock":1400,"nvidia_power_violation":9}}`+"\n", second0, second0+int64(1e9))
	records := recordOf(500, 20, 540, "") + recordOf(1500, 20, 1540, `"url_index":1|`) + recordOf(2500, 20, 2540, "") + recordOf(9000, 20, 9040, "")
	one := map[string]string{"profile_export.jsonl": records, "server_metrics_export.jsonl": scrapes.String(), "gpu_telemetry_export.jsonl": gpu}
	sum := collected(t, "ttft", one)
	nan := math.NaN()
	wantFact(t, sum, "vllm:num_requests_waiting", 12, 14, 16, nan)
	wantFact(t, sum, "vllm:num_preemptions_total", 3, 5, 7, nan) // of the scrapes that end next
	wantFact(t, sum, "nvidia_sm_clock", 1500, 1400, 1400, nan)
	wantFact(t, sum, "nvidia_power_violation", nan, 4, nan, nan)
	if sum["vllm:other"] != nil {
		t.Error("a metric without meaning for latencies is a fact")
	}
	one["profile_export_aiperf.json"] = `{"input_config":{"endpoint":{"urls":["http://a:1","http://b:1"]}}}`
	own := collected(t, "ttft", one)["vllm:num_requests_waiting"]
	if !(own[0] < own[2]) || math.IsNaN(own[1]) {
		t.Error(own)
	}
}

// TestSecondsWithoutScrapes: without every scrape the gauges are those of the timeline.
func TestSecondsWithoutScrapes(t *testing.T) {
	line := fmt.Sprintf(`{"timestamp_ns":%d,"server_queue_length":3}`+"\n"+`{"timestamp_ns":%d,"server_queue_length":5}`+"\n", second0, second0+int64(1e9))
	facts := collected(t, "ttft", map[string]string{"profile_export.jsonl": recordOf(500, 20, 540, "") + recordOf(1500, 20, 1540, "") + recordOf(2500, 20, 2540, ""), "profile_export_timeline.jsonl": line})
	wantFact(t, facts, "server_queue_length", 3, 5, math.NaN())
}

// TestPrefixGroups: prompts with the same beginning are one group; those that begin alone are none.
func TestPrefixGroups(t *testing.T) {
	var records, raw strings.Builder
	for i := range 40 {
		records.WriteString(recordOf(float64(i), 20, float64(i)+40, ""))
		prompt := "alone " + fmt.Sprint(i)
		if i < 12 {
			prompt = strings.Repeat("shared ", 100) + fmt.Sprint(i)
		} else if i < 28 {
			prompt = strings.Repeat("common ", 100) + fmt.Sprint(i)
		}
		fmt.Fprintf(&raw, `{"metadata":{"x_request_id":"r%d"},"payload":{"messages":[{"role":"user","content":"%s"}]}}`+"\n", i, prompt)
	}
	facts := collected(t, "ttft", map[string]string{"profile_export.jsonl": records.String(), "profile_export_raw.jsonl": raw.String()})
	first, second := facts["prefix_group=1"], facts["prefix_group=2"]
	if first == nil || second == nil || first[0] != 0 || first[12] != 1 || second[0] != 1 || second[12] != 0 || facts["prefix_group=none"][39] != 1 {
		t.Error(first, second)
	}
}

// TestEveryMetric: every metric that can be explained has a direction, so that it is clear which side is slow.
func TestEveryMetric(t *testing.T) {
	for _, tag := range Metrics() {
		if m, ok := metric.Lookup(tag); !ok || m.Better == metric.Neither {
			t.Error(tag)
		}
	}
	if len(Metrics()) < 20 {
		t.Error(Metrics())
	}
}

// TestBlock: the block at the end of a run names the fact in words, within the width; a run with too few requests, or without records, has none.
func TestBlock(t *testing.T) {
	for n, want := range map[int]string{0: "", 50: "", 600: "1. 100 % of the slow requests opened a new connection; "} {
		dir := t.TempDir()
		var records strings.Builder
		for i := range n {
			ttft, reused := 20+float64(i%7), 1
			if i%11 == 3 {
				ttft, reused = 90+float64(i%13), 0
			}
			records.WriteString(recordOf(float64(10*i), ttft, float64(10*i)+2*ttft, fmt.Sprintf(`|"http_req_connection_reused":{"value":%d}`, reused)))
		}
		if n > 0 {
			if err := os.WriteFile(filepath.Join(dir, "profile_export.jsonl"), []byte(records.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		if err := Block(&b, dir, 80); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || (want == "") != (b.String() == "") {
			t.Errorf("%d requests: %s", n, b.String())
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("%d requests: a line of more than 80 columns: %s", n, line)
			}
		}
	}
}

// TestVagueSizes: a significant fact whose interval contains 0 has a remark, and no other one has.
func TestVagueSizes(t *testing.T) {
	fact := func(label string, low, high, p float64) Finding {
		f := Finding{Label: label}
		f.Effect, f.Low, f.High, f.Holm = (low+high)/2, low, high, p
		return f
	}
	e := &Explanation{Facts: []Finding{fact("Input tokens", -0.1, 0.9, 0.0005), fact("New connection", -0.9, 0.01, 0.04), fact("Turn", 0.2, 0.6, 0.0005), fact("Images", -0.2, 0.2, 0.9)}}
	if got := e.vagueSizes(); !strings.HasPrefix(got, "The size of the effect is hardly known for \"Input tokens\", \"New connection\": the interval contains 0.") {
		t.Errorf("%q", got)
	}
	if e.Facts = e.Facts[2:]; e.vagueSizes() != "" {
		t.Error(e.vagueSizes())
	}
}
