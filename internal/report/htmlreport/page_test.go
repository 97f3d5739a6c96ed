package htmlreport

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/report/runfiles"
)

// recorded are the runs that the tests of plots use.
const recorded = "../plots/testdata/golden"

// dataOf is what the script of a page gets.
func dataOf(t *testing.T, page []byte) (d struct {
	Charts []struct {
		Name   string
		Traces []struct{ X, Y []*float64 }
	}
	Rows     [][]float64
	Failures []string
	Total    int
	Bands    []band
}) {
	t.Helper()
	m := regexp.MustCompile(`id="data">([^<]*)<`).FindSubmatch(page)
	small, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// alone fails where a page would load something.
func alone(t *testing.T, page []byte) {
	t.Helper()
	for _, bad := range []string{`(?i)<(link|img|iframe|object|embed|base)\b`, `(?i)<script[^>]+src`, `(?i)url\(`, `(?i)@import`} {
		outside := regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAll(page, nil)
		if m := regexp.MustCompile(bad).Find(outside); m != nil {
			t.Errorf("the page loads something: %s", m)
		}
	}
	if !bytes.Contains(page, []byte("default-src 'none'")) || !bytes.Contains(page, []byte("The MIT License")) {
		t.Error("no content policy, or no licence of the library")
	}
}

// TestRunPage: head figures, charts, rows, all figures, settings; without the script as well.
func TestRunPage(t *testing.T) {
	page, err := Run(runfiles.Open(filepath.Join(recorded, "single_gpu_c2", "c2")), "test")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, page)
	for _, want := range []string{
		"This measurement has no verdict", `<p class="big">52.0 <small>ms</small></p><p class="of">p50 of 20 requests</p>`, "<dt>p99</dt><dd>needs 100</dd>",
		`Time to First Token (ms)</th><td data-name="avg">52.97</td><td data-name="min">42.28</td>`, "GPU utilization", `<th scope="row">phases.concurrency</th><td>2</td>`, "No request failed.",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if bytes.Contains(page, []byte("artifacts.dir")) {
		t.Error("a directory of the machine")
	}
	d := dataOf(t, page)
	if len(d.Rows) != 20 || d.Total != 20 || len(d.Charts) < 10 || len(d.Failures) != 0 {
		t.Errorf("%d rows, %d charts", len(d.Rows), len(d.Charts))
	}
	for _, r := range d.Rows {
		if !(r[0] <= r[1] && r[1] < r[2] && r[2] < r[3]) {
			t.Errorf("a request's instants are not in order: %v", r)
		}
	}
}

// made writes a run: a summary and lines of records.
func made(t *testing.T, summary string, records ...string) *runfiles.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"profile_export_aiperf.json": summary, "profile_export.jsonl": strings.Join(records, "\n") + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return runfiles.Open(dir)
}

func request(start, end int, more string) string {
	return fmt.Sprintf(`{"metadata":{"x_request_id":"r%d","benchmark_phase":"profiling","request_start_ns":%d000000,"request_end_ns":%d000000},"metrics":{"request_latency":{"value":%d,"unit":"ms"}}%s}`, start, start, end, end-start, more)
}

// TestApproximateOnAPage: a figure whose limits are too far apart is marked in its card and in the table, with its limits; others are not.
func TestApproximateOnAPage(t *testing.T) {
	run := made(t, `{"request_latency":{"unit":"ms","avg":80,"p50":80,"p99":90,"max":91,"count":200},"output_token_throughput_per_user":{"unit":"tokens/sec/user","avg":7,"p50":7,"count":200},
		"validity":{"verdict":"uncertain","reason":"why","bounds":{"request_latency":{"p50":{"low":60.5,"high":80},"p99":{"low":89.5,"high":90}},"output_token_throughput_per_user":{"p50":{"low":3}}}}}`, request(1, 6, ""))
	page, err := Run(run, "x")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, say := range []string{`~80`, `<abbr title="between 60.50 and 80.00">~80.00</abbr>`, `<abbr title="at least 3.00">~7.00</abbr>`, "~ marks an approximate figure", `<td data-name="p99">90.00</td>`} {
		if !strings.Contains(text, say) {
			t.Errorf("no %q", say)
		}
	}
}

