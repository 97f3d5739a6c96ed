package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// beset is a run of a server on a machine that keeps processes waiting for a share of the time: at each of the two instants of a request at which a
// process must run it meets such a pause with that chance, and waits for what is left of it, 30 ms on average.
func beset(seed uint64, share, slower float64) Run {
	r := rand.New(rand.NewPCG(seed, 9))
	v := map[string][]float64{}
	for range 1700 {
		ttft := slower * (14 + 12*r.Float64())
		for range instants {
			if r.Float64() < share {
				ttft += 30 * r.ExpFloat64()
			}
		}
		v["time_to_first_token"] = append(v["time_to_first_token"], ttft)
		v["request_latency"] = append(v["request_latency"], ttft+slower*30)
	}
	return Run{Path: "r", Values: v, Seconds: 11, Disturbed: share}
}

// TestDisturbedMachine: what a machine adds to some requests of one run is no difference of servers, be there one run a side or five; what is slower all
// the same is found. Without what the run knows of its machine it would be an alarm nearly every time.
func TestDisturbedMachine(t *testing.T) {
	n := repeats(200)
	for _, each := range []int{1, 5} {
		var alarms, blind, found int
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(i), 10))
			side := func(base uint64, slower, from float64) (list []Run) {
				for k := range each {
					list = append(list, beset(base+uint64(i*each+k), from+0.03*r.Float64(), slower))
				}
				return list
			}
			calls := func(a, b []Run, which Outcome) int {
				res, err := Compare(a, b, usual)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(res.Lines, func(l Line) bool { return l.Outcome == which }) {
					return 1
				}
				return 0
			}
			a, b := side(1000, 1, 0), side(50_000, 1, 0.02)
			alarms += calls(a, b, Worse) | calls(a, b, Better)
			found += calls(a, side(100_000, 1.1, 0), Worse)
			for k := range a {
				a[k].Disturbed, b[k].Disturbed = 0, 0
			}
			blind += calls(a, b, Worse)
		}
		t.Logf("%d each: alarms %d, without the machine %d, 10 %% slower found %d of %d", each, alarms, blind, found, n)
		if float64(alarms) > 0.06*float64(n) || float64(found) < 0.95*float64(n) || float64(blind) < 0.3*float64(n) {
			t.Errorf("%d each: alarms %d, without the machine %d, found %d of %d", each, alarms, blind, found, n)
		}
	}
}

// TestDisturbed: what counts for a run's machine, by hand.
func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		steal, pressure float64
		urls            string
		want            float64
	}{
		{0, 0, "http://127.0.0.1:8000", 0},
		{10, 50, "http://127.0.0.1:8000", 0.55},
		{10, 50, "http://[::1]:8000", 0.55},
		{10, 50, "http://10.0.0.1:8000 http://localhost:1", 0.55},
		{10, 50, "mock://?ttft=1ms", 0.55},
		{10, 50, "http://10.0.0.1:8000", 0.1}, // the kernel stamps what comes from there, whoever waits for a processor
		{10, 50, "https://example.org", 0.1},
	} {
		if got := disturbed(c.steal, c.pressure, strings.Fields(c.urls)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %g", c, got)
		}
	}
	y := []float64{5, 1, 4, 2, 3}
	if got := calm(y, 0.25); !slices.Equal(got, []float64{4, 1, 4, 2, 3}) {
		t.Errorf("%v", got)
	}
	if got := calm(y, 0); !slices.Equal(got, y) {
		t.Errorf("%v", got)
	}
}

// TestDisturbedIntervals: the disturbance moves the end of an interval that it may have moved, and no other.
func TestDisturbedIntervals(t *testing.T) {
	still, beset := beset(3, 0.04, 1), beset(3, 0.04, 1)
	still.Disturbed = 0
	for _, run := range []*Run{&still, &beset} {
		for i := range run.Values["request_latency"] {
			run.Ends = append(run.Ends, float64(i)*11/1700)
		}
		run.Starts = 11
	}
	for _, s := range allStatistics() {
		if s.tag == "error_rate" || len(beset.Values[s.tag]) == 0 && s.tag != "request_throughput" {
			continue
		}
		a, b := s.estimate(&still), s.estimate(&beset)
		lowA, highA := a.Limits(.95)
		lowB, highB := b.Limits(.95)
		value, _ := s.value(&beset)
		best := s.calmest(&beset, value)
		switch {
		case s.more && !(lowA == lowB && highA < highB && best > value):
			t.Errorf("%s %s: %g to %g, with the disturbance %g to %g, %g of %g", s.tag, s.stat, lowA, highA, lowB, highB, best, value)
		case !s.more && !(highA == highB && lowB <= lowA && best <= value):
			t.Errorf("%s %s: %g to %g, with the disturbance %g to %g, %g of %g", s.tag, s.stat, lowA, highA, lowB, highB, best, value)
		case s.p == .99 && !(lowB < lowA && best < value), s.p == .5 && lowB != lowA:
			t.Errorf("%s %s: %g and %g", s.tag, s.stat, lowA, lowB)
		}
	}
}

// TestUnlikeMachines: a side whose machine was busy nearly all the time says nothing against one whose machine was not; two such sides do.
func TestUnlikeMachines(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want Outcome
	}{{0.02, 0.9, Cannot}, {0.9, 0.02, Cannot}, {0.9, 0.9, Worse}} {
		a, b := made(1, 2000, 100), made(2, 2000, 130)
		a.Disturbed, b.Disturbed = c.a, c.b
		r, err := Compare([]Run{a}, []Run{b}, usual)
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "kept waiting") {
			t.Fatalf("%v %+v", err, r)
		}
		if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != c.want {
			t.Errorf("%+v: %s", c, l.Sentence(0.95))
		}
	}
}
