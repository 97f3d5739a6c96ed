package comparison

import (
	"math"
	"os"
	"path/filepath"
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
		if got := strings.Join(slices.DeleteFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "from run to run") }), "\n"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestCellsBelow: who names a series of cells is led to one of them.
func TestCellsBelow(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"concurrency_2", "concurrency_4/profile_runs/trial_0001"} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(full, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(full, recordsFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir, 0); err == nil || !strings.Contains(err.Error(), "a series of 2 cells, which are compared one by one, as "+filepath.Join(dir, "concurrency_2")) {
		t.Error(err)
	}
	if _, err := Load(t.TempDir(), 0); err == nil || strings.Contains(err.Error(), "series") {
		t.Error(err)
	}
}

// TestFewPairs: a comparison by turns that has too few of them says what is wrong with the others; several runs say how much they differ.
func TestFewPairs(t *testing.T) {
	var a, b []Run
	for i := range uint64(6) {
		a, b = append(a, made(i, 200, 100)), append(b, made(i+10, 200, 100))
	}
	b[2].Doubt = "its latencies are uncertain"
	if _, err := Pairs(a, b, usual, 1); err == nil || err.Error() != "5 of 6 pairs are valid; 6 or more are needed: in 1 of 12 blocks its latencies are uncertain" {
		t.Error(err)
	}
	b[2].Doubt = ""
	r, err := Compare(a, b, usual)
	if err != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "from run to run the mean latency varies by 0.") {
		t.Errorf("%v %+v", err, r)
	}
}
