package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// pauses are a machine that keeps processes waiting for a share of the time, for length ms on average.
type pauses struct{ share, length float64 }

// wait is how long it keeps one waiting that is due at some instant, in ms.
func (p *pauses) wait(r *rand.Rand) float64 {
	if r.Float64() < p.share {
		return p.length * r.ExpFloat64()
	}
	return 0
}

// beset returns a run of a server on such a machine: each request waits at the two instants at which a process must run. The delay of waking is known
// from 50 instants a second.
func beset(seed uint64, p pauses, slower float64) Run {
	r := rand.New(rand.NewPCG(seed, 9))
	v := map[string][]float64{}
	for range 1700 {
		ttft := slower * (14 + 12*r.Float64())
		for range instantsPerRequest {
			ttft += p.wait(r)
		}
		v["time_to_first_token"] = append(v["time_to_first_token"], ttft)
		v["request_latency"] = append(v["request_latency"], ttft+slower*30)
	}
	run := Run{Path: "r", Values: v, Seconds: 11, Disturbed: p.share}
	const beats = 550
	for range beats {
		if late := p.wait(r); late > 0.5 {
			run.Wake, run.Late = run.Wake+late/beats, run.Late+1./beats
		}
	}
	return run
}

// TestDisturbedMachine: a delay by the machine for some requests of one run, or a small one for many, is not a difference between servers, with one run a side or
// five; a server that is really slower is found. Without the figures about the machine nearly every comparison would be a false alarm.
func TestDisturbedMachine(t *testing.T) {
	testhome.Slow(t)
	n := repeats(200)
	for _, c := range []struct {
		name          string
		length        float64 // ms
		a, b, anybody float64 // share of the time on either side, and what is added to it at random
	}{{"long pauses", 30, 0, 0.02, 0.03}, {"short ones", 3, 0, 0.15, 0.1}} {
		for _, each := range []int{1, 5} {
			var alarms, blind, found int
			for i := range n {
				r := rand.New(rand.NewPCG(uint64(i), 10))
				side := func(base uint64, slower, from float64) (list []Run) {
					for k := range each {
						list = append(list, beset(base+uint64(i*each+k), pauses{from + c.anybody*r.Float64(), c.length}, slower))
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
				a, b := side(1000, 1, c.a), side(50_000, 1, c.b)
				alarms += calls(a, b, Worse) | calls(a, b, Better)
				found += calls(a, side(100_000, 1.1, c.a), Worse)
				for k := range a {
					a[k].Disturbed, b[k].Disturbed, a[k].Wake, b[k].Wake, a[k].Late, b[k].Late = 0, 0, 0, 0, 0, 0
				}
				blind += calls(a, b, Worse)
			}
			t.Logf("%s, %d each: alarms %d, without the machine %d, 10 %% slower found %d of %d", c.name, each, alarms, blind, found, n)
			if float64(alarms) > 0.05*float64(n) || float64(found) < 0.95*float64(n) || float64(blind) < 0.3*float64(n) {
				t.Errorf("%s, %d each: alarms %d, without the machine %d, found %d of %d", c.name, each, alarms, blind, found, n)
			}
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
		if got := disturbedShare(c.steal, c.pressure, strings.Fields(c.urls)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %g", c, got)
		}
	}
	y := []float64{5, 1, 4, 2, 3}
	if got := capTail(y, 0.25); !slices.Equal(got, []float64{4, 1, 4, 2, 3}) {
		t.Errorf("%v", got)
	}
	if got := capTail(y, 0); !slices.Equal(got, y) {
		t.Errorf("%v", got)
	}
}

// TestDisturbedIntervals: the disturbance moves the end of an interval that it may have moved, and no other.
func TestDisturbedIntervals(t *testing.T) {
	machine := pauses{0.04, 30}
	still, beset := beset(3, machine, 1), beset(3, machine, 1)
	still.Disturbed, still.Wake, still.Late = 0, 0, 0
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
		best := s.undisturbedValue(&beset, value)
		switch {
		case s.higherIsBetter && !(lowA == lowB && highA < highB && best > value):
			t.Errorf("%s %s: %g to %g, with the disturbance %g to %g, %g of %g", s.tag, s.stat, lowA, highA, lowB, highB, best, value)
		case !s.higherIsBetter && !(highA == highB && lowB <= lowA && best <= value):
			t.Errorf("%s %s: %g to %g, with the disturbance %g to %g, %g of %g", s.tag, s.stat, lowA, highA, lowB, highB, best, value)
		case s.p == .99 && !(lowB < lowA && best < value), s.p == .5 && !(lowB < lowA && lowB > lowA-s.added(&beset)):
			t.Errorf("%s %s: %g and %g", s.tag, s.stat, lowA, lowB)
		}
	}
}

// TestWhatIsSaidOfMachines: a disturbance is reported above 5 % of the time or 0.1 ms of waking, on either side. Sides are unlike when the shares of
// requests that may have waited differ by more than half.
func TestWhatIsSaidOfMachines(t *testing.T) {
	share := 1 - math.Sqrt(0.5) // of the time: half the requests may have waited
	for _, c := range []struct {
		a, b   Run
		notes  int
		unlike bool
	}{
		{Run{Disturbed: 0.05, Wake: 0.1}, Run{Disturbed: 0.05, Wake: 0.1}, 0, false},
		{Run{Disturbed: 0.051}, Run{}, 1, false},
		{Run{}, Run{Disturbed: 0.051}, 1, false},
		{Run{Wake: 0.11}, Run{}, 1, false},
		{Run{}, Run{Wake: 0.11}, 1, false},
		{Run{}, Run{Disturbed: share - 0.001}, 1, false},
		{Run{}, Run{Disturbed: share + 0.001}, 1, true},
		{Run{Disturbed: share + 0.001}, Run{}, 1, true},
	} {
		r := Result{A: []Run{c.a}, B: []Run{c.b}}
		if r.disturbances(); len(r.Notes) != c.notes || r.unequalDisturbance != c.unlike {
			t.Errorf("%g and %g of the time, %g and %g ms: unlike %v, %q", c.a.Disturbed, c.b.Disturbed, c.a.Wake, c.b.Wake, r.unequalDisturbance, r.Notes)
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
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "waited for a CPU") {
			t.Fatalf("%v %+v", err, r)
		}
		if l := lineOf(t, r, "request_latency", "mean"); l.Outcome != c.want {
			t.Errorf("%+v: %s", c, l.Sentence(0.95))
		}
	}
}

// TestAdded: what waking may have added, by hand, and that no value falls to nothing.
func TestAdded(t *testing.T) {
	r := Run{Wake: 0.5, Values: map[string][]float64{"time_to_first_token": {20, 20}, "inter_token_latency": {2, 2}, "request_latency": {50, 50}}}
	for tag, want := range map[string]float64{"time_to_first_token": 1, "request_latency": 1, "inter_token_latency": 0, "error_rate": 0, "goodput": 0} {
		if got := (&statistic{tag: tag}).added(&r); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tag, got, want)
		}
	}
	if got := subtractDelay(20, 1); got != 19 {
		t.Error(got)
	}
	if got := subtractDelay(1, 5); !(got > 0) || got > 0.01 {
		t.Errorf("%g is not finite as a logarithm, or much", got)
	}
}

// TestDriftOfTheMachine: a run is still changing when it changes by more than its machine can have changed it.
func TestDriftOfTheMachine(t *testing.T) {
	r := Run{Values: map[string][]float64{}}
	for i := range 1000 {
		r.Values["request_latency"] = append(r.Values["request_latency"], 50+2*float64(i)/1000)
	}
	for wake, want := range map[float64]bool{0: true, 0.1: true, 0.5: false} { // 4 % against 2.5 and what waking may be
		r.Wake = wake
		if _, got := drifting(&r, "request_latency", 0.05); got != want {
			t.Errorf("waking %g ms late: %v", wake, got)
		}
	}
}
