package comparison

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/stats"
	"aiperf/internal/sim/batching"
)

// The acceptance of comparisons on a simulated server (comparison, section 8), with fixed seeds and fewer repeats than the published tables where
// they only cost time.

// full runs as many repeats as the published tables (make acceptance); by default a part of them is run.
var full = flag.Bool("full", false, "all repeats of the acceptance of comparisons")

// repeats is a number of them.
func repeats(n int) int {
	if *full {
		return n
	}
	return max(12, n/20)
}

// runOf is a simulated run as it is read from its records.
func runOf(list []batching.Request) Run {
	r := Run{Values: map[string][]float64{}}
	for _, q := range list {
		r.Values["time_to_first_token"] = append(r.Values["time_to_first_token"], q.TTFT)
		r.Values["inter_token_latency"] = append(r.Values["inter_token_latency"], q.ITL)
		r.Values["request_latency"] = append(r.Values["request_latency"], q.Latency)
		r.Ends, r.Output = append(r.Ends, q.End-list[0].Start), append(r.Output, q.Tokens)
		r.Seconds = max(r.Seconds, q.End-list[0].Start)
	}
	r.Starts = list[len(list)-1].Start - list[0].Start
	return r
}

// beside runs n functions on all cores.
func beside(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// family of the published simulations.
func twelve() (list []string) {
	for _, tag := range timed {
		for _, s := range []string{"mean", "p50", "p90", "p99"} {
			list = append(list, tag+":"+s)
		}
	}
	return list
}

// truths are the mean, p50, p90 and p99 of the time to the first token and of the latency in every scenario, in ms, as longRuns finds them.
var truths = map[string]map[string][4]float64{
	"iid":      {"time_to_first_token": {20.0037, 20.0041, 24.7984, 25.8775}, "request_latency": {50.0029, 50.0070, 54.9722, 57.2838}},
	"ar0.9":    {"time_to_first_token": {45.6161, 40.2588, 68.9556, 138.6824}, "request_latency": {206.3247, 193.6919, 239.7045, 561.3556}},
	"open50":   {"time_to_first_token": {29.9264, 24.0015, 40.6446, 163.4553}, "request_latency": {536.2410, 382.5118, 1190.3037, 2355.8184}},
	"open80":   {"time_to_first_token": {40.4348, 32.5208, 62.4297, 191.2964}, "request_latency": {757.5241, 538.1443, 1686.0919, 3345.9687}},
	"closed32": {"time_to_first_token": {25.7078, 20.4963, 32.0667, 132.2663}, "request_latency": {677.3112, 479.6223, 1518.6985, 3005.1215}},
	"heavy":    {"time_to_first_token": {40.7621, 20.0294, 60.1418, 495.0350}, "request_latency": {710.7013, 497.5328, 1606.3296, 3198.3815}},
}

// longRuns is the four statistics of a metric of a scenario over 80 runs of 300 s.
func longRuns(name, tag string) (out [4]float64) {
	var mu sync.Mutex
	var all []float64
	beside(80, func(i int) {
		r := runOf(batching.Scenario(name, 900_000+uint64(i), 1, 300))
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r.Values[tag]...)
	})
	slices.Sort(all)
	out[0] = stats.Mean(all)
	for k, p := range []float64{50, 90, 99} {
		out[k+1] = stats.Percentile(all, p)
	}
	return out
}

// bootstrap is the 95 % interval of a mean by resampling single requests: the rival that takes them for independent.
func bootstrap(y []float64, r *rand.Rand) (low, high float64) {
	means := make([]float64, 200)
	for i := range means {
		sum := 0.0
		for range y {
			sum += y[r.IntN(len(y))]
		}
		means[i] = sum / float64(len(y))
	}
	slices.Sort(means)
	return stats.Percentile(means, 2.5), stats.Percentile(means, 97.5)
}

// chance is how far the share of a few repeats may lie from a limit by chance alone (one side, 95 %); the whole table has to keep the limit itself.
func chance(limit float64, repeats int) float64 {
	if *full {
		return 0
	}
	return 1.64 * math.Sqrt(limit*(1-limit)/float64(repeats))
}

