package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// onTerminal returns the report for a terminal with the given number of columns.
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
	r.Validity = metric.Assess(metric.ClientStats{ScheduleStats: metric.ScheduleStats{OpenLoop: true, RateSeconds: 1, Asked: 10, Drawn: 10, Sent: 5, LagMax: time.Second}, ReadDelays: 9, ReadDelayP99: 20 * time.Microsecond, Cores: 2, Valid: 3, Failed: 2}, nil, nil)
	return r
}

// TestFits: no line is wider than the terminal, colours or not, and no row of a metric table breaks in two.
func TestFits(t *testing.T) {
	r := judged(t)
	r.Subject = "千问-72B-模型🚀 · http://127.0.0.1:8000 · chat, streaming · 24 in flight for 40 s · ISL 512, OSL 60, and then some"
	for _, width := range []int{60, 72, 80, 100, 120, 130, 200} {
		for _, o := range []Options{{Width: width}, {Width: width, Colour: true, AllTables: true}} {
			text := onTerminal(t, r, o)
			for line := range strings.Lines(text) {
				if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d columns on a terminal of %d: %s", n, width, line)
				}
			}
		}
	}
}

// TestColumns: which columns a terminal keeps, and which names metrics have there.
func TestColumns(t *testing.T) {
	for width, want := range map[int]string{
		60: "avg max p99 p50", 70: "avg max p99 p90 p50", 80: "avg min max p99 p90 p50", 90: "avg min max p99 p90 p50 std", 120: "avg min max p99 p90 p50 std", 160: "avg min max p99 p90 p50 std",
	} {
		text := onTerminal(t, judged(t), Options{Width: width})
		_, table, _ := strings.Cut(text, "LLM Metrics ─")
		lines := strings.Split(table, "\n")
		if got := strings.Join(strings.Fields(lines[1]), " "); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
		if name := map[bool]string{true: "Time to First Token (ms) ", false: "TTFT (ms) "}[width >= 112]; !strings.HasPrefix(lines[2], name) {
			t.Errorf("at %d %q, want %q", width, lines[2], name)
		}
	}
}

// TestTerminalTables: a terminal gets the main table first, without frames, empty cells and whole counts, the names of the others, and errors with
// their count and share; a wide one and everything else gets all, with N/A in empty cells.
func TestTerminalTables(t *testing.T) {
	r := judged(t)
	text := onTerminal(t, r, Options{Width: 80})
	if strings.Contains(text, "LLM Metrics: Active") || strings.Contains(text, missing) || !strings.Contains(text, "tables all") || strings.ContainsAny(text, "┃│┏└╭") {
		t.Errorf("the terminal's own tables:\n%s", text)
	}
	for _, want := range []string{"Requests (requests)", "\n    2  40.0 %", "\nVerdict ─", "\n! 40 % of the requests failed. Verdict: rate not reached. "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if metrics, errors := strings.Index(text, "\nLLM Metrics ─"), strings.Index(text, "\nErrors ─"); metrics < 0 || errors < metrics {
		t.Errorf("metrics at %d, errors at %d of\n%s", metrics, errors, text)
	}
	ascii := onTerminal(t, r, Options{Width: 80, ASCII: true, Colour: true})
	if strings.ContainsFunc(ascii, func(r rune) bool { return r > '~' }) || len(strings.Split(ascii, "\n")) != len(strings.Split(text, "\n")) {
		t.Errorf("a terminal of ASCII gets\n%s", ascii)
	}
	for _, o := range []Options{{Width: 80, AllTables: true}, {Width: 160}} {
		if text := onTerminal(t, r, o); !strings.Contains(text, "LLM Metrics: Active") || strings.Contains(text, "tables all") {
			t.Errorf("all tables:\n%s", text)
		}
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

// TestHeadline: the six figures, under the names of the live view. Three answers of 8 tokens each came in 1.5 s, the first token after 50 ms and
// the last after 1,500.
func TestHeadline(t *testing.T) {
	r := judged(t)
	r.Subject = "model\x1b · http://h"
	var b bytes.Buffer
	if err := Headline(&b, r, "artifacts/x", 1, Options{Terminal: true, Width: 80}); err != nil {
		t.Fatal(err)
	}
	want := `
━━ model\x1b · http://h ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
  Requests/s Tokens/s out           TTFT             ITL         Latency  Errors
        2.00        16.0     p50 50.0 ms      p50 207 ms    p50 1,500 ms       2
        3 ok  4.83 /user     max 50.0 ms      max 207 ms    max 1,500 ms  40.0 %
Verdict     40 % failed; rate not reached: 50.0 % of the schedule sent
Results     1 file in artifacts/x
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestFlow(t *testing.T) {
	if got := terminal.Flow("  aaa bbb ccc\nx", 9); got != "  aaa bbb\n    ccc\nx" {
		t.Errorf("%q", got)
	}
	if got := terminal.Flow("aaa is 9.6 %, b", 10); got != "aaa is\n  9.6 %, b" {
		t.Errorf("a number without its unit: %q", got)
	}
	if got := terminal.Flow("in the file; --tables all shows", 23); got != "in the file;\n  --tables all shows" {
		t.Errorf("%q", got)
	}
	if got := terminal.Flow("by --a-long-flag a-long-value", 20); got != "by --a-long-flag\n  a-long-value" {
		t.Errorf("%q", got)
	}
	if got := terminal.Flow("\x1b[31mred word\x1b[0m end", 12); got != "\x1b[31mred word\x1b[0m end" {
		t.Errorf("colours count: %q", got)
	}
}

// TestTailOfFewRequests: the headline shows p99 only of as many requests as p99 needs.
func TestTailOfFewRequests(t *testing.T) {
	for n, want := range map[int]string{4: "max ", 10: "p90 ", 99: "p90 ", 100: "p99 "} {
		var b bytes.Buffer
		if err := Headline(&b, run(t, n, 0), "dir", 3, Options{Width: 120, Terminal: true}); err != nil {
			t.Fatal(err)
		}
		for _, tail := range []string{"max ", "p90 ", "p99 "} {
			if strings.Contains(b.String(), tail) != (tail == want) {
				t.Errorf("%d requests: want %q alone in\n%s", n, want, b.String())
			}
		}
	}
}
