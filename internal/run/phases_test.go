package run

import (
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// TestCancellationOfPhases: a profiling phase without a cancellation has the first one that another profiling phase has.
func TestCancellationOfPhases(t *testing.T) {
	one, two := 1, &config.Cancellation{Rate: 20, Delay: 0.5}
	b := config.Default().Benchmark
	b.Phases = []config.Phase{
		{Name: "warmup", Kind: config.KindWarmup, Cancellation: &config.Cancellation{Rate: 90}},
		{Name: "a", Kind: config.KindProfiling},
		{Name: "b", Kind: config.KindProfiling, Cancellation: two},
		{Name: "c", Kind: config.KindProfiling, Cancellation: &config.Cancellation{Rate: 100}},
		{Name: "d", Kind: config.KindProfiling},
		{Name: "off", Kind: config.KindProfiling, Cancellation: &config.Cancellation{}},
	}
	for i := range b.Phases {
		b.Phases[i].Type, b.Phases[i].Requests, b.Phases[i].Concurrency = config.PhaseConcurrency, &one, &one
	}
	whole := config.Default()
	whole.Phases = b.Phases[len(b.Phases)-1:]
	whole.Models.Items, whole.Endpoint.URLs = []config.Model{{Name: "m"}}, []string{"http://h"}
	if err := whole.Validate(); err != nil {
		t.Errorf("a cancellation of 0 %% is off: %v", err)
	}
	p, err := scenario(&b)
	if err != nil {
		t.Fatal(err)
	}
	inherited := load.Cancellation{Percent: 20, Delay: 500 * time.Millisecond}
	for i, want := range []load.Cancellation{{Percent: 90}, inherited, inherited, {Percent: 100}, inherited, {}} {
		if got := p.Phases[i].Cancellation; got != want {
			t.Errorf("phase %s: %+v, want %+v", p.Phases[i].Name, got, want)
		}
	}
}

// sized is data of which only the numbers are known.
type sized struct {
	dataset.Dataset
	conversations, turns int
}

func (c sized) Len() int           { return c.conversations }
func (c sized) Info() dataset.Info { return dataset.Info{Turns: c.turns} }

// TestUsersNeedASecondTurn: files are refused by their own turns, generated data is not looked at, nor that of other modes.
func TestUsersNeedASecondTurn(t *testing.T) {
	for _, c := range []struct {
		mode    config.PhaseType
		data    config.DatasetType
		turns   int // of four conversations
		refused bool
	}{
		{config.PhaseUserCentric, config.DatasetFile, 4, true},
		{config.PhaseUserCentric, config.DatasetFile, 7, true},
		{config.PhaseUserCentric, config.DatasetFile, 8, false},
		{config.PhaseUserCentric, config.DatasetSynthetic, 4, false},
		{config.PhaseConcurrency, config.DatasetFile, 4, false},
	} {
		b := config.Default().Benchmark
		b.Datasets[0].Type, b.Phases[0].Type = c.data, c.mode
		if err := checkTurns(&b, sized{conversations: 4, turns: c.turns}); (err != nil) != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
