package plan

import (
	"errors"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// TestRepeats: a row for each run, the figures of the complete ones below in the same columns, within 80 columns; what is wrong with a run is said.
func TestRepeats(t *testing.T) {
	stalled, cut := measured(t, 4, 2), measured(t, 1, 0)
	stalled.Silences, cut.IncompleteReason = make([]metric.ServerSilence, 1), "cut"
	trials := []*trial{{run: measured(t, 2, 0)}, {n: 1, run: stalled}, {n: 2, run: cut}, {n: 3, err: errors.New("no server")}}
	r := &metric.RepeatSummary{Confidence: .95, Values: metric.Repeat([]*metric.Run{trials[0].run, trials[1].run}, .95)}
	got := repeatTable(trials, r).String(termdraw.NewPaint(false, false, false))
	want := []string{
		"run req/s tok/s out TTFT p50 p99 ITL p50 latency p50 errors",
		"1 1.33 10.7 50.0 50.0 207 1,500 0", "2 2.67 21.3 50.0 50.0 207 1,500 2 ! stall", "3 0.667 5.33 50.0 50.0 207 1,500 0 ! excluded", "4 no server",
		"mean 2.00 16.0 50.0 50.0 207 1,500", "± 8.47 67.8 0 0 0 0", "CV 47.1 % 47.1 % 0 % 0 % 0 % 0 %",
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%s", got)
	}
	for k, line := range lines {
		if termdraw.Width(line) > lineWidth || !strings.HasPrefix(strings.Join(strings.Fields(line), " "), want[k]) {
			t.Errorf("%d columns: %s\nwant %s", termdraw.Width(line), line, want[k])
		}
	}
}

// TestRepeatRows: tiny figures keep a blank between the columns, and a run with a bad verdict says so, although its figures count.
func TestRepeatRows(t *testing.T) {
	limited := measured(t, 2, 0)
	limited.Validity = &metric.Validity{Verdict: metric.VerdictClientLimited}
	busy := measured(t, 2, 0)
	busy.Validity = &metric.Validity{Verdict: metric.VerdictServerLimited}
	r := &metric.RepeatSummary{Confidence: .95, Values: metric.Repeat([]*metric.Run{limited, busy}, .95)}
	for i := range r.Values {
		v := &r.Values[i]
		v.Low, v.High, v.CV = 100, 100.000246, 0.0000154
	}
	lines := strings.Split(repeatTable([]*trial{{run: limited}, {n: 1, run: busy}}, r).String(termdraw.NewPaint(false, false, false)), "\n")
	if !strings.HasSuffix(lines[1], " ! client") || strings.Contains(lines[2], "!") {
		t.Errorf("%q\n%q", lines[1], lines[2])
	}
	for _, c := range []struct{ line, want string }{
		{lines[len(lines)-3], "± 0.00012 0.000123 0.000123 0.00012 0.00012 0.000123"}, {lines[len(lines)-2], "CV 0.002 % 0.00154 % 0.0015 % 0.002 % 0.002 % 0.00154 %"},
	} {
		if got := strings.Join(strings.Fields(c.line), " "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
