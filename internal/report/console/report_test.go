package console

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// run is one valid request and failures of one kind.
func run(t *testing.T, valid, failures int) *metric.Run {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	r := set.NewReducer()
	const ms = 1_000_000
	for i := range valid + failures {
		rec := &record.Record{Start: 100 * ms, End: 2000 * ms, WallOffset: 1e18}
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 150 * ms, Text: "a"}, {At: 1600 * ms, Text: "b"}}}
		if i >= valid {
			rec.Error = &record.Error{Code: 429, Type: "Too Many Requests", Message: strings.Repeat("slow down ", 30)}
		}
		r.Add(set.Row(rec, reply, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
	}
	return &metric.Run{Title: "LLM Metrics", Profiling: r.Summary(metric.Window{}), Info: metric.RunInfo{CLICommand: "aiperf profile"}, LogFile: "/x/logs/aiperf.log"}
}

func TestWrap(t *testing.T) {
	if got := wrap("aaa bbb ccc", 7); got != "aaa bbb\nccc" {
		t.Errorf("%q", got)
	}
	if got := wrap("aaaaaaaaaaaa", 5); got != "aaaaa\naaaaa\naa" {
		t.Errorf("%q", got)
	}
}

// TestTables: every line of a table has one width, names with a long header have their unit below.
func TestTables(t *testing.T) {
	var b bytes.Buffer
	if err := Console(&b, run(t, 3, 2), Options{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	width := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch first, _ := utf8.DecodeRuneInString(line); first {
		case '┏', '╭':
			width = utf8.RuneCountInString(line)
		case '┃', '┡', '│', '└', '╰':
			if n := utf8.RuneCountInString(line); n != width {
				t.Errorf("a line of %d in a table of %d: %s", n, width, line)
			}
		}
		if n := utf8.RuneCountInString(line); n > 140 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	order := []string{"AIPerf | Error Summary", "429 │ Too Many Requests │ slow down", "AIPerf | LLM Metrics: Effective", "AIPerf | LLM Metrics: Active", "AIPerf | LLM Metrics\n",
		"Time to First Token (ms)", "1,500.00", "(tokens/sec/user)", "Request Count (requests)", "Request Latency (error-adjusted) │"}
	from := 0
	for _, s := range order {
		i := strings.Index(text[from:], s)
		if i < 0 {
			t.Errorf("%q does not follow in\n%s", s, text)
			continue
		}
		from += i
	}
	if strings.Contains(text, "\x1b") {
		t.Error("colour without a terminal")
	}
	for _, hidden := range []string{"Stream Setup", "Error Request Count", "Prefill Throughput Per User (tokens", "Inter Chunk"} {
		if strings.Contains(strings.ReplaceAll(text, "Effective Prefill", ""), hidden) && hidden != "Prefill Throughput Per User (tokens" {
			t.Errorf("%s is shown", hidden)
		}
	}
}

func TestNotices(t *testing.T) {
	r := run(t, 0, 4)
	r.IncompleteReason, r.Cancelled = "Run cancelled.", true
	r.Validity = metric.Assess(metric.ClientStats{ScheduleStats: metric.ScheduleStats{OpenLoop: true, RateSeconds: 1, Asked: 10, Drawn: 10, Sent: 5, LagMax: time.Second}, ReadDelays: 9, ReadDelayP99: 20 * time.Microsecond, LongestRest: 2 * time.Millisecond, Cores: 2, Valid: 4, Failed: 4}, nil, nil)
	var b bytes.Buffer
	if err := errors.Join(Console(&b, r, Options{Colour: true, Width: 200}), Footer(&b, r, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"INCOMPLETE RESULTS", "Run cancelled.", "The server limits the rate.", "All 4 requests failed", "rate not reached", "5.00 of 10.00 requests/s; the schedule planned 10.00, of which 50.0 % were sent",
		"Schedule lag: p50 0 µs, p99 0 µs, max 1.00 s", "20 µs, after rests of up to 2 ms;", "Note: 4 of 8 requests failed", "CLI Command: aiperf profile\nBenchmark Duration: N/A (cancelled early)\nLog File: /x/logs/aiperf.log\n",
		"Not a clean measurement: 100 % of the requests failed; rate not reached: 50.0 % of the schedule was sent (5 of 10 requests", "\x1b[1m"} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("no %q in\n%s", s, b.String())
		}
	}
	if strings.Contains(b.String(), "LLM Metrics") {
		t.Error("a metric table without metrics")
	}
}

// TestFailedRequests: from 1 % of failed requests on a valid run is amber and begins with their share, in the report, in its last line and at a terminal.
func TestFailedRequests(t *testing.T) {
	for _, c := range []struct {
		valid, failed int
		share, short  string
	}{{143, 57, "28.5 % of the requests failed", "28.5 % failed"}, {99, 1, "1 % of the requests failed", "1 % failed"}, {199, 1, "", ""}} {
		r := run(t, c.valid, c.failed)
		r.Validity = &metric.Validity{Verdict: metric.VerdictValid, Reason: "All is well."}
		var pipe, screen, last bytes.Buffer
		terminal := Options{Colour: true, Terminal: true, Width: 120}
		if err := errors.Join(Console(&pipe, r, Options{}), Footer(&pipe, r, Options{}), Console(&screen, r, terminal), Headline(&last, r, "x", 1, terminal)); err != nil {
			t.Fatal(err)
		}
		want := map[*bytes.Buffer][]string{
			&pipe:   {"\nValidity: " + c.share + ". Verdict: valid. All is well.", "\nNot a clean measurement: " + c.share + "."},
			&screen: {"\x1b[33m!\x1b[0m \x1b[33m" + c.share + "\x1b[0m. Verdict: "}, &last: {"\x1b[33m" + c.short + "\x1b[0m; valid\n"},
		}
		if c.share == "" {
			want = map[*bytes.Buffer][]string{&pipe: {"\nValidity: valid. All is well."}, &screen: {"\x1b[32m✔\x1b[0m \x1b[1mvalid\x1b[0m."}, &last: {"Verdict\x1b[0m     \x1b[1mvalid\x1b[0m\n"}}
		}
		for b, list := range want {
			for _, s := range list {
				if !strings.Contains(b.String(), s) {
					t.Errorf("%d of %d failed: no %q in\n%s", c.failed, c.valid+c.failed, s, b.String())
				}
			}
		}
		if c.share == "" && strings.Contains(pipe.String(), "Not a clean") {
			t.Errorf("few failures are a doubt:\n%s", pipe.String())
		}
	}
}

// TestApproximateFigures: a figure whose limits are too far apart is marked, in the table and in the headline, and the mark is explained.
func TestApproximateFigures(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		r := run(t, 100, 0)
		latency, _ := r.Profiling.Get("request_latency")
		v := latency.Values[metric.P99]
		bounds := metric.Bounds{"request_latency": {metric.P99: {Low: v / 2, High: v}, metric.P50: {Low: latency.Values[metric.P50] * 0.99, High: latency.Values[metric.P50]}}}
		r.Validity = &metric.Validity{Verdict: metric.VerdictUncertain, Reason: "Why.", Bounds: bounds}
		var b bytes.Buffer
		o := Options{Width: 120, Terminal: terminal}
		if err := errors.Join(Console(&b, r, o), Headline(&b, r, "dir", 3, o)); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, say := range []string{"~" + number(&latency, metric.P99), "p99 ~", "~ marks figures that are known only approximately"} {
			if !strings.Contains(text, say) {
				t.Errorf("no %q in\n%s", say, text)
			}
		}
		if n := strings.Count(text, "~"); n != 3 {
			t.Errorf("%d marks, want 3 in\n%s", n, text)
		}
	}
}

