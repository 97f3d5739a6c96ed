package explanation

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/sim/batching"
)

// modelError is how far the model itself is off, relatively: a server works in steps, which the linear model does not know.
const modelError = 0.015

// TestServerModel: the intervals of the model contain the true constants of a simulated server, 0.02 ms per prefilled token, 8 ms per step and 0.12 ms per
// sequence, but for modelError, in at least 85 % of the runs.
func TestServerModel(t *testing.T) {
	testhome.Slow(t)
	const runs = 40
	holds := map[string]int{}
	for seed := range uint64(runs) {
		o := plainServer()
		o.Rate, o.Budget, o.Seconds = 20, 1e5, 60
		ttft := cause{servers: []batching.Options{o}}
		e, err := Explain(ttft.run(t, t.TempDir(), seed+1), Options{Model: true})
		if err != nil {
			t.Fatal(err)
		}
		within := func(name string, term Term, truth float64) {
			if slack := modelError * truth; term.Low-slack <= truth && truth <= term.High+slack {
				holds[name]++
			}
		}
		if e.Server.TTFT.Reason != "" || e.Server.ITL.Reason != "" {
			t.Fatal(e.Server.TTFT.Reason, e.Server.ITL.Reason)
		}
		within("prefill", e.Server.TTFT.Terms[1], 20)
		within("step", e.Server.ITL.Terms[0], 8)
		within("sequence", e.Server.ITL.Terms[1], 0.12)
		if text := strings.Join(e.Server.Sentences(), "\n"); !strings.Contains(text, "prefilled tokens/s") || !strings.Contains(text, "measured from") {
			t.Fatal(text)
		}
	}
	t.Log(holds)
	for _, name := range []string{"prefill", "step", "sequence"} {
		if holds[name] < runs*85/100 {
			t.Errorf("%s: the interval holds in %d of %d", name, holds[name], runs)
		}
	}
}

// TestRegress: the coefficients of exact data are exact, outliers hardly move them, and dependent columns are refused.
func TestRegress(t *testing.T) {
	ones, x, y := make([]float64, 400), make([]float64, 400), make([]float64, 400)
	for i := range x {
		ones[i], x[i] = 1, float64(i%37)
		y[i] = 3 + 2*x[i] + 0.1*math.Sin(float64(i))
		if i%25 == 0 {
			y[i] += 500
		}
	}
	r, ok := regress([][]float64{ones, x}, y)
	if !ok || math.Abs(r.coefficients[0]-3) > 0.1 || math.Abs(r.coefficients[1]-2) > 0.01 || !(r.low[1] < 2 && 2 < r.high[1]) {
		t.Error(r.coefficients, r.low, r.high, ok)
	}
	if _, ok := regress([][]float64{ones, x, x}, y); ok {
		t.Error("the same column twice was fitted")
	}
	if _, ok := regress([][]float64{ones, make([]float64, 400)}, y); ok {
		t.Error("a column of zeros was fitted")
	}
}
