package plan

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/stats"
	"aiperf/internal/series/capacity"
	"aiperf/internal/sim/mockserver"
)

// full runs as many and as long runs as the published tables (make acceptance-wire); by default a part of them is run.
var full = flag.Bool("full", false, "all runs of the acceptance over real sockets")

// serverOptions in the environment makes the test binary a simulated server with these options until its standard input ends.
const serverOptions = "RUN_AS_MOCK_SERVER"

// mockServer is the test binary as a server.
func mockServer(words string) error {
	options := mockserver.Defaults()
	for one := range strings.FieldsSeq(words) {
		name, v, _ := strings.Cut(one, "=")
		if err := options.Set(name, v); err != nil {
			return err
		}
	}
	return mockserver.Run(mockserver.UntilEOF(context.Background(), os.Stdin), options, "127.0.0.1:0", func(url string) { fmt.Println(url) })
}

// serving starts a simulated server in a separate process and returns its address.
func serving(t *testing.T, options string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverOptions+"="+options)
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = life.Close(); _ = cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// wireRun is a closed loop of eight users against a server, as long as the acceptance asks for.
func wireRun(t *testing.T, url string, seed int) *config.Run {
	t.Helper()
	r := asked(t, url)
	r.Endpoint.Streaming = true
	r.ServerMetrics.Enabled, r.GPUTelemetry.Enabled = false, false
	number := config.Seed(fmt.Sprint(seed))
	users, requests, length := 8, 60, config.Seconds(11) // one run a side is judged from 10 s on
	r.RandomSeed = &number
	r.Dataset().Entries, r.Dataset().Prompts.ISL = 100, config.Normal(50, 0)
	r.Phases[0].Concurrency, r.Phases[0].Requests = &users, &requests
	if *full {
		r.Phases[0].Requests, r.Phases[0].Duration = nil, &length
	}
	return r
}

// Bounds of the machine on which the acceptance over the wire means something: one that does little else. They look at no latency of a request.
const (
	mostWaking = 0.5 // ms that waking may be late on average: twice that is the 5 % of a TTFT of 20 ms which is to be found
	mostAgain  = 60  // runs that may be made again, all together
)

// wire makes the runs of one acceptance.
type wire struct {
	uncertain, disturbed int // runs that were made again, because the client could not keep them, and because the machine was disturbed
}

// run is a run over the wire. One that the client could not keep, or whose machine was disturbed by its own counters, is not counted and is repeated.
func (w *wire) run(t *testing.T, url string, seed int) comparison.Run {
	t.Helper()
	skip := 0.0
	if *full {
		skip = 0.5
	}
	for {
		r := wireRun(t, url, seed)
		if status, _, told := carriedOut(t, r, false); status != 0 {
			t.Fatalf("status %d: %s", status, told)
		}
		runs, err := comparison.Load(r.Artifacts.Dir, skip)
		if err != nil {
			t.Fatal(err)
		}
		one := runs[0]
		switch {
		case !*full:
			return one
		case one.Doubt != "":
			w.uncertain++
			t.Logf("run again: %s", one.Doubt)
		case one.Wake > mostWaking:
			w.disturbed++
			t.Logf("run again: waking was %.2f ms late on average", one.Wake)
		default:
			return one
		}
		if w.uncertain+w.disturbed > mostAgain {
			t.Fatalf("this machine does other things: %d runs were limited by this client, in %d waking was more than %g ms late on average", w.uncertain, w.disturbed, mostWaking)
		}
	}
}

// TestRealRuns is check 8 of comparison.md, section 8: runs in turn against two servers of which B is slower, over real sockets. A part of it: that
// a server which takes three times as long is worse.
func TestRealRuns(t *testing.T) {
	testhome.Slow(t)
	n, slower := 2, "ttft=60ms itl=6ms"
	if *full {
		n, slower = 12, "ttft=21ms itl=2.1ms"
	}
	urls := [2]string{serving(t, "jitter=0.3 tokens=16 seed=1 ttft=20ms itl=2ms"), serving(t, "jitter=0.3 tokens=16 seed=2 "+slower)}
	var sides [2][]comparison.Run
	var w wire
	for i := range n {
		for k, url := range urls {
			sides[k] = append(sides[k], w.run(t, url, i+1))
		}
	}
	if *full {
		t.Logf("made again: %d runs that were limited by the client, %d on a disturbed machine", w.uncertain, w.disturbed)
		checkReal(t, sides[0], sides[1])
		return
	}
	r, err := comparison.Compare(sides[0], sides[1], comparison.Options{Confidence: .95, Margin: .05, Metrics: []string{"inter_token_latency:p50"}, Invalid: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lines) != 1 {
		t.Fatalf("%+v", r)
	}
	if l := r.Lines[0]; !(l.Difference > 0) || l.Outcome == comparison.Better || l.Outcome == comparison.Same {
		t.Errorf("%+v", l)
	}
}

// family12 are the statistics of check 8.
func family12() (list []string) {
	for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
		for _, stat := range []string{"mean", "p50", "p90", "p99"} {
			list = append(list, tag+":"+stat)
		}
	}
	return list
}

