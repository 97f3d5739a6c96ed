package comparison

import (
	"math"
	"strings"
	"testing"
)

// TestWords: the worst comes first, units stand once, and a table has the order of the family.
func TestWords(t *testing.T) {
	r := &Result{Options: Options{Confidence: .95}, Lines: []Line{
		{Tag: "request_latency", Stat: "mean", Unit: "ms", A: 50, B: 50.5, Difference: .01, Low: -.005, High: .025, Margin: .05, Outcome: Same},
		{Tag: "time_to_first_token", Stat: "p99", Unit: "ms", A: 212, B: 248, Difference: .17, Low: .09, High: math.Inf(1), Outcome: Worse},
		{Tag: "error_rate", Stat: "share", A: .001, B: .002, Difference: .001, Low: -.004, High: .006, Outcome: Cannot, Needed: "5 runs each"},
	}}
	want := []string{
		"time to first token p99: worse, 212 -> 248 ms, +17.0 % (95 % interval +9.0 to unbounded %).",
		"error rate share: cannot tell, 0.1 % -> 0.2 %, +0.1 points (95 % interval -0.4 to +0.6 points); it would take 5 runs each.",
		"request latency mean: same within 5 %, 50 -> 50.5 ms, +1.0 % (95 % interval -0.5 to +2.5 %).",
	}
	for i, l := range r.Worst() {
		if got := l.Sentence(.95); got != want[i] {
			t.Errorf("%s\nwant %s", got, want[i])
		}
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(b.String(), "\n")
	if len(rows) != 5 || strings.Join(strings.Fields(rows[2]), " ") != "time to first token p99 212 248 ms +17.0 % +9.0 to unbounded % worse" || !strings.HasPrefix(strings.TrimSpace(rows[3]), "error rate share  ") {
		t.Errorf("%q", rows)
	}
}

// TestNoTurns: a reader learns that time may be the difference, unless the sides took turns or came within a moment.
func TestNoTurns(t *testing.T) {
	at := func(minutes ...float64) (side []Run) {
		for _, m := range minutes {
			run := made(uint64(m*60), 100, 100)
			run.Wall = int64(m * 60e9)
			side = append(side, run)
		}
		return side
	}
	for _, c := range []struct {
		a, b []Run
		want string
	}{
		{at(0, 1, 2), at(3, 4, 5), "A was over when B began"},
		{at(9), at(5), "B was over when A began"},
		{at(0, 2, 4), at(1, 3, 5), ""},
		{at(0), at(1), ""},
	} {
		r, err := Compare(c.a, c.b, usual)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Notes, "\n"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
