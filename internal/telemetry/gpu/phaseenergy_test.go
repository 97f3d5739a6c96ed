package gpu

import (
	"math"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestPhaseEnergy: two GPUs use 100 W each. The window is 8 s long and begins 1 s after the first reading, so the truth is 1,600 J.
func TestPhaseEnergy(t *testing.T) {
	const truth, second = 1600.0, int64(1e9)
	at := func(seconds float64) int64 { return int64(seconds * 1e9) }
	every := func(step float64) func(yield func(at float64)) {
		return func(yield func(at float64)) {
			for s := 0.0; s <= 9.01; s += step {
				yield(s)
			}
		}
	}
	always := func(seconds float64) float64 { return 500 + 100*seconds }
	for _, c := range []struct {
		name     string
		readings func(func(at float64))
		joules   func(seconds float64) float64 // counter of the first GPU; NaN = none
		watts    float64                       // of both GPUs; NaN = none
		off      float64                       // largest relative error
		text     string
	}{
		{"read often", every(0.25), always, 100, 0.032, ""}, // the figures of GPUs begin with the last reading before the window
		{"the driver restarts", every(0.25), func(s float64) float64 {
			if s > 5 {
				return 100 * (s - 5)
			}
			return always(s)
		}, 100, 0.016, "GPU 0 of u"},
		{"no counter", every(0.25), func(float64) float64 { return math.NaN() }, 100, 0.016, "GPU 0 of u"},
		{"read up to the middle", every(0.25), func(s float64) float64 {
			if s > 4 {
				return math.NaN()
			}
			return always(s)
		}, 100, 0.016, "GPU 0 of u"},
		{"pages of 2.5 s", every(2.5), always, 100, 1e-9, ""},
		{"two pages of a part", func(yield func(float64)) { yield(0.9); yield(6) }, always, 100, 1e-9, "GPU 0 of u, GPU 1 of u"},
		{"two pages", func(yield func(float64)) { yield(0.9); yield(9) }, always, math.NaN(), 0.02, ""},
	} {
		fields := NewFields("nvidia", nil)
		series := NewSeries(fields)
		c.readings(func(s float64) {
			for index, joules := range []float64{c.joules(s), always(s)} {
				one := Sample{Device: Device{Index: index, Platform: "nvidia"}, At: second + at(s), Source: "u", Values: fields.none()}
				one.Values[fields.byTag["nvidia_energy_consumption"]] = joules / joulesPerMJ
				one.Values[fields.byTag["nvidia_power_usage"]] = c.watts
				series.Add(&one)
			}
		})
		energy, text := series.Energy(metric.Window{From: 2 * second, To: 10 * second}, 0)
		if math.Abs(energy["nvidia"]-truth) > c.off*truth || len(energy) != 1 {
			t.Errorf("%s: %v J, want %v", c.name, energy, truth)
		}
		want := ""
		if c.text != "" {
			want = "no energy counter covers the run for " + c.text + ": the energy is estimated from the power"
		}
		if text != want {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}

// TestPhaseEnergyIsTheSumOfTheGPUs: with readings near the ends of the phase, the energy is the sum of the figures of the GPUs.
func TestPhaseEnergyIsTheSumOfTheGPUs(t *testing.T) {
	fields := NewFields("nvidia", nil)
	series := NewSeries(fields)
	for _, seconds := range []float64{0.7, 1.1, 1.5, 1.9, 2.3} { // the window is from 1 to 2.1
		for index := range 2 {
			one := Sample{Device: Device{Index: index, Platform: "nvidia"}, At: int64(seconds * 1e9), Source: "u", Values: fields.none()}
			one.Values[fields.byTag["nvidia_energy_consumption"]] = 300 * seconds / joulesPerMJ
			series.Add(&one)
		}
	}
	const grace = 5e8
	w := metric.Window{From: 1e9, To: 21e8}
	sum := 0.0
	for _, g := range series.Figures("u", metric.Window{From: w.From, To: w.To + grace}) {
		sum += g.Metrics[0].Values[metric.Avg] * joulesPerMJ
	}
	if energy, text := series.Energy(w, grace); math.Abs(energy["nvidia"]-sum) > 1e-9*sum || math.Abs(sum-960) > 1e-6 || text != "" {
		t.Errorf("%v J, want %v; %q", energy, sum, text)
	}
}

// TestPhaseEnergyWithoutCounters: without any counter the energy is left to the caller, which knows the duration of the figures.
func TestPhaseEnergyWithoutCounters(t *testing.T) {
	fields := NewFields("nvidia", nil)
	series := NewSeries(fields)
	one := Sample{Device: Device{Platform: "nvidia"}, At: 5, Source: "u", Values: fields.none()}
	one.Values[fields.byTag["nvidia_power_usage"]] = 100
	series.Add(&one)
	if energy, text := series.Energy(metric.Window{From: 0, To: 10}, 0); len(energy) != 0 || text != "" {
		t.Errorf("%v %q", energy, text)
	}
}
