package metric

import (
	"math"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// TestWholeITL: a value in the middle between two whole numbers of ns is rounded to the even one.
func TestWholeITL(t *testing.T) {
	whole := chat
	whole.WholeITL = true
	set := newSelection(t, whole)
	for decode, want := range map[int64]float64{5: 2, 7: 4, 6: 3} {
		rec := &record.Record{Start: 1, End: 100, Status: 200}
		reply := &record.Reply{Contents: []record.Content{{At: 11}, {At: 11 + decode, Message: 1}}, PerChunkTokens: -1}
		row := set.Row(rec, reply, record.Counts{Input: 1, Output: 3, Reasoning: -1})
		if got, _ := row.Value("inter_token_latency"); got != want {
			t.Errorf("%d ns over two gaps: ITL %v, want %v", decode, got, want)
		}
	}
}

// TestDispatchLagNeedsInstants: an export that has only the lengths of the parts tells no lag.
func TestDispatchLagNeedsInstants(t *testing.T) {
	set := newSelection(t, chat)
	for spans, want := range map[bool]bool{false: true, true: false} {
		rec := &record.Record{Start: 10, Issued: 5, End: 100, Status: 200, Trace: &record.Trace{SendStart: 12, Spans: spans}}
		reply := &record.Reply{Contents: []record.Content{{At: 50}}, PerChunkTokens: -1}
		v, ok := set.Row(rec, reply, record.Counts{Input: 1, Output: 1, Reasoning: -1}).Value("dispatch_lag")
		if ok != want || ok && v != 7 {
			t.Errorf("only lengths: %v: lag %v, %v, want %v", spans, v, ok, want)
		}
	}
}

// TestDegraded: a schedule is degraded above 500 ms, not at it.
func TestDegraded(t *testing.T) {
	for last, want := range map[float64]float64{500e6: 0, 500e6 + 1e3: 1} {
		offsets := make([]float64, 201)
		for i := 198; i < len(offsets); i++ {
			offsets[i] = last
		}
		sum := &totals{offsets: offsets}
		p := (lag(99)(sum)) // of 201 values the 99th percentile is value 198
		if got := degradedOf(p); math.Abs(p-last/1e6) > 1e-9 || got != want {
			t.Errorf("p99 %v ms: %v, want %v", p, got, want)
		}
	}
}

// TestEnergyFromPower: where a vendor reports power alone, energy is power over the time of the run; else power is energy over it.
func TestEnergyFromPower(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	rec := &record.Record{Start: 1e9, End: 5e9, Status: 200}
	r.Add(r.set.Row(rec, &record.Reply{Contents: []record.Content{{At: 5e9}}, PerChunkTokens: -1}, record.Counts{Input: 1, Output: 1, Reasoning: -1}))
	for name, c := range map[string]struct{ energy, power, joules, watts float64 }{"power alone": {0, 300, 1200, 300}, "a meter": {2000, 300, 2000, 500}} {
		s := r.Summary(Window{})
		s.addEfficiency(Platforms[0], c.energy, c.power, 0)
		if got := s.Value(Platforms[0]+"_total_gpu_energy", Avg); got != c.joules {
			t.Errorf("%s: %v J, want %v", name, got, c.joules)
		}
		if got := s.Value(Platforms[0]+"_average_gpu_power", Avg); got != c.watts {
			t.Errorf("%s: %v W, want %v", name, got, c.watts)
		}
	}
}

// TestDecodeRateOfTwoTokens: the one token after the first is decoded over the gap.
func TestDecodeRateOfTwoTokens(t *testing.T) {
	r := newSelection(t, chat).NewReducer()
	for osl, want := range map[float64]float64{1: 0, 2: 1e-8, 3: 2e-8} {
		var s stats.Steps
		decodeRate(r, &timeline{start: 1, first: 100, end: 200, osl: osl, gaps: []float64{1e8}}, &s)
		rate := 0.0
		if c := new(stats.Running).Curve(s); len(c) > 0 {
			rate = c[0].V
		}
		if math.Abs(rate-want) > 1e-15 {
			t.Errorf("%v tokens: %v a ns, want %v", osl, rate, want)
		}
	}
}