// TestForeignMessages: what servers write neither moves the table's lines nor steers the terminal.
func TestForeignMessages(t *testing.T) {
	r := run(t, 1, 1)
	e := &r.Profiling.Errors[0].Error
	e.Message = strings.Repeat("日本語🙂e\u0301", 30) + "\x1b[31m\u009b31m\u0085\u2028\r\x07"
	text := string(Text(r, 140, nil))
	if strings.ContainsAny(text, "\x1b\u009b\u0085\u2028\r\x07") {
		t.Errorf("control characters in\n%q", text)
	}
	_, table, _ := strings.Cut(text, "\n┏")
	table, _, _ = strings.Cut("┏"+table, "└")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for _, l := range lines {
		if ansi.StringWidth(l) != ansi.StringWidth(lines[0]) || ansi.StringWidth(l) > 140 {
			t.Errorf("%d columns, not %d: %s", ansi.StringWidth(l), ansi.StringWidth(lines[0]), l)
		}
	}
	if n := strings.Count(table, "日"); n != 30 {
		t.Errorf("%d of 30 repetitions", n)
	}
}

// TestDiscrepancies: the panel names the threshold that was counted with.
func TestDiscrepancies(t *testing.T) {
	for _, c := range []struct {
		limit float64
		want  string
	}{{10, "more than 10 % away"}, {0, "more than 0 % away"}, {2.5, "more than 2.5 % away"}, {50, ""}} {
		set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true, Thresholds: &metric.Thresholds{UsagePct: c.limit}})
		if err != nil {
			t.Fatal(err)
		}
		r := set.NewReducer()
		rec := &record.Record{Start: 1, End: 1000, WallOffset: 1e18}
		usage := &record.Usage{Prompt: 5, Completion: 9, Reasoning: -1, PromptAudioSeconds: -1}
		r.Add(set.Row(rec, &record.Reply{Contents: []record.Content{{At: 50, Text: "a"}, {At: 500, Text: "b"}}, Usage: usage}, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
		text := string(Text(&metric.Run{Title: "LLM Metrics", Profiling: r.Summary(metric.Window{})}, 140, nil))
		if c.want == "" && strings.Contains(text, "Token Counts Differ") || !strings.Contains(text, c.want) {
			t.Errorf("threshold %v:\n%s", c.limit, text)
		}
	}
}

// full is a writer that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWriteError(t *testing.T) {
	r := run(t, 1, 0)
	if Console(full{}, r, Options{}) == nil || Footer(full{}, r, Options{}) == nil {
		t.Error("no error from a full disk")
	}
}

// TestManyKindsOfErrors: the console shows the twenty most frequent ones and the number of the others; the file has all.
func TestManyKindsOfErrors(t *testing.T) {
	r := run(t, 1, 1)
	r.Profiling.Errors = nil
	for i := range 33 {
		r.Profiling.Errors = append(r.Profiling.Errors, metric.ErrorGroup{Error: record.Error{Type: "E", Message: fmt.Sprintf("kind-%02d", i)}, Count: 100})
	}
	var b bytes.Buffer
	if err := Console(&b, r, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	file := string(Text(r, 120, nil))
	if n := strings.Count(b.String(), "kind-"); n != 20 || !strings.Contains(b.String(), "and 13 more kinds of errors, of 1,300 requests") {
		t.Errorf("%d kinds\n%s", n, b.String())
	}
	if n := strings.Count(file, "kind-"); n != 33 || strings.Contains(file, "more kinds") {
		t.Errorf("%d kinds in the file", n)
	}
}
