package htmlreport

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/comparison"
)

// TestComparePage: the verdict first, every statistic with its interval as text and as a picture, names of runs instead of their directories.
func TestComparePage(t *testing.T) {
	values := map[string][]float64{"request_latency": {10, 20, 30}}
	r := &comparison.Result{
		Basis: "one run each", Options: comparison.Options{Confidence: 0.95, Noise: 0.01}, Outcome: comparison.Worse,
		A: []comparison.Run{{Path: "/home/me/before", Values: values, Seconds: 12, Target: comparison.Target{Label: "old", URL: "http://h:1", Model: "m"}}}, B: []comparison.Run{{Path: "/home/me/after", Values: values, Failed: 2, Doubt: "<cut short>", Target: comparison.Target{URL: "http://h:2", Model: "m", Answered: "m-2", Server: "vllm 0.9.1"}}},
		Notes: []string{"/home/me/after was still changing"},
		Lines: []comparison.Line{
			{Tag: "request_latency", Stat: "p50", Unit: "ms", A: 20, B: 30, Difference: 0.5, Low: 0.25, High: 0.75, Margin: 0.05, Outcome: comparison.Worse},
			{Tag: "error_rate", Stat: "share", B: 0.4, Difference: 0.4, Low: math.Inf(-1), High: math.Inf(1), Outcome: comparison.Cannot, Reason: "/home/me/before is short", Needed: "more runs"},
		},
	}
	page, err := Compare(r, "test")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, page)
	text := string(page)
	for _, want := range []string{
		"before against after", "B is worse than A", "<li>Worse: Request Latency p50.</li>", "After was still changing.", "Run-to-run noise of 1 % is assumed", "+50 %", "+25\u00a0% to +75\u00a0%", "Request Latency p50", "+40.0 points", ">unbounded<", "Model in the answers", "vllm 0.9.1", "old (m at http://h:1)",
		"before is short; it would take more runs", "&lt;cut short&gt;",
		`<line class="span" x1="145.3" x2="216.0"`, // reach 75 %: 25 % lies a third of the way from the middle, 110, to the edge, 216
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "/home/me") {
		t.Error("a place on a machine")
	}
	if d := dataOf(t, page); len(d.Charts) != 1 || len(d.Charts[0].Traces) != 2 {
		t.Errorf("%d charts", len(d.Charts))
	}
}

// TestCompareSeriesPage: every cell has a row with its counts and a part with its statistics; one that is not judged says why, without its directory.
func TestCompareSeriesPage(t *testing.T) {
	side := func(path string) []comparison.Run { return []comparison.Run{{Path: path, Seconds: 12}} }
	s := &comparison.Series{
		OnlyA: []string{"rate_8"}, Outcome: comparison.Worse,
		Cells: []comparison.Cell{
			{Name: "rate_1", Refused: "/home/me/b/rate_1: the client was the limit", Result: &comparison.Result{A: side("/home/me/a/rate_1"), B: side("/home/me/b/rate_1"), Outcome: comparison.Cannot}},
			{Name: "rate_2", Result: &comparison.Result{
				Basis: "one run each", Options: comparison.Options{Confidence: 0.95, Noise: 0.01}, A: side("/home/me/a/rate_2"), B: side("/home/me/b/rate_2"), Outcome: comparison.Worse,
				Notes: []string{"/home/me/b/rate_2 was still changing"},
				Lines: []comparison.Line{{Tag: "request_latency", Stat: "p50", Unit: "ms", A: 20, B: 30, Difference: 0.5, Low: 0.25, High: 0.75, Margin: 0.05, Outcome: comparison.Worse}},
			}},
		},
	}
	page, err := CompareSeries(s, "test")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, page)
	text := string(page)
	for _, want := range []string{
		"Series against series, 2 cells", "B is worse than A", "Only in A: rate_8.", "2 cells, 1 worse, 1 cannot tell", "Not judged: rate_1: the client was the limit.", "Rate_2 was still changing.",
		`href="#cell-2"`, "Request Latency p50", "Run-to-run noise of 1 % is assumed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(text, "/home/me") {
		t.Error("a place on a machine")
	}
}
