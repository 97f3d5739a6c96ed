package console

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
)

// TestSought: a terminal is shown how a load sought its limit, every window and the answer, within its width; anything else is as without it.
func TestSought(t *testing.T) {
	run := pictured(t)
	table := func(width int, atTerminal bool) string {
		var b bytes.Buffer
		if err := Console(&b, run, Options{Width: width, Terminal: atTerminal}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain := table(100, false)
	one := metric.AdaptiveResult{Phase: "climb\x1b[31m", Variable: "request_rate", Levels: []string{"time to first token p95 < 50"}, LastGood: 2.5, FirstBad: 4, Why: "sustain_duration_completed"}
	for i := range 30 {
		w := metric.AdaptiveWindow{End: time.Duration(i+1) * time.Second, Load: float64(i) + 0.5, Requests: int64(100 + i), Errors: 1, Values: []float64{math.NaN()}, Level: "kept", Next: float64(i) + 1.5}
		if i == 29 {
			w.Level, w.Held, w.Values[0] = "broken", true, 1234.5
		}
		one.Windows = append(one.Windows, w)
	}
	run.Adaptive = []metric.AdaptiveResult{one}
	if table(100, false) != plain {
		t.Error("what is no terminal is told of a search in another layout than the contract's")
	}
	for _, width := range []int{60, 80, 120, 200} {
		_, text, found := strings.Cut(table(width, true), "Search for the highest request rate, phase climb")
		if !found {
			t.Fatalf("%d wide: no search", width)
		}
		text, _, _ = strings.Cut(text, "\n\n")
		for line := range strings.Lines(text) {
			if termdraw.Width(strings.TrimRight(line, "\n")) > width {
				t.Errorf("%d wide: %q", width, line)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Errorf("a phase steers the terminal: %q", text)
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{
			"0.5 100 1 – kept, up to 1.5", "29.5 129 1 1,234 ! held: broken, end", "in the middle 6 more windows",
			"The limit: request rate 2.5 met the service level until the end of the hold time; 4 broke it.",
		} {
			if width == 60 {
				want = strings.NewReplacer(" 100 1 ", " 100 ", " 129 1 ", " 129 ").Replace(want)
			}
			if !strings.Contains(text, want) {
				t.Errorf("%d wide: no %q in\n%s", width, want, text)
			}
		}
	}
}
