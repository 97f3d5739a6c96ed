package comparison

import (
	"errors"
	"math"
	"slices"
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
	if err := r.WriteTable(&b, 0); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(b.String(), "\n")
	if len(rows) != 5 || strings.Join(strings.Fields(rows[2]), " ") != "time to first token p99 212 248 ms +17.0 % +9.0 to unbounded % worse" || !strings.HasPrefix(strings.TrimSpace(rows[3]), "error rate share  ") {
		t.Errorf("%q", rows)
	}
}

// TestNarrowTable: a table that is too wide for a terminal has short names and no units, and fits 80 columns.
func TestNarrowTable(t *testing.T) {
	r := &Result{Options: Options{Confidence: .95}}
	for _, s := range allStatistics() {
		r.Lines = append(r.Lines, Line{Tag: s.tag, Stat: s.stat, Unit: s.unit, A: 1234, B: .15, Difference: -.123, Low: -.3, High: 1.876, higherIsBetter: s.higherIsBetter, Outcome: Cannot})
	}
	r.Lines[len(r.Lines)-1].A = 0.0123 // a share
	for _, width := range []int{0, 80, 200} {
		var b strings.Builder
		if err := r.WriteTable(&b, width); err != nil {
			t.Fatal(err)
		}
		if narrow := strings.Contains(b.String(), "TTFT p99"); narrow != (width == 80) || narrow && widest(b.String()) > 80 || !narrow && !strings.Contains(b.String(), "requests/sec") {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

// TestUnbounded: an end beyond what a reader wants to know is called so, and no figure is minus nothing.
func TestUnbounded(t *testing.T) {
	l := Line{Tag: "request_latency", Stat: "mean", Difference: -0.0001, Low: -0.999, High: 4e20}
	if _, _, difference, interval := l.figures(); difference != "+0.0 %" || interval != "unbounded" {
		t.Errorf("%q, %q", difference, interval)
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
		{at(0, 1, 2), at(3, 4, 5), "A ended before B began"},
		{at(9), at(5), "B ended before A began"},
		{at(0, 2, 4), at(1, 3, 5), ""},
		{at(0), at(1), ""},
	} {
		r, err := Compare(c.a, c.b, usual)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.DeleteFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "the mean latency varies") }), "\n"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestFewPairs: a comparison with too few valid pairs says what is wrong with the others; several runs say how much they differ.
func TestFewPairs(t *testing.T) {
	var a, b []Run
	for i := range uint64(6) {
		a, b = append(a, made(i, 200, 100)), append(b, made(i+10, 200, 100))
	}
	b[2].Doubt = "its latencies are uncertain"
	few, err := Pairs(a, b, usual, 1)
	if err != nil || few.Refused != "only 5 of 6 pairs are valid; at least 6 are needed: in 1 of 12 blocks its latencies are uncertain" || few.Outcome != Cannot || len(few.Lines) == 0 || few.MorePairs != 11 {
		t.Errorf("%+v %v", few, err)
	}
	var none *FewPairsError
	if _, err := Pairs(a[1:3], b[1:3], usual, 1); !errors.As(err, &none) || !strings.HasPrefix(err.Error(), "only 1 of 2 pairs") || none.Enough() != 18 {
		t.Error(err)
	}
	b[2].Doubt = ""
	r, err := Compare(a, b, usual)
	if err != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "the mean latency varies between runs by 0.") {
		t.Errorf("%v %+v", err, r)
	}
}