// TestCoverage: 95 % intervals of 30 s hold the truth, in every scenario; resampling single requests does not. The whole table has 4,000 runs a
// scenario: at 80 % load means hold 87 %, and of 120 runs every fourth table would say less than 86.
func TestCoverage(t *testing.T) {
	runs := 40
	if *full {
		runs = 4000
	}
	means, meanHits, rival, rivals := 0, 0, 0, 0
	for _, name := range batching.Scenarios {
		if !*full && (name == "iid" || name == "heavy" || name == "open50") {
			continue
		}
		truth := truths[name]
		for tag, want := range truth {
			if !*full {
				break
			}
			for k, v := range longRuns(name, tag) {
				if math.Abs(v/want[k]-1) > 1e-4 {
					t.Errorf("%s %s: %v over long runs, not %v", name, tag, v, want[k])
				}
			}
		}
		var mu sync.Mutex
		var hits [4]int
		beside(runs, func(i int) {
			run := runOf(batching.Scenario(name, uint64(i)+1, 1, 30))
			for tag, want := range truth {
				y := run.Values[tag]
				for k, p := range []float64{0, .5, .9, .99} {
					e := Mean(y)
					if p > 0 {
						e = Quantile(y, p)
					}
					low, high := e.Limits(0.95)
					mu.Lock()
					if low <= want[k] && want[k] <= high {
						hits[k]++
					}
					mu.Unlock()
				}
				if i < 20 && name == "open80" {
					low, high := bootstrap(y, rand.New(rand.NewPCG(uint64(i), 3)))
					mu.Lock()
					if rivals++; low <= want[0] && want[0] <= high {
						rival++
					}
					mu.Unlock()
				}
			}
		})
		for k, what := range []string{"mean", "p50", "p90", "p99"} {
			share := float64(hits[k]) / float64(2*runs)
			t.Logf("%s %s: %.1f %%", name, what, 100*share)
			if share < 0.86-chance(0.86, runs) {
				t.Errorf("%s %s: 95 %% intervals hold the truth in %.1f %%", name, what, 100*share)
			}
			means, meanHits = means+2*runs, meanHits+hits[k]
		}
	}
	limit := 0.93
	if !*full {
		limit = 0.90 // of the harder scenarios
	}
	if share := float64(meanHits) / float64(means); share < limit {
		t.Errorf("over all %.1f %%", 100*share)
	}
	if share := float64(rival) / float64(rivals); share > 0.8 {
		t.Errorf("the bootstrap over requests holds %.0f %%: the scenario has no memory", 100*share)
	}
}

