package association

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
)

// full runs as many repeats as the published tables (make acceptance).
var full = flag.Bool("full", false, "all repeats of the acceptance of explanations")

// repeats returns the number of simulated runs.
func repeats(short, usual, all int) int {
	switch {
	case *full:
		return all
	case testing.Short():
		return short
	}
	return usual
}

// memory returns a series whose neighbours correlate by rho; its marginal distribution is the standard normal one.
func memory(r *rand.Rand, n int, rho float64) []float64 {
	out := make([]float64, n)
	z, a := r.NormFloat64(), math.Sqrt(1-rho*rho)
	for i := range out {
		z = rho*z + a*r.NormFloat64()
		out[i] = z
	}
	return out
}

// topShare marks the largest values.
func topShare(v []float64, share float64) []bool {
	sorted := slices.Sorted(slices.Values(v))
	limit := sorted[int(float64(len(v))*(1-share))]
	out := make([]bool, len(v))
	for i, x := range v {
		out[i] = x >= limit
	}
	return out
}

// family returns facts of all kinds that have nothing to do with slowness: numbers with short and long memory, rare and frequent two-valued facts, a
// trend, gauges that change in steps, and counts that are mostly 0.
func family(r *rand.Rand, n int) []Fact {
	var list []Fact
	for _, rho := range []float64{0, 0, 0.5, 0.9, 0.9, 0.99, 0.99} {
		list = append(list, Fact{Values: memory(r, n, rho)})
	}
	for _, share := range []float64{0.02, 0.05, 0.3, 0.5} {
		for _, rho := range []float64{0, 0.95} {
			f := Fact{TwoValued: true}
			for _, is := range topShare(memory(r, n, rho), share) {
				v := 0.0
				if is {
					v = 1
				}
				f.Values = append(f.Values, v)
			}
			list = append(list, f)
		}
	}
	trend, steps, counts, robin := Fact{}, Fact{}, Fact{}, Fact{TwoValued: true}
	level := memory(r, n/20+1, 0.8)
	for i := range n {
		robin.Values = append(robin.Values, float64(i%2))
		trend.Values = append(trend.Values, float64(i)/float64(n)+0.1*r.NormFloat64())
		steps.Values = append(steps.Values, level[i/20])
		c := 0.0
		if r.Float64() < 0.04 {
			c = math.Ceil(3 * r.ExpFloat64())
		}
		counts.Values = append(counts.Values, c)
	}
	return append(list, trend, steps, counts, robin)
}

// TestFalseAlarms: with facts that have nothing to do with slowness, at most 5 % of the runs have any finding, however slow requests and facts are
// bunched. A test that took the requests as independent would alarm in most of them.
func TestFalseAlarms(t *testing.T) {
	testhome.Slow(t)
	runs := repeats(4, 60, 600)
	for _, c := range []struct {
		n     int
		share float64
		rho   float64
	}{{200, 0.1, 0}, {200, 0.1, 0.9}, {600, 0.05, 0}, {600, 0.05, 0.95}, {2000, 0.01, 0}, {2000, 0.01, 0.95}, {2000, 0.1, 0.99}, {2000, 0.05, 0.999}} {
		alarms, plain := 0, 0
		for k := range runs {
			r := rand.New(rand.NewPCG(uint64(k), uint64(c.n)))
			slow := topShare(memory(r, c.n, c.rho), c.share)
			facts := family(r, c.n)
			list, _ := Rank(slow, facts)
			if list[0].Significant() {
				alarms++
			}
			if independentAlarm(slow, facts) {
				plain++
			}
		}
		t.Logf("n %d, %g %% slow, correlation %g: %.1f %% of the runs have a false alarm; as independent requests %.1f %%", c.n, 100*c.share, c.rho, 100*float64(alarms)/float64(runs), 100*float64(plain)/float64(runs))
		if limit := 0.05 + 2.5*math.Sqrt(0.05*0.95/float64(runs)); float64(alarms)/float64(runs) > limit {
			t.Errorf("n %d, %g %% slow, correlation %g: false alarms in %d of %d runs", c.n, 100*c.share, c.rho, alarms, runs)
		}
		if c.rho > 0.9 && c.rho < 0.999 && plain < runs/10 {
			t.Errorf("correlation %g: a test for independent requests has only %d false alarms of %d; the scenarios are too easy", c.rho, plain, runs)
		}
	}
}