// tally is what comparisons of a number of pairs said.
type tally struct {
	pairs, better, worse int
	same, differs        map[string]int
}

// compared compares sides run by run, or n runs against n.
func compared(t *testing.T, sides [][2][]comparison.Run, noise float64) tally {
	t.Helper()
	one := tally{same: map[string]int{}, differs: map[string]int{}}
	for _, s := range sides {
		r, err := comparison.Compare(s[0], s[1], comparison.Options{Confidence: .95, Margin: .05, Noise: noise, Metrics: family12()})
		if err != nil {
			t.Fatal(err)
		}
		one.pairs++
		better, worse := false, false
		for _, l := range r.Lines {
			name := l.Tag + ":" + l.Stat
			switch l.Outcome {
			case comparison.Same:
				one.same[name]++
			case comparison.Better:
				better = true
				one.differs[name]++
			case comparison.Worse:
				worse = true
				one.differs[name]++
			}
		}
		if better {
			one.better++
		}
		if worse {
			one.worse++
		}
	}
	return one
}

// shares are the counts of a tally in percent, in the order of the family.
func (c *tally) shares(of map[string]int) string {
	var b strings.Builder
	for _, name := range family12() {
		fmt.Fprintf(&b, " %.0f", 100*float64(of[name])/float64(c.pairs))
	}
	return b.String()
}

// alone are runs of two lists as pairs of one run each.
func alone(a, b []comparison.Run) (out [][2][]comparison.Run) {
	for i := range a {
		out = append(out, [2][]comparison.Run{{a[i]}, {b[i]}})
	}
	return out
}

// within are the first most pairs of different runs of one list.
func within(list []comparison.Run, most int) (out [][2][]comparison.Run) {
	for i := range list {
		for k := i + 1; k < len(list) && len(out) < most; k++ {
			out = append(out, [2][]comparison.Run{{list[i]}, {list[k]}})
		}
	}
	return out
}

// checkReal holds the runs to the figures of check 8.
func checkReal(t *testing.T, a, b []comparison.Run) {
	t.Helper()
	requests := 0
	for i := range a {
		requests += len(a[i].Values["request_latency"])
	}
	t.Logf("%d requests a run of A", requests/len(a))
	ratio := func(tag string) float64 {
		sum := 0.0
		for i := range a {
			sum += math.Log(stats.Mean(b[i].Values[tag]) / stats.Mean(a[i].Values[tag]))
		}
		return 100 * (math.Exp(sum/float64(len(a))) - 1)
	}
	t.Logf("B/A of the means: TTFT %+.2f, ITL %+.2f, latency %+.2f %%", ratio("time_to_first_token"), ratio("inter_token_latency"), ratio("request_latency"))
	for _, noise := range []float64{.01, 0} {
		equal := compared(t, append(within(a, 33), within(b, 33)...), noise)
		other := compared(t, alone(a, b), noise)
		t.Logf("noise %g: A/A %d of %d pairs differ, same%s; A/B %d of %d worse, each%s", noise, equal.better+equal.worse, equal.pairs, equal.shares(equal.same), other.worse, other.pairs, other.shares(other.differs))
		if equal.better+equal.worse > 0 {
			t.Errorf("noise %g: %d of %d pairs of one server differ: %s", noise, equal.better+equal.worse, equal.pairs, equal.shares(equal.differs))
		}
		if other.worse != other.pairs || other.better > 0 {
			t.Errorf("noise %g: %d of %d pairs of two servers found", noise, other.worse, other.pairs)
		}
		for _, name := range []string{"inter_token_latency:mean", "request_latency:mean"} {
			if equal.same[name] != equal.pairs {
				t.Errorf("noise %g: %s is the same in %d of %d", noise, name, equal.same[name], equal.pairs)
			}
		}
	}
	var fours [][2][]comparison.Run
	for i := range len(a) - 3 {
		fours = append(fours, [2][]comparison.Run{a[i : i+4], b[i : i+4]})
	}
	four := compared(t, fours, 0)
	t.Logf("four runs each: found in %d of %d, each%s", four.worse, four.pairs, four.shares(four.differs))
	if r := ratio("inter_token_latency"); math.Abs(r-5) > .5 {
		t.Errorf("ITL of B is %.2f %% above A, not 5", r)
	}
}

// wireTarget is a search over the wire that asks for one objective.
func wireTarget(t *testing.T, url, slo string) *target {
	t.Helper()
	r := asked(t, url)
	r.Endpoint.Streaming = true
	r.ServerMetrics.Enabled, r.GPUTelemetry.Enabled = false, false
	one, err := ParseObjective(slo)
	if err != nil {
		t.Fatal(err)
	}
	tg := &target{invocation: invocation{Streams: Streams{Out: io.Discard, Err: io.Discard, Version: "v", Secrets: redact.NewSecrets()}, ctx: t.Context(), run: r}, objectives: []Objective{one}}
	tg.runner = tg.benchmark
	return tg
}