// trial is a comparison of runs whose speed varies from run to run.
func trial(t *testing.T, name string, seed uint64, each int, effect, sd, noise float64) *Result {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	side := func(factor float64, odd uint64) (list []Run) {
		for k := range each {
			list = append(list, runOf(batching.Scenario(name, seed*1000+uint64(2*k)+odd, factor*math.Exp(sd*r.NormFloat64()), 30)))
		}
		return list
	}
	res, err := Compare(side(1, 0), side(1+effect, 1), Options{Confidence: 0.95, Noise: noise, Margin: 0.05, Margins: marginsOf(0.05), Metrics: twelve()})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// marginsOf is one margin for all statistics, as in the published simulations.
func marginsOf(v float64) map[string]float64 {
	m := map[string]float64{}
	for _, tag := range timed {
		m[tag] = v
	}
	return m
}

// alarmed counts comparisons that call any metric better or worse.
func alarmed(t *testing.T, name string, n, each int, effect, sd, noise float64) float64 {
	t.Helper()
	var mu sync.Mutex
	hits := 0
	beside(n, func(i int) {
		res := trial(t, name, uint64(i)+7, each, effect, sd, noise)
		if slices.ContainsFunc(res.Lines, func(l Line) bool { return l.Outcome == Better || l.Outcome == Worse }) {
			mu.Lock()
			hits++
			mu.Unlock()
		}
	})
	return float64(hits) / float64(n)
}

// TestFalseAlarmsAndPower: equal servers are rarely called different, by five runs each or one; 10 % slower is found.
func TestFalseAlarmsAndPower(t *testing.T) {
	testhome.Slow(t)
	for _, one := range []struct {
		name              string
		n, each           int
		effect, sd, noise float64
		low, high         float64
	}{
		{"closed32", 200, 5, 0, 0.01, 0, 0, 0.06}, {"open50", 200, 5, 0, 0.01, 0, 0, 0.06}, {"heavy", 200, 5, 0, 0.01, 0, 0, 0.06},
		{"closed32", 80, 5, 0.1, 0.01, 0, 0.95, 1}, {"open50", 80, 5, 0.1, 0.01, 0, 0.95, 1},
		{"closed32", 400, 1, 0, 0, 0.01, 0, 0.06}, {"closed32", 400, 1, 0, 0.01, 0.01, 0, 0.06}, {"closed32", 400, 1, 0, 0.02, 0.01, 0, 0.15},
		{"open80", 400, 1, 0, 0.01, 0.01, 0, 0.06},
	} {
		if !*full && (one.name != "closed32" || one.each == 1 && one.sd != 0.01) {
			continue
		}
		got := alarmed(t, one.name, repeats(one.n), one.each, one.effect, one.sd, one.noise)
		t.Logf("%+v: %.1f %%", one, 100*got)
		if got < one.low || got > one.high {
			t.Errorf("%d comparisons of %d runs each, %s, %.0f %% slower, speed varies by %g: any call in %.1f %%, want %.0f to %.0f",
				repeats(one.n), one.each, one.name, 100*one.effect, one.sd, 100*got, 100*one.low, 100*one.high)
		}
	}
}

// TestSameAtTheMargin: a difference of exactly the margin is rarely called the same. (Only where requests are drawn and not served do all
// statistics differ by as much as the speed.)
func TestSameAtTheMargin(t *testing.T) {
	testhome.Slow(t)
	for _, one := range []struct {
		name    string
		n, each int
	}{{"iid", 400, 1}, {"ar0.9", 400, 1}, {"iid", 400, 10}, {"ar0.9", 400, 10}} {
		one.n = repeats(one.n)
		var mu sync.Mutex
		same := map[string]int{}
		beside(one.n, func(i int) {
			res := trial(t, one.name, uint64(i)+77, one.each, 0.05, 0.01*float64(min(one.each-1, 1)), 0)
			for _, l := range res.Lines {
				if l.Outcome == Same {
					mu.Lock()
					same[l.Tag+" "+l.Stat]++
					mu.Unlock()
				}
			}
		})
		t.Logf("%s, %d runs each: %v of %d", one.name, one.each, same, one.n)
		for what, n := range same {
			if float64(n)/float64(one.n) > 0.10+chance(0.10, one.n) {
				t.Errorf("%s, %d runs each: %s is called the same in %d of %d", one.name, one.each, what, n, one.n)
			}
		}
	}
}

// machine is the speed of a machine that drifts, second by second: a slow random walk that returns (3 %, memory of 60 s).
func machine(r *rand.Rand, seconds int) []float64 {
	out := make([]float64, seconds)
	x, a := 0.03*r.NormFloat64(), math.Exp(-1.0/60)
	for i := range out {
		if i > 0 {
			x = a*x + 0.03*math.Sqrt(1-a*a)*r.NormFloat64()
		}
		out[i] = math.Exp(x)
	}
	return out
}

// block is a turn of 6 s on a machine, whose first 2 s are ignored.
func block(seed uint64, speed []float64, at int, slow, wash float64) []batching.Request {
	o := batching.Default()
	o.Concurrency, o.Seconds, o.Slow = 16, 6, slow*stats.Mean(speed[at:at+7])
	return batching.After(batching.Run(seed, o), wash)
}

// TestTurns: under drift, blocks that take turns rarely call equal servers different, and find 5 %; one run after the other does call them so.
func TestTurns(t *testing.T) {
	const pairs = 12
	n := repeats(300)
	names := []string{"time_to_first_token:p50", "inter_token_latency:mean", "request_latency:mean"}
	calls := func(effect float64) (turns [3]int, sequential int) {
		var mu sync.Mutex
		beside(n, func(i int) {
			r := rand.New(rand.NewPCG(uint64(i)*7919+50_000, uint64(effect*100)))
			speed := machine(r, 2*pairs*6+8)
			var a, b []Run
			for k, first := range Order(pairs, uint64(i)) {
				at := [2]int{12 * k, 12*k + 6}
				if !first {
					at[0], at[1] = at[1], at[0]
				}
				a, b = append(a, runOf(block(r.Uint64(), speed, at[0], 1, 2))), append(b, runOf(block(r.Uint64(), speed, at[1], 1+effect, 2)))
			}
			res, err := Pairs(a, b, Options{Confidence: 0.95, Margin: 0.05, Metrics: names}, 1)
			if err != nil {
				t.Error(err)
				return
			}
			low, high := oneAfterTheOther(r, speed, pairs, effect)
			mu.Lock()
			defer mu.Unlock()
			for k := range names {
				if res.Lines[k].P <= 0.05 {
					turns[k]++
				}
			}
			if low > 0 || high < 0 {
				sequential++
			}
		})
		return turns, sequential
	}
	turns, sequential := calls(0)
	t.Logf("equal: %v, one after the other %d of %d", turns, sequential, n)
	for k, hits := range turns {
		if float64(hits)/float64(n) > 0.08+chance(0.08, n) {
			t.Errorf("%s: equal servers differ in %d of %d", names[k], hits, n)
		}
	}
	if float64(sequential)/float64(n) < 0.15-chance(0.15, n) {
		t.Errorf("one after the other: ITL differs in %d of %d only: the machine does not drift", sequential, n)
	}
	turns, _ = calls(0.05)
	if float64(turns[1]) < 0.80*float64(n) {
		t.Errorf("5 %% slower: ITL differs in %d of %d", turns[1], n)
	}
}

// oneAfterTheOther is the interval of the difference of mean ITL of two runs, B after A.
func oneAfterTheOther(r *rand.Rand, speed []float64, pairs int, effect float64) (low, high float64) {
	var runs [2]Estimate
	for w := range runs {
		var itl []float64
		for k := range pairs {
			wash := 0.0
			if k == 0 {
				wash = 2
			}
			for _, q := range block(r.Uint64(), speed, 6*(w*pairs+k), 1+effect*float64(w), wash) {
				itl = append(itl, q.ITL)
			}
		}
		runs[w] = Mean(itl)
	}
	d := OneEach(&runs[0], &runs[1], 0)
	return d.Limits(0.95)
}

// TestDriftGate: a speed that changes by 20 % is seen, one that does not is not.
func TestDriftGate(t *testing.T) {
	found := [2]int{}
	for i := range 12 {
		for k, ramp := range []float64{0, 0.2} {
			o := batching.Default()
			o.Concurrency, o.Seconds, o.Ramp = 32, 120, ramp
			r := runOf(batching.After(batching.Run(uint64(i)+1, o), batching.Warm))
			if _, yes := drifting(&r, "inter_token_latency", 0.05); yes {
				found[k]++
			}
		}
	}
	if found[0] > 1 || found[1] < 11 {
		t.Errorf("found in %v of 12: none, 20 %%", found)
	}
}

func BenchmarkCompare(b *testing.B) {
	o := batching.Default()
	o.Concurrency, o.Seconds = 32, 2100
	x, y := runOf(batching.Run(1, o)), runOf(batching.Run(2, o))
	b.ReportMetric(float64(len(x.Ends)), "requests")
	for b.Loop() {
		if _, err := Compare([]Run{x}, []Run{y}, usual); err != nil {
			b.Fatal(err)
		}
	}
}
