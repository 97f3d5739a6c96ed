package run

import (
	"reflect"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/workload/load"
)

// TestWiringOfThePlan: the same for the load generator.
func TestWiringOfThePlan(t *testing.T) {
	b := &config.Default().Benchmark
	b.Endpoint.URLs = []string{"a", "b", "c"}
	b.Dataset().Sampling = "shuffle"
	b.Environment.Timing = config.TimingTuning{MaxCatchup: 1, CancelDrainTimeout: 2, NoFailFast: true}
	b.Phases = []config.Phase{{
		Name: "warm", Kind: config.KindWarmup, Type: config.PhaseGamma, Rate: ptr(3.0), Smoothness: ptr(4.0), RateRamp: &config.Ramp{Duration: 5, Strategy: "exponential"},
		Concurrency: ptr(6), ConcurrencyRamp: &config.Ramp{Duration: 7, Strategy: "poisson"}, PrefillConcurrency: ptr(8), PrefillRamp: &config.Ramp{Duration: 9, Strategy: "linear"},
		Requests: ptr(10), Sessions: ptr(11), Duration: seconds(12), GracePeriod: seconds(13), Seamless: true, FailedRequestThreshold: ptr(0.14),
		Cancellation: &config.Cancellation{Rate: 15, Delay: 16},
	}, {
		Name: "users", Kind: config.KindProfiling, Type: config.PhaseUserCentric, Users: ptr(17), Rate: ptr(18.0), Cancellation: &config.Cancellation{Rate: 19, Delay: 20},
	}, {
		Name: "trace", Kind: config.KindProfiling, Type: config.PhaseFixedSchedule, AutoOffset: ptr(true), StartOffset: ptr(int64(21)), GracePeriod: seconds(config.Forever),
	}}
	threshold := 0.14
	want := load.Scenario{
		Sampling: load.Shuffle, URLs: 3, CatchUp: time.Second, CancelDrain: 2 * time.Second,
		Phases: []load.Phase{{
			Name: "warm", Warmup: true, Mode: load.Rate, Pattern: load.Gamma, Rate: 3, Smoothness: 4, RateRamp: load.Ramp{Duration: 5 * time.Second, Strategy: load.Exponential},
			Concurrency: 6, ConcurrencyRamp: load.Ramp{Duration: 7 * time.Second, Strategy: load.PoissonRamp}, Prefill: 8,
			PrefillRamp: load.Ramp{Duration: 9 * time.Second, Strategy: load.Linear}, Requests: 10, Sessions: 11, Duration: 12 * time.Second, Grace: 13 * time.Second,
			Seamless: true, FailureThreshold: &threshold, Cancellation: load.Cancellation{Percent: 15, Delay: 16 * time.Second},
		}, {
			Name: "users", Mode: load.UserCentric, Users: 17, Rate: 18, Grace: -1, Cancellation: load.Cancellation{Percent: 19, Delay: 20 * time.Second},
		}, {
			Name: "trace", Mode: load.FixedSchedule, Grace: -1, Schedule: load.ScheduleZero{Auto: true, Start: 21},
			Cancellation: load.Cancellation{Percent: 19, Delay: 20 * time.Second},
		}},
	}
	got, err := scenario(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v\nwant\n%+v", got, err, want)
	}

	faster := config.DefaultSynthesis()
	faster.SpeedupRatio = 2
	b.Datasets[0].Synthesis = &faster
	if got, err = scenario(b); err != nil || got.Phases[2].Schedule.Start != 10 { // as a row of the file at 21 ms
		t.Errorf("a trace replayed twice as fast: %+v %v", got.Phases[2].Schedule, err)
	}

	b.Environment.Timing.MaxCatchup, b.Environment.Timing.NoFailFast = 0, false
	if got, err = scenario(b); err != nil || got.CatchUp >= 0 || !got.FailFast {
		t.Errorf("no catching up, failing fast: %+v %v", got, err)
	}
	b.Phases[0].Type = "other"
	if _, err = scenario(b); err == nil || err.Error() != `phase warm: type "other" is not known` {
		t.Error(err)
	}
}
