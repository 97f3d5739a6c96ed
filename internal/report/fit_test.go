package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"aiperf/internal/metric"
)

// onTerminal is what a terminal of so many columns gets.
func onTerminal(t *testing.T, r *metric.Run, o Options) string {
	t.Helper()
	o.Terminal = true
	var b bytes.Buffer
	if err := errors.Join(Console(&b, r, o), Headline(&b, r, "artifacts/x", 6, o)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// judged is a run with a verdict and errors.
func judged(t *testing.T) *metric.Run {
	r := run(t, 3, 2)
	r.IncompleteReason = "Run cancelled before all records were processed."
	r.Validity = metric.Assess(metric.ClientStats{ScheduleStats: metric.ScheduleStats{OpenLoop: true, RateSeconds: 1, Asked: 10, Drawn: 10, Sent: 5, LagMax: time.Second}, ReadDelays: 9, ReadDelayP99: 20 * time.Microsecond, Cores: 2, Valid: 3, Failed: 2}, nil)
	return r
}

// TestFits: no line is wider than the terminal, colours or not, and no row of a metric table breaks in two.
func TestFits(t *testing.T) {
	for _, width := range []int{72, 80, 100, 120, 130, 200} {
		for _, o := range []Options{{Width: width}, {Width: width, Colour: true, AllTables: true}} {
			text := onTerminal(t, judged(t), o)
			for line := range strings.Lines(text) {
				if n := visible(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d columns on a terminal of %d: %s", n, width, line)
				}
			}
		}
	}
}

// TestColumns: which columns a terminal keeps.
func TestColumns(t *testing.T) {
	for width, want := range map[int]string{
		60: "Metric avg p99 p50", 80: "Metric avg max p99 p50", 100: "Metric avg min max p99 p90 p50", 130: "Metric avg min max p99 p90 p50 std",
	} {
		text := onTerminal(t, judged(t), Options{Width: width})
		_, table, _ := strings.Cut(text, "LLM Metrics\n")
		head := strings.Split(table, "\n")[1]
		if got := strings.Join(strings.Fields(strings.ReplaceAll(head, "┃", " ")), " "); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// TestTerminalTables: a terminal gets the main table and is told of the others; everything else gets all of them with N/A in empty cells.
func TestTerminalTables(t *testing.T) {
	r := judged(t)
	text := onTerminal(t, r, Options{Width: 80})
	if strings.Contains(text, "LLM Metrics: Active") || strings.Contains(text, missing+" │\n") || !strings.Contains(text, "tables all") {
		t.Errorf("the terminal's own tables:\n%s", text)
	}
	if text := onTerminal(t, r, Options{Width: 80, AllTables: true}); !strings.Contains(text, "LLM Metrics: Active") || strings.Contains(text, "tables all") {
		t.Errorf("all tables:\n%s", text)
	}
	var wide, narrow bytes.Buffer
	if err := errors.Join(Console(&wide, r, Options{Width: 140}), Console(&narrow, r, Options{Width: 40})); err != nil {
		t.Fatal(err)
	}
	tables := func(s string) string { _, s, _ = strings.Cut(s, "LLM Metrics: Effective"); return s }
	if a, b := tables(wide.String()), tables(narrow.String()); a != b || !strings.Contains(a, "N/A │\n") || !strings.Contains(a, "LLM Metrics: Active") {
		t.Errorf("a pipe's tables depend on its width:\n%s\n%s", a, b)
	}
}

// TestHeadline: the six lines. Three answers of 8 tokens each came in 1.5 s, the first token after 50 ms and the last after 1,500.
func TestHeadline(t *testing.T) {
	r := judged(t)
	var b bytes.Buffer
	if err := Headline(&b, r, "artifacts/x", 1, Options{Terminal: true, Width: 60}); err != nil {
		t.Fatal(err)
	}
	want := "\n" + `TTFT        p50      50.0 ms   p99      50.0 ms
ITL         p50       207 ms   p99       207 ms
Latency     p50     1,500 ms   p99     1,500 ms
Throughput  16.0 tokens/s, 2.00 requests/s, 2 of 5 failed (40.0 %)
Verdict     rate not reached. 50.0 % of the schedule was se…
Results     1 file in artifacts/x
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestFlow(t *testing.T) {
	if got := flow("  aaa bbb ccc\nx", 9); got != "  aaa bbb\n    ccc\nx" {
		t.Errorf("%q", got)
	}
	if got := flow("\x1b[31mred word\x1b[0m end", 12); got != "\x1b[31mred word\x1b[0m end" {
		t.Errorf("colours count: %q", got)
	}
}