// TestSearchOnAPage: the windows and the answer of a load that seeks its limit are on the page, in the words of the terminal; a killed run has no answer.
func TestSearchOnAPage(t *testing.T) {
	run := made(t, `{"validity":{"verdict":"valid"}}`, request(1, 6, ""))
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(run.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("adaptive_scale_manifest.json", `{"adaptive_phases":[{"phase_name":"<b>","events_path":"phases/p/e.jsonl","summary_path":"phases/p/s.json"},{"phase_name":"x","events_path":"../../e","summary_path":"/etc/passwd"}]}`)
	window := `{"event":"adaptive_window","phase":"%s","timestamp_ns":%d,"control_variable":"request_rate","control_value_before":%v,"control_value_after":%v,"completed":7,"errored":1,"sla_passed":%s,"sla_values":%s}` + "\n"
	write("phases/p/e.jsonl", `{"event":"adaptive_phase_started","timestamp_ns":1000000000,"control_variable":"request_rate"}`+"\n"+
		fmt.Sprintf(window, "discover", int64(3e9), 2.5, 2.5, "true", `{"ttft:p95:lt:50":41.25}`)+`{"event":"adaptive_decision","control_variable":"request_rate","control_value_before":2.5,"control_value_after":4}`+"\n"+
		fmt.Sprintf(window, "sustain", int64(5e9), 4, 4, "null", `{}`)+`{"event":"adapt`) // torn
	page, err := Run(run, "test")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, page)
	for _, want := range []string{
		"Phase &lt;b&gt;, request rate", "ttft p95 &lt; 50", `<th scope="row">2.5</th>`, `<span>2.00</span>`, `<span>41.2</span>`, "kept", "up to 4", "open, held",
		"The search did not finish: no value has met the service level.",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	write("phases/p/s.json", `{"completed_reason":"sustain_duration_completed","last_passing_value":4,"first_failing_value":8}`)
	if page, err = Run(run, "test"); err != nil || bytes.Count(page, []byte("The limit: request rate 4 met the service level")) != 1 {
		t.Errorf("%v: no answer, or more than one", err)
	}
}

// TestVerdictBox: the main figures come first, then the verdict with what matters most; more than three notes are folded, and the warm-up is last.
func TestVerdictBox(t *testing.T) {
	page, err := Run(made(t, `{"validity":{"verdict":"valid","notes":["Note one.","Note two.","Note three."]},"request_latency":{"unit":"ms","p50":5,"count":1},"good_request_fraction":{"unit":"ratio","avg":0.5},"error_request_count":{"unit":"requests","avg":1}}`,
		request(1, 6, ""), strings.Replace(request(1, 6, ""), "profiling", "warmup", 1), request(1, 6, `,"error":{"code":500,"type":"Boom"}`)), "test")
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, want := range []string{`class="cards"`, `class="verdict suspect"`, "failed (50 %)", "met the goal.", "Note one.", "<summary>3 more notes</summary>", "Note two.", "Note three.", "Not part of any figure: 1 request of the warm-up."} {
		at := bytes.Index(page, []byte(want))
		if at < last {
			t.Errorf("%q is missing, or too early", want)
		}
		last = max(at, last)
	}
}

// TestStates: thin and odd runs make pages that say what they lack: nothing finished, all failed, one request, not streamed, cut, warm-up only.
func TestStates(t *testing.T) {
	evil := `</script><img src=x onerror=alert(1)>`
	failed := `{"metadata":{"benchmark_phase":"profiling","request_start_ns":1000000,"request_end_ns":3000000},"metrics":{},"error":{"code":500,"type":"` + evil + `"}}`
	for name, c := range map[string]struct {
		run  *runfiles.Run
		want []string
	}{
		"no records":  {made(t, `{}`), []string{"has no records of single requests"}},
		"all failed":  {made(t, `{"validity":{"verdict":"no result","reason":"why"},"error_summary":[{"count":1,"error_details":{"code":500,"type":"`+evil+`","message":"m"}}]}`, failed), []string{"The run has no result", "1 of 1 request failed (100 %)", "&lt;/script&gt;&lt;img"}},
		"one request": {made(t, `{"request_latency":{"unit":"ms","p50":5,"p90":5,"p99":5,"count":1}}`, request(1, 6, "")), []string{"A distribution needs two requests", "<dt>p90</dt><dd>needs 10</dd>", "<dt>p99</dt><dd>needs 100</dd>", "have no times of single tokens", "no request has finished"}},
		"cut":         {made(t, `{"validity":{"verdict":"valid"},"was_cancelled":true,"is_complete":false,"incomplete_reason":"Run cancelled."}`, request(1, 6, "")), []string{"valid, but not complete", "a part of the run. Run cancelled."}},
		"some failed": {made(t, `{"validity":{"verdict":"valid","reason":"All is well."},"request_count":{"unit":"requests","avg":143},"error_request_count":{"unit":"requests","avg":57}}`, request(1, 6, "")),
			[]string{`class="verdict suspect"`, `<h2 id="verdict">28.5 % of the requests failed</h2><p>The measurement is valid. All is well.</p>`}},
		"few failed": {made(t, `{"validity":{"verdict":"valid"},"request_count":{"unit":"requests","avg":199},"error_request_count":{"unit":"requests","avg":1}}`, request(1, 6, "")),
			[]string{`class="verdict suspect"`, "The measurement is valid</h2>"}},
		"not streamed": {made(t, `{"input_config":{"endpoint":{"streaming":false}},"request_count":{"unit":"requests","avg":1},"request_latency":{"unit":"ms","p50":5,"count":1}}`, request(1, 6, "")), []string{"needs streamed answers", "not measured in this run"}},
		"one server down": {made(t, `{"input_config":{"endpoint":{"urls":["http://a:1","http://b:2"]}},"request_count":{"unit":"requests","avg":1},"error_request_count":{"unit":"requests","avg":1}}`, request(1, 6, ""),
			strings.Replace(failed, `"metadata":{`, `"metadata":{"url_index":1,`, 1)), []string{"1 of 2 requests failed (50 %). They are not part of any latency figure. All of them went to http://b:2 (1 of 1)."}},
		"goal": {made(t, `{"input_config":{"slos":{"request_latency":80,"output_token_throughput_per_user":20}},"good_request_fraction":{"unit":"ratio","avg":0.5}}`, request(1, 6, "")),
			[]string{"50.0 % of the requests met the goal (Output TPS/User at least 20 tokens/sec/user, Req Latency at most 80 ms)."}},
		"nothing succeeded": {made(t, `{"error_request_count":{"unit":"requests","avg":3}}`, failed), []string{"no request succeeded, 3 failed"}},
		"warm-up":           {made(t, `{}`, strings.Replace(request(1, 6, ""), "profiling", "warmup", 1)), []string{"No request of the measured phase"}},
		"evil model":        {made(t, `{"input_config":{"models":{"items":[{"name":"`+evil+`"}]}}}`, request(1, 6, ""), request(2, 9, "")), []string{"&lt;/script&gt;&lt;img"}},
	} {
		page, err := Run(c.run, "test")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		alone(t, page)
		for _, want := range c.want {
			want = strings.ReplaceAll(want, "holds no", "hold no")
			if !bytes.Contains(page, []byte(want)) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		if bytes.Contains(page, []byte("<img")) {
			t.Errorf("%s: text of a server is markup", name)
		}
	}
}

// TestSample: of many requests, failures and the slowest stay, the rest is thinned evenly; the page says so.
func TestSample(t *testing.T) {
	var lines []string
	for i := range 900 {
		end := i + 10
		if i == 457 {
			end = i + 5000
		}
		more := ""
		if i%100 == 7 {
			more = `,"error":{"type":"x"}`
		}
		lines = append(lines, request(i, end, more))
	}
	q, err := made(t, "{}", lines...).Requests()
	if err != nil {
		t.Fatal(err)
	}
	got := sample(q, 200)
	have := map[int]bool{}
	for k, i := range got {
		have[i] = true
		if k > 0 && q.Start[got[k-1]] > q.Start[i] {
			t.Error("not in order of start")
		}
	}
	if len(got) != 200 || len(have) != 200 || !have[457] || !have[7] || !have[807] {
		t.Errorf("%d of them, the slowest %v", len(have), have[457])
	}
}

// TestSliceFigures: what a lane shows of a slice, by hand: two slices of a second, the median of each, tokens spread over their time.
func TestSliceFigures(t *testing.T) {
	var lines []string
	for i := range 24 { // every 100 ms one of 50 ms: 10 + 10 + 4 starts in slices of 1 s; the last slice takes the rest
		lines = append(lines, fmt.Sprintf(`{"metadata":{"benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"request_latency":{"value":%d},"output_sequence_length":{"value":5}}}`, i*100_000_000, i*100_000_000+50_000_000, 50+i))
	}
	q, err := made(t, "{}", lines...).Requests()
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(q)
	if c.step != 0.5 || c.n != 5 {
		t.Fatalf("%+v", c)
	}
	l := c.lane(q, sample(q, 99), "request_latency", "Latency")
	if p := l.Traces[1].Y; p[0] != 52 || p[1] != 57 {
		t.Errorf("medians %v", p)
	}
	flow := c.flow(q, 0)
	if y := flow[0].Traces[0].Y; y[0] < 49.99 || y[0] > 50.01 { // 5 requests of 5 tokens in half a second
		t.Errorf("tokens/s %v", y)
	}
	if y := flow[1].Traces[0].Y; y[0] < 0.499 || y[0] > 0.501 { // half of the time one is in flight
		t.Errorf("in flight %v", y)
	}
	if y := flow[1].Traces[1].Y; !slices.Equal(y, []float64{1, 1, 1, 1, 1, 1}) { // and never two, a slice's own end included
		t.Errorf("most at once %v", y)
	}
}

// TestStallInOutput: the lane of tokens shows a stall: the tokens of an answer lie where its messages came. Two requests of 11 tokens stream for half a
// second, send nothing for three seconds and end in half a second.
func TestStallInOutput(t *testing.T) {
	var lines []string
	for i := range 2 {
		lines = append(lines, fmt.Sprintf(`{"metadata":{"benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"time_to_first_token":{"value":100},`+
			`"inter_chunk_latency":{"value":[100,100,100,100,3000,100,100,100,100,100]},"request_latency":{"value":4000},"output_sequence_length":{"value":11}}}`, i*10_000_000, i*10_000_000+4_000_000_000))
	}
	q, err := made(t, "{}", lines...).Requests()
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(q)
	flow := c.flow(q, 0)
	if flow[0].Name != "tokens" || c.step != 1 || c.n != 4 {
		t.Fatalf("%s, %+v", flow[0].Name, c)
	}
	y := flow[0].Traces[0].Y
	if !near(y[0], 10) || y[1] != 0 || y[2] != 0 || !near(y[3]*c.width(3), 12) {
		t.Errorf("tokens/s %v", y)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestPeaks: the most requests at once in each slice, by hand: failures of no length count, one that lasts through a slice counts in it, and one that
// begins when another ends does not overlap it.
func TestPeaks(t *testing.T) {
	q, err := made(t, "{}", request(1, 3500, ""), request(100, 100, ""), request(200, 300, ""), request(250, 400, ""), request(1200, 1300, ""), request(1300, 1400, ""), request(3900, 4000, "")).Requests()
	if err != nil {
		t.Fatal(err)
	}
	c := clock{zero: 0, seconds: 4, step: 1, n: 4}
	if got := c.peaks(q); !slices.Equal(got, []float64{3, 2, 1, 1}) {
		t.Errorf("%v", got)
	}
}

// story is a run of 40 s with a warm-up, a slow phase from 20 to 30 s, failures and a schedule that was kept but for 3 ms.
func story(t *testing.T) *runfiles.Run {
	t.Helper()
	var lines []string
	for i := range 440 {
		start, ttft, phase, more := int64(i)*100_000_000, 100+i%7, "profiling", ""
		if i < 40 {
			phase = "warmup"
		}
		if i >= 200 && i < 300 {
			ttft = 400 + i%7
		}
		if i%50 == 49 && i > 40 {
			more = `,"error":{"code":429,"type":"Too Many Requests"}`
		}
		lines = append(lines, fmt.Sprintf(`{"metadata":{"x_request_id":"r%d","benchmark_phase":%q,"scheduled_ns":%d,"credit_issued_ns":%d,"request_start_ns":%d,"request_end_ns":%d},"metrics":{"time_to_first_token":{"value":%d},"request_latency":{"value":%d},"schedule_lag":{"value":3}}%s}`,
			i, phase, start-3_000_000, start-1_000_000, start, start+int64(ttft)*2_000_000, ttft, 2*ttft, more))
	}
	return made(t, `{"completed_request_count":{"unit":"requests","avg":400},"request_latency":{"unit":"ms","p50":206,"p90":800,"p99":810,"max":812,"count":392},"request_latency_from_schedule":{"unit":"ms","p50":209,"p90":803,"p99":813,"max":815,"count":392},
		"run_info":{"cli_command":"aiperf profile --artifact-dir '/home/me/x y' -m m"},
		"error_summary":[{"count":8,"error_details":{"code":429,"type":"Too Many Requests","message":"slow down"}}],
		"validity":{"verdict":"valid","notes":["8 of 400 requests failed; they are not part of any latency.","another note"],"target_rate":10,"schedule_lag_p99_ms":3}}`, lines...)
}

// TestStory: what the page finds in a run, by hand: the slow phase, the warm-up on the clock, the share and the time of failures, latencies against
// the schedule; the wait in the client counts from the instant at which a request was due.
func TestStory(t *testing.T) {
	page, err := Run(story(t), "test")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{
		"Slow phase from 20.0 to 30.0 s: TTFT p50 403 ms of the requests that began there, 103 ms of all others (3.91 times)", "8 of 400 requests failed (2 %)", "40 requests of the warm-up", "another note",
		`<td data-name="Share of the requests"><span>2.00 %</span>`, "5.10 to 40.1 s", "Request Latency from Schedule (ms)", ">813<", "Requested rate", "10.0 requests/s", `<span class="whole">--artifact-dir</span> artifacts/run <span class="whole">-m</span> m`,
		"--gpu-telemetry with the URL", "--server-metrics with the URL of another exporter adds them",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "/home/me") || strings.Count(text, "requests failed") != 1 {
		t.Error("a place on a machine, or a finding twice")
	}
	d := dataOf(t, page)
	if len(d.Bands) != 2 || d.Bands[0].Name != "warmup" || d.Bands[0].From != 0 || d.Bands[0].To != 4 || d.Bands[1].From != 20 || d.Bands[1].To != 30 {
		t.Errorf("bands %+v", d.Bands)
	}
	if r := d.Rows[5]; r[0] < r[1]-0.0031 || r[0] > r[1]-0.0029 {
		t.Errorf("due %v, started %v: 3 ms apart", r[0], r[1])
	}
}

// TestPhases: the page of a run with several measured phases tells the figures of each, by the phase's own summary, and names them at the top.
func TestPhases(t *testing.T) {
	run := made(t, `{"input_config":{"phases":[{"name":"warm","kind":"warmup"},{"name":"low","kind":"profiling"},{"name":"high","kind":"profiling"}]}}`, request(1, 6, ""))
	for name, ttft := range map[string]int{"low": 40, "high": 77} {
		dir := filepath.Join(run.Dir, "phases", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"time_to_first_token":{"unit":"ms","p50":%d,"p99":99,"count":50},"error_request_count":{"unit":"requests","avg":3}}`, ttft)
		if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := Run(run, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 phases: low, high", `>low</th><td data-name="Requests"><span>–`, `<td data-name="TTFT p50"><span>77.0 ms</span>`, `<td data-name="TTFT p99"><span>needs 100 requests</span>`, `<td data-name="Failed"><span>3</span>`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(string(page), ">warm</th>") {
		t.Error("the warm-up is taken for a measured phase")
	}
}

// TestReasoning: a request with reasoning has the instant at which its answer began.
func TestReasoning(t *testing.T) {
	thinking := strings.Replace(request(10, 90, ""), `"metrics":{`, `"metrics":{"time_to_first_token":{"value":20},"time_to_first_output_token":{"value":50},`, 1)
	plain := strings.Replace(request(20, 90, ""), `"metrics":{`, `"metrics":{"time_to_first_token":{"value":20},"time_to_first_output_token":{"value":20},`, 1)
	page, err := Run(made(t, "{}", thinking, plain), "test")
	if err != nil {
		t.Fatal(err)
	}
	if d := dataOf(t, page); d.Rows[0][7] != 0.05 || d.Rows[1][7] != -1 {
		t.Errorf("%v", d.Rows)
	}
}

// TestSteady: a run without a slow phase has none, nor has one that is too short to tell.
func TestSteady(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, request(i*100, i*100+50+i%20, ""))
	}
	for _, n := range []int{300, 5} {
		page, err := Run(made(t, "{}", lines[:n]...), "test")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), "Slow phase") || dataOf(t, page).Bands != nil {
			t.Errorf("of %d requests, some are said to be slow", n)
		}
		if !strings.Contains(string(page), "there was no schedule") {
			t.Error("no word of the schedule")
		}
	}
}