// independentAlarm reports whether the usual rank test, for independent requests and corrected for their number, sees any fact stand out.
func independentAlarm(slow []bool, facts []Fact) bool {
	for _, f := range facts {
		u, sum, square, k := ranks(f.Values), 0.0, 0.0, 0.0
		for i := range u {
			square += u[i] * u[i]
			if slow[i] {
				sum += u[i]
				k++
			}
		}
		n := float64(len(u))
		z := sum / math.Sqrt(k*(n-k)/n*square/(n-1))
		if math.Erfc(math.Abs(z)/math.Sqrt2)*float64(len(facts)) < Level {
			return true
		}
	}
	return false
}

// TestIntervalCoverage: the 95 % interval of an effect contains the true one in at least 90 % of the runs, also if requests are bunched.
func TestIntervalCoverage(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		n      int
		share  float64
		rho    float64
		weight float64 // of what slowness and the fact have in common
	}{{300, 0.1, 0, 0}, {300, 0.1, 0, 0.8}, {2000, 0.05, 0.8, 0.7}, {2000, 0.1, 0.95, 0.5}, {5000, 0.01, 0.9, 0.9}, {5000, 0.01, 0, 0.99}} {
		draw := func(seed uint64, n int) ([]bool, []float64) {
			r := rand.New(rand.NewPCG(seed, 11))
			both, own, x := memory(r, n, c.rho), memory(r, n, c.rho), memory(r, n, c.rho)
			for i := range x {
				own[i] = c.weight*both[i] + math.Sqrt(1-c.weight*c.weight)*own[i]
				x[i] = c.weight*both[i] + math.Sqrt(1-c.weight*c.weight)*x[i]
			}
			return topShare(own, c.share), x
		}
		slow, x := draw(1<<40, 400000)
		truth := effectOf(slow, x)
		runs := repeats(0, 160, 400)
		holds, width := 0, 0.0
		for k := range runs {
			slow, x := draw(uint64(k), c.n)
			f, ok := test(slow, &Fact{Values: x})
			if !ok {
				t.Fatal("not tested")
			}
			if f.Low <= truth && truth <= f.High {
				holds++
			}
			width += (f.High - f.Low) / float64(runs)
		}
		line := fmt.Sprintf("n %d, %g %% slow, correlation %g, truth %.3f: the interval holds in %.1f %%, mean width %.2f", c.n, 100*c.share, c.rho, truth, 100*float64(holds)/float64(runs), width)
		t.Log(line)
		if float64(holds)/float64(runs) < 0.9 {
			t.Error(line)
		}
	}
}

func effectOf(slow []bool, x []float64) float64 {
	var of [2][]float64
	for i, is := range slow {
		k := 0
		if is {
			k = 1
		}
		of[k] = append(of[k], x[i])
	}
	slices.Sort(of[0])
	sum := 0.0
	for _, v := range of[1] {
		sum += Place(of[0], v)
	}
	return 2*sum/float64(len(of[1])) - 1
}

// TestBunchingFalseAlarms: slow requests at random instants are called bunched in at most 5 % of the runs; bunched ones in all.
func TestBunchingFalseAlarms(t *testing.T) {
	testhome.Slow(t)
	runs := repeats(20, 100, 500)
	for _, share := range []float64{0.01, 0.1} {
		alarms, found := 0, 0
		for k := range runs {
			r := rand.New(rand.NewPCG(uint64(k), 3))
			if Bunching(topShare(memory(r, 2500, 0), share)) <= Level {
				alarms++
			}
			if Bunching(topShare(memory(r, 2500, 0.95), share)) <= Level {
				found++
			}
		}
		t.Logf("%g %% slow: false alarms %d, bunches found %d of %d", 100*share, alarms, found, runs)
		if float64(alarms)/float64(runs) > 0.05+2.5*math.Sqrt(0.05*0.95/float64(runs)) || found < runs*99/100 {
			t.Errorf("%g %% slow: false alarms %d, bunches found %d of %d", 100*share, alarms, found, runs)
		}
	}
}
