package comparison

import (
	"math"
	"testing"
)

// TestDecide: a line is the same within the margin, down as far as up in ratios; it differs if its p-value says so, and is open otherwise.
func TestDecide(t *testing.T) {
	const margin, alpha = 0.05, 0.05
	for _, c := range []struct {
		difference, low90, high90, p float64
		more                         bool
		want                         Outcome
		reason                       bool
	}{
		{0.001, -0.047, 0.049, 1, false, Same, false},
		{0.001, -0.049, 0.049, 1, false, Cannot, false}, // 1/1.05 is 4.76 % less
		{0.001, -0.047, 0.051, 1, false, Cannot, false},
		{0.02, 0.01, 0.03, 0.001, false, Same, true},
		{-0.02, -0.03, -0.01, 0.001, false, Same, true},
		{0.2, 0.1, 0.3, 0.05, false, Worse, false},
		{0.2, 0.1, 0.3, 0.05, true, Better, false},
		{-0.2, -0.3, -0.1, 0.05, false, Better, false},
		{-0.2, -0.3, -0.1, 0.05, true, Worse, false},
		{0.2, 0.1, 0.3, 0.051, false, Cannot, false},
		{0.2, 0.1, 0.3, 0.051, true, Cannot, false},
	} {
		l := Line{Tag: "x", Margin: margin, Difference: c.difference, Low90: c.low90, High90: c.high90, higherIsBetter: c.more}
		if l.decide(c.p, alpha); l.Outcome != c.want || (l.Reason != "") != c.reason {
			t.Errorf("%+v: %s %q", c, l.Outcome, l.Reason)
		}
	}
}

// TestShortRun: a single run counts from 10 s on.
func TestShortRun(t *testing.T) {
	for seconds, want := range map[float64]Outcome{10: Worse, 9.9: Cannot} {
		a, b := made(1, 2000, 100), made(2, 2000, 130)
		a.Seconds, b.Seconds = seconds, seconds
		r, err := Compare([]Run{a}, []Run{b}, usual)
		if err != nil {
			t.Fatal(err)
		}
		if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != want {
			t.Errorf("%g s: %s", seconds, l.Sentence(0.95))
		}
	}
}

// TestMachineShares: at most a tenth of the requests is put down to the machine, a quantile's rank falls with the requests that waited, and no more than all
// requests keep an objective.
func TestMachineShares(t *testing.T) {
	for disturbed, want := range map[float64]float64{0: 0, 0.01: 0.0199, 0.9: 0.1} {
		if r := (Run{Disturbed: disturbed}); math.Abs(r.tail()-want) > 1e-12 {
			t.Errorf("%g of the time: %g of the requests, want %g", disturbed, r.tail(), want)
		}
	}
	median := statistic{tag: "request_latency", stat: "p50", p: .5}
	if got := median.undelayedRank(&Run{Late: .1}); math.Abs(got-.5*.81) > 1e-12 {
		t.Errorf("rank %g, want 0.405", got)
	}
	r := Run{Disturbed: .9, MetObjectives: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, Values: map[string][]float64{"request_latency": {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}}
	goodput := statistic{tag: "goodput", higherIsBetter: true}
	r.MetObjectives = append(r.MetObjectives, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) // 95 % are good, a tenth may have been touched
	if got := goodput.throughputGain(&r); math.Abs(got-1/.95) > 1e-12 {
		t.Errorf("goodput may be %g times as high, want %g", got, 1/.95)
	}
}
