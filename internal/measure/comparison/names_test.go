package comparison

import (
	"slices"
	"testing"
)

// TestSides: sides are named by the first of URL, model and directory in which they differ.
func TestSides(t *testing.T) {
	one := func(path, url, model string) Run { return Run{Path: path, Target: Target{URL: url, Model: model}} }
	for _, c := range []struct {
		a, b         []Run
		nameA, nameB string
	}{
		{[]Run{one("x/blocks/1", "http://a:8000/", "m"), one("x/blocks/3", "http://a:8000/", "m")}, []Run{one("x/blocks/2", "http://b:8000", "m")}, "a:8000", "b:8000"},
		{[]Run{one("x", "http://a", "small")}, []Run{one("y", "http://a", "large")}, "small", "large"},
		{[]Run{one("r/before/profile_runs/1", "u", "m"), one("r/before/profile_runs/2", "u", "m")}, []Run{one("r/after", "u", "m")}, "before", "after"},
		{[]Run{one("r/1/run", "", "")}, []Run{one("r/2/run2", "", "")}, "run", "run2"},
		{[]Run{one("x/blocks/1", "u", "m"), one("x/blocks/3", "u", "m")}, []Run{one("x/blocks/2", "u", "m")}, "A", "B"},
		{[]Run{one("x", "http://a-very-long-name-of-a-host.example.org:8000/v1", "m")}, []Run{one("y", "http://b", "m")}, "a-very-long-name-of…example.org:8000/v1", "b"},
	} {
		r := &Result{A: c.a, B: c.b}
		if a, b := r.Sides(); a != c.nameA || b != c.nameB {
			t.Errorf("%q and %q, want %q and %q", a, b, c.nameA, c.nameB)
		}
	}
	named := func(label string) []Run { return []Run{{Path: "x", Target: Target{Label: label, URL: label}}} }
	if a, b := (&Result{A: named("old"), B: named("new")}).Sides(); a != "old" || b != "new" {
		t.Errorf("%q and %q instead of the labels", a, b)
	}
	if got := Described([]Run{one("x", "http://a", "m"), one("y", "http://a", "m"), one("z", "http://b", "m")}); got != "m at http://a, m at http://b" {
		t.Error(got)
	}
}

// TestBrief: every statistic is named once, with its reason and what would decide; statistics with equal reasons share them.
func TestBrief(t *testing.T) {
	line := func(tag, stat string, o Outcome, reason, needed string) Line {
		return Line{Tag: tag, Stat: stat, Outcome: o, Reason: reason, Needed: needed, Margin: 0.05}
	}
	r := &Result{Lines: []Line{
		line("time_to_first_token", "mean", Cannot, "", "about 10 pairs"), line("time_to_first_token", "p50", Worse, "each pair shows it", ""),
		line("time_to_first_token", "p90", Cannot, "", "about 63 pairs"), line("request_latency", "mean", Cannot, "", "about 10 pairs"), line("request_latency", "p50", Same, "", ""),
	}}
	want := []string{
		"Worse: time to first token p50 (each pair shows it).",
		"Cannot tell: time to first token mean, request latency mean (it would take about 10 pairs); time to first token p90 (it would take about 63 pairs).",
		"Same: request latency p50 (within 5 %).",
	}
	if got := r.Brief(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
