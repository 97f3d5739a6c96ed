package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// made is a run of requests whose latency has a mean and a relative spread.
func made(seed uint64, n int, mean float64) Run {
	r := rand.New(rand.NewPCG(seed, 1))
	v := map[string][]float64{}
	for range n {
		v["request_latency"] = append(v["request_latency"], mean*math.Exp(0.1*r.NormFloat64()))
	}
	return Run{Path: "r", Values: v, Seconds: 30}
}

var usual = Options{Confidence: 0.95, Noise: 0.01, Margin: 0.05}

func lineOf(t *testing.T, r *Result, tag, stat string) *Line {
	t.Helper()
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Tag == tag && l.Stat == stat {
			return l
		}
	}
	t.Fatalf("no %s %s in %+v", tag, stat, r.Lines)
	return nil
}

func TestOutcomes(t *testing.T) {
	a := []Run{made(1, 2000, 100)}
	for name, tt := range map[string]struct {
		b    Run
		want Outcome
	}{"slower by 20 %": {made(2, 2000, 120), Worse}, "faster by 20 %": {made(3, 2000, 80), Better}, "equal": {made(4, 2000, 100), Same}, "too few": {made(5, 50, 100), Cannot}} {
		r, err := Compare(a, []Run{tt.b}, usual)
		if err != nil {
			t.Fatal(err)
		}
		if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != tt.want {
			t.Errorf("%s: %s", name, l.Sentence(0.95))
		}
	}
	failing := made(6, 2000, 100)
	failing.Failed = 200
	r, err := Compare(a, []Run{failing}, usual)
	if err != nil || r.Outcome != Worse || lineOf(t, r, "error_rate", "share").Outcome != Worse {
		t.Errorf("%v %+v", err, r)
	}
	other := made(7, 2000, 150)
	other.Settings = []Setting{{"load", "concurrency 2"}}
	a[0].Settings = []Setting{{"load", "concurrency 1"}}
	if r, err = Compare(a, []Run{other}, usual); err != nil || r.Outcome != Cannot || len(r.Other) != 1 {
		t.Errorf("%v %+v", err, r)
	}
	doubtful := made(8, 2000, 100)
	doubtful.Doubt = "the client was the limit"
	if _, err = Compare(a, []Run{doubtful}, usual); err == nil || !strings.Contains(err.Error(), "the client was the limit") {
		t.Error(err)
	}
	if _, err = Compare(a, []Run{other, other}, usual); err == nil {
		t.Error("one run against two was judged")
	}
}

// TestEqualServersDoNotDiffer: of 200 comparisons of equal servers, five runs a side with 1 % of noise between runs, at most 6 % find any
// difference; a server that is 10 % slower is found.
func TestEqualServersDoNotDiffer(t *testing.T) {
	testhome.Slow(t)
	r := rand.New(rand.NewPCG(9, 9))
	side := func(mean float64) (list []Run) {
		for range 5 {
			list = append(list, made(r.Uint64(), 200, mean*(1+0.01*r.NormFloat64())))
		}
		return list
	}
	alarms, found := 0, 0
	for range 200 {
		same, err := Compare(side(100), side(100), usual)
		if err != nil {
			t.Fatal(err)
		}
		if same.Outcome == Better || same.Outcome == Worse {
			alarms++
		}
	}
	for range 50 {
		slow, err := Compare(side(100), side(110), usual)
		if err != nil {
			t.Fatal(err)
		}
		if slow.Outcome == Worse {
			found++
		}
	}
	if alarms > 12 || found < 48 {
		t.Errorf("%d of 200 equal servers differ, %d of 50 slower ones are found", alarms, found)
	}
}

// TestHardlyAnyRequests: one request gives no bounds but no error; a side whose requests all failed is worse in its errors; a run without requests is refused.
func TestHardlyAnyRequests(t *testing.T) {
	usually := made(1, 300, 100)
	for _, n := range []int{1, 2, 3} {
		for _, sides := range [][2][]Run{{{usually}, {made(2, n, 100)}}, {{made(2, n, 100)}, {made(3, n, 100)}}} {
			r, err := Compare(sides[0], sides[1], usual)
			if err != nil || r.Outcome != Cannot {
				t.Errorf("%d requests: %+v %v", n, r, err)
			}
			if l := lineOf(t, r, "request_latency", "mean"); n == 1 && (l.Bounded(l.Low) || l.Bounded(l.High)) {
				t.Errorf("one request: %+v", l)
			}
			if _, err := r.JSON(); err != nil {
				t.Error(err)
			}
		}
	}
	failed := Run{Path: "f", Failed: 300, Seconds: 30}
	r, err := Compare([]Run{usually}, []Run{failed}, usual)
	if err != nil || r.Outcome != Worse || lineOf(t, r, "error_rate", "share").Outcome != Worse || !slices.Contains(r.Notes, "request latency is not judged: B lacks it") {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := Compare([]Run{usually}, []Run{{Path: "e"}}, usual); err == nil || !strings.HasPrefix(err.Error(), "e: no profiling request") {
		t.Error(err)
	}
}