// TestCellOverTheWire: a cell is checked while it runs, counts requests in flight, and ends when it is settled.
func TestCellOverTheWire(t *testing.T) {
	testhome.Slow(t)
	tg := wireTarget(t, serving(t, "ttft=30s tokens=1"), "time_to_first_token:p95<40")
	looks, bad := 0, 0
	kept, err := tg.Cell(t.Context(), 40, []float64{.2, .4, .6, .8, 60}, func(at float64, list []capacity.Request) bool {
		looks++
		bad = 0
		for _, r := range list {
			if !math.IsInf(r.End, 1) || r.Start > at {
				t.Errorf("at %g s: %+v", at, r)
			}
			if math.IsInf(r.Values[0], 1) && r.Known[0] == r.Start+.04 {
				bad++
			}
		}
		return bad >= 3
	})
	if err != nil || kept == (capacity.LoadFidelity{}) && (bad < 3 || looks > 4) { // a load that a busy machine could not send is not counted
		t.Errorf("%d looks, %d bad, %+v: %v", looks, bad, kept, err)
	}
}

// TestCapacityOverTheWire is the search of find-capacity against a queue with a known service rate, over real sockets (with -full; it takes minutes).
// Its witnesses are the queue's own theory by simulation, the log of the server, and plain bisection of whole runs. It also checks what one user alone
// gets.
func TestCapacityOverTheWire(t *testing.T) {
	if !*full {
		tg := wireTarget(t, serving(t, "ttft=20ms itl=1ms tokens=4 capacity=2"), "time_to_first_token:p95<10")
		latency, list, err := tg.Alone(t.Context())
		if err != nil || latency < .023 || len(list) != 5 {
			t.Fatalf("%g s, %d requests: %v", latency, len(list), err)
		}
		for _, r := range list {
			if r.Values[0] < 20 || r.End-r.Start < .023 || math.Abs(r.Known[0]-r.Start-.01) > 1e-9 {
				t.Errorf("%+v", r)
			}
		}
		return
	}
	const places, service, limit, share = 10, .2, .4, .05
	log := filepath.Join(t.TempDir(), "truth.jsonl")
	url := serving(t, fmt.Sprintf("ttft=%gs itl=1ms tokens=1 capacity=%d truth-log=%s", service, places, log))
	slo := fmt.Sprintf("time_to_first_token:p%g<%g", 100*(1-share), 1000*limit)
	tg := wireTarget(t, url, slo)
	began := time.Now()
	a, err := capacity.Find(t.Context(), tg, capacity.Options{
		Objectives: []capacity.Objective{tg.objectives[0].Objective}, Precision: .07, Seconds: 600, Cells: 40, Size: 10, MaxLooks: 4,
		Say:     func(c *capacity.Cell) { t.Log(c.Line(tg.unit())) },
		Elapsed: func() float64 { return time.Since(began).Seconds() },
	})
	if err != nil {
		t.Fatal(err)
	}
	truth := queueTruth(places, service, limit, share)
	t.Logf("%s: found %.2f (%.2f to %.2f) in %d cells, %.0f s; the queue's own %.2f/s", a.Why, a.Capacity, a.Low, a.High, len(a.Cells), a.Seconds, truth)
	t.Logf("served at most %.2f/s by the server's log, of %.0f", servedAtMost(t, log), places/service)
	if a.Why != capacity.Settled || math.Abs(a.Capacity/truth-1) > .1 || a.Low > truth || a.High < truth {
		t.Errorf("%+v", a)
	}
	began = time.Now()
	found, runs := bisect(t, url, slo, 1/a.Alone)
	t.Logf("plain bisection with cells of 10 s: %.2f in %d runs, %.0f s", found, runs, time.Since(began).Seconds())
}

// bisect is the search that others make: double the load until the sample quantile of a run of 10 s is above the limit, then halve to 5 %.
func bisect(t *testing.T, url, slo string, load float64) (kept float64, runs int) {
	t.Helper()
	keeps := func(load float64) bool {
		runs++
		tg := wireTarget(t, url, slo)
		length, none := config.Seconds(10), config.Seconds(1)
		f := newFollower(tg.objectives, []float64{10}, nil)
		if _, _, err := tg.phase(t.Context(), "cell", config.Phase{Type: config.PhasePoisson, Rate: &load, Duration: &length, GracePeriod: &none}, 10*load, f); err != nil {
			t.Fatal(err)
		}
		bad, n := 0.0, 0.0
		for _, r := range f.all() {
			if v := r.Values[0]; !math.IsNaN(v) {
				n++
				if v > tg.objectives[0].Limit {
					bad++
				}
			}
		}
		return bad/n <= tg.objectives[0].Allowed
	}
	for keeps(load) {
		load *= 2
	}
	kept, broken := load/2, load
	for (broken-kept)/broken > .05 {
		if m := (kept + broken) / 2; keeps(m) {
			kept = m
		} else {
			broken = m
		}
	}
	return kept, runs
}
